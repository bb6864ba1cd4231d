-- from the first row
SELECT 1 FROM "shop"."order's" WHERE (("id" <= CAST($1::text AS bigint)))
-- with ["7"]
-- a compound key
SELECT 1 FROM "shop"."order's" WHERE ((("at""", "id") > (CAST($1::text AS timestamp(6) with time zone), CAST($2::text AS bigint)) AND ("at""", "id") <= (CAST($3::text AS timestamp(6) with time zone), CAST($4::text AS bigint)) AND "at""" IS NOT NULL AND NOT (NOT isfinite("at"""))))
-- with ["2026-03-01 10:00:00.5" "7" "2026-03-01 10:00:00.5" "7"]
-- a compound key that falls
SELECT 1 FROM "shop"."order's" WHERE ((("at""", "id") < (CAST($1::text AS timestamp(6) with time zone), CAST($2::text AS bigint)) AND ("at""", "id") >= (CAST($3::text AS timestamp(6) with time zone), CAST($4::text AS bigint)) AND "at""" IS NOT NULL AND NOT (NOT isfinite("at"""))))
-- with ["2026-03-01 10:00:00.5" "7" "2026-03-01 10:00:00.5" "7"]
-- an overlap
SELECT 1 FROM "shop"."order's" WHERE (("at""" >= CAST($1::text AS timestamp(6) with time zone) AND ("at""", "id") <= (CAST($2::text AS timestamp(6) with time zone), CAST($3::text AS bigint)) AND "at""" IS NOT NULL AND NOT (NOT isfinite("at"""))))
-- with ["2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "7"]
-- rows without a key
SELECT 1 FROM "shop"."order's" WHERE (("at""" IS NULL OR NOT isfinite("at""")))
-- rows to compare
SELECT "id", "n", "at"""::text, "id"::text FROM "shop"."order's" WHERE "at""" IS NOT NULL ORDER BY "at"""::text COLLATE "C", "id"::text COLLATE "C"
-- a column that stands in
SELECT 1 FROM "shop"."order's" WHERE ((COALESCE("at""", "made") > CAST($1::text AS timestamp(6) with time zone) AND COALESCE("at""", "made") <= CAST($2::text AS timestamp(6) with time zone) AND COALESCE("at""", "made") IS NOT NULL AND NOT (NOT isfinite(COALESCE("at""", "made")))))
-- with ["2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5"]
-- rows to compare, where a column stands in
SELECT "id", "n", COALESCE("at""", "made")::text FROM "shop"."order's" WHERE COALESCE("at""", "made") IS NOT NULL ORDER BY COALESCE("at""", "made")::text COLLATE "C"
-- printed, and less five: bigint
SELECT "id"::text, 'bigint', (CAST($1::text AS bigint) - 5)::text
-- printed, and less five: timestamp(6) with time zone
SELECT "at"""::text, 'timestamp(6) with time zone', (CAST($1::text AS timestamp(6) with time zone) - interval '5 seconds')::text
-- printed, and less five: numeric(12,3)
SELECT "n"::text, 'numeric(12,3)', (CAST($1::text AS numeric(12,3)) - 5)::text
-- a moment
2026-03-01 10:00:00+00
-- one row
SELECT id FROM t ORDER BY id LIMIT 1 OFFSET 9
-- a sample
SELECT id FROM t LIMIT 9
-- append
INSERT INTO "shop"."order's" ("id", "at""") SELECT "id", "at""" FROM "shop"."dogear_stage_b_0" s
-- overwrite_partitions
DELETE FROM "shop"."order's" WHERE EXISTS (SELECT 1 FROM "shop"."dogear_stage_b_0" s WHERE s."at""" IS NOT DISTINCT FROM "shop"."order's"."at""")
-- overwrite_partitions
INSERT INTO "shop"."order's" ("id", "at""") SELECT "id", "at""" FROM "shop"."dogear_stage_b_0" s
-- merge
UPDATE "shop"."order's" AS t SET "at""" = s."at""" FROM "shop"."dogear_stage_b_0" AS s WHERE t."id" = s."id" AND (t."at""" IS NULL OR s."at""" >= t."at""")
-- merge
INSERT INTO "shop"."order's" ("id", "at""") SELECT "id", "at""" FROM "shop"."dogear_stage_b_0" s WHERE NOT EXISTS (SELECT 1 FROM "shop"."order's" t WHERE t."id" = s."id")
-- replace
DELETE FROM "shop"."order's"
-- replace
INSERT INTO "shop"."order's" ("id", "at""") SELECT "id", "at""" FROM "shop"."dogear_stage_b_0" s
-- stage
CREATE TABLE "shop"."dogear_stage_b_0" AS SELECT "id" FROM "shop"."order's" WHERE 1 = 0
-- batches
CREATE TABLE IF NOT EXISTS "shop"."dogear_batch" (batch varchar(64) PRIMARY KEY, target varchar(255) NOT NULL, row_count bigint NOT NULL, written_at timestamp DEFAULT CURRENT_TIMESTAMP)
-- drop
DROP TABLE IF EXISTS "shop"."dogear_stage_b_0"
-- load
INSERT INTO "shop"."dogear_stage_b_0" (a, b) VALUES ($1, $2), ($3, $4)
-- made for BOOLEAN
boolean / boolean of CAST(c AS VARCHAR)
-- made for UTINYINT
smallint / smallint of CAST(c AS VARCHAR)
-- made for BIGINT
bigint / bigint of CAST(c AS VARCHAR)
-- made for UBIGINT
numeric(20,0) / numeric(20,0) of CAST(c AS VARCHAR)
-- made for DOUBLE
double precision / double precision of CAST(c AS VARCHAR)
-- made for DECIMAL(12,3)
numeric(12,3) / numeric(12,3) of CAST(c AS VARCHAR)
-- made for DATE
date / date of CAST(c AS VARCHAR)
-- made for TIMESTAMP
timestamp / timestamp of CAST(c AS VARCHAR)
-- made for TIMESTAMP WITH TIME ZONE
timestamptz / timestamptz of CAST(c AS VARCHAR)
-- made for VARCHAR
text / text of CAST(c AS VARCHAR)
-- made for BLOB
bytea / bytea of '\x' || hex(c)
-- made for INTEGER[]
text / text of CAST(to_json(c) AS VARCHAR)

-- from the first row
SELECT 1 FROM "shop"."order's" WHERE (("id" <= ?))
-- with ['\a']
-- a compound key
SELECT 1 FROM "shop"."order's" WHERE ((("at""", "id") > (?, ?) AND ("at""", "id") <= (?, ?) AND "at""" IS NOT NULL))
-- with ["2026-03-01 10:00:00.5" '\a' "2026-03-01 10:00:00.5" '\a']
-- a compound key that falls
SELECT 1 FROM "shop"."order's" WHERE ((("at""", "id") < (?, ?) AND ("at""", "id") >= (?, ?) AND "at""" IS NOT NULL))
-- with ["2026-03-01 10:00:00.5" '\a' "2026-03-01 10:00:00.5" '\a']
-- an overlap
SELECT 1 FROM "shop"."order's" WHERE (("at""" >= ? AND ("at""", "id") <= (?, ?) AND "at""" IS NOT NULL))
-- with ["2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" '\a']
-- rows without a key
SELECT 1 FROM "shop"."order's" WHERE (("at""" IS NULL))
-- rows to compare
SELECT "id", "n", CASE typeof("at""") WHEN 'real' THEN printf('%!.17g', "at""") WHEN 'blob' THEN hex("at""") ELSE CAST("at""" AS TEXT) END, CASE typeof("id") WHEN 'real' THEN printf('%!.17g', "id") WHEN 'blob' THEN hex("id") ELSE CAST("id" AS TEXT) END FROM "shop"."order's" WHERE "at""" IS NOT NULL ORDER BY CAST(CASE typeof("at""") WHEN 'real' THEN printf('%!.17g', "at""") WHEN 'blob' THEN hex("at""") ELSE CAST("at""" AS TEXT) END AS BLOB), CAST(CASE typeof("id") WHEN 'real' THEN printf('%!.17g', "id") WHEN 'blob' THEN hex("id") ELSE CAST("id" AS TEXT) END AS BLOB)
-- a column that stands in
SELECT 1 FROM "shop"."order's" WHERE ((COALESCE("at""", "made") > ? AND COALESCE("at""", "made") <= ? AND COALESCE("at""", "made") IS NOT NULL))
-- with ["2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5"]
-- rows to compare, where a column stands in
SELECT "id", "n", CASE typeof(COALESCE("at""", "made")) WHEN 'real' THEN printf('%!.17g', COALESCE("at""", "made")) WHEN 'blob' THEN hex(COALESCE("at""", "made")) ELSE CAST(COALESCE("at""", "made") AS TEXT) END FROM "shop"."order's" WHERE COALESCE("at""", "made") IS NOT NULL ORDER BY CAST(CASE typeof(COALESCE("at""", "made")) WHEN 'real' THEN printf('%!.17g', COALESCE("at""", "made")) WHEN 'blob' THEN hex(COALESCE("at""", "made")) ELSE CAST(COALESCE("at""", "made") AS TEXT) END AS BLOB)
-- printed, and less five: bigint
SELECT CASE typeof("id") WHEN 'real' THEN printf('%!.17g', "id") WHEN 'blob' THEN hex("id") ELSE CAST("id" AS TEXT) END, typeof("id"), CAST(? - 5 AS TEXT)
-- printed, and less five: TIMESTAMP
SELECT CASE typeof("at""") WHEN 'real' THEN printf('%!.17g', "at""") WHEN 'blob' THEN hex("at""") ELSE CAST("at""" AS TEXT) END, typeof("at"""), strftime('%Y-%m-%d %H:%M:%f', ?, '-6 seconds')
-- printed, and less five: DECIMAL(12,3)
SELECT CASE typeof("n") WHEN 'real' THEN printf('%!.17g', "n") WHEN 'blob' THEN hex("n") ELSE CAST("n" AS TEXT) END, typeof("n"), CAST(? - 5 AS TEXT)
-- a moment
2026-03-01 10:00:00
-- one row
SELECT id FROM t ORDER BY id LIMIT 1 OFFSET 9
-- a sample
SELECT id FROM t LIMIT 9
-- append
INSERT INTO "shop"."order's" ("id", "at""") SELECT "id", "at""" FROM "shop"."dogear_stage_b_0" s
-- overwrite_partitions
DELETE FROM "shop"."order's" WHERE EXISTS (SELECT 1 FROM "shop"."dogear_stage_b_0" s WHERE s."at""" IS "shop"."order's"."at""")
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
INSERT INTO "shop"."dogear_stage_b_0" (a, b) VALUES (?, ?), (?, ?)
-- made for BOOLEAN
BOOLEAN / BOOLEAN of CAST(CAST(c AS TINYINT) AS VARCHAR)
-- made for UTINYINT
INTEGER / INTEGER of CAST(c AS VARCHAR)
-- made for BIGINT
INTEGER / INTEGER of CAST(c AS VARCHAR)
-- made for UBIGINT
TEXT / TEXT of CAST(c AS VARCHAR)
-- made for DOUBLE
REAL / REAL of CAST(c AS VARCHAR)
-- made for DECIMAL(12,3)
TEXT / TEXT of CAST(c AS VARCHAR)
-- made for DATE
DATE / DATE of CAST(c AS VARCHAR)
-- made for TIMESTAMP
TIMESTAMP / TIMESTAMP of CAST(c AS VARCHAR)
-- made for TIMESTAMP WITH TIME ZONE
TIMESTAMP / TIMESTAMP of CAST(CAST(c AS TIMESTAMP) AS VARCHAR)
-- made for VARCHAR
TEXT / TEXT of CAST(c AS VARCHAR)
-- made for BLOB
BLOB / BLOB of c
-- made for INTEGER[]
TEXT / TEXT of CAST(to_json(c) AS VARCHAR)

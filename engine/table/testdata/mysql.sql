-- from the first row
SELECT 1 FROM `shop`.`order's` WHERE ((`id` <= CAST(? AS SIGNED)))
-- with ["7"]
-- a compound key
SELECT 1 FROM `shop`.`order's` WHERE ((`at``` >= CAST(? AS DATETIME(6)) AND (`at``` > CAST(? AS DATETIME(6)) OR `at``` = CAST(? AS DATETIME(6)) AND `id` > CAST(? AS SIGNED)) AND `at``` <= CAST(? AS DATETIME(6)) AND (`at``` < CAST(? AS DATETIME(6)) OR `at``` = CAST(? AS DATETIME(6)) AND `id` <= CAST(? AS SIGNED)) AND `at``` IS NOT NULL))
-- with ["2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "7" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "7"]
-- a compound key that falls
SELECT 1 FROM `shop`.`order's` WHERE ((`at``` <= CAST(? AS DATETIME(6)) AND (`at``` < CAST(? AS DATETIME(6)) OR `at``` = CAST(? AS DATETIME(6)) AND `id` < CAST(? AS SIGNED)) AND `at``` >= CAST(? AS DATETIME(6)) AND (`at``` > CAST(? AS DATETIME(6)) OR `at``` = CAST(? AS DATETIME(6)) AND `id` >= CAST(? AS SIGNED)) AND `at``` IS NOT NULL))
-- with ["2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "7" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "7"]
-- an overlap
SELECT 1 FROM `shop`.`order's` WHERE ((`at``` >= CAST(? AS DATETIME(6)) AND `at``` <= CAST(? AS DATETIME(6)) AND (`at``` < CAST(? AS DATETIME(6)) OR `at``` = CAST(? AS DATETIME(6)) AND `id` <= CAST(? AS SIGNED)) AND `at``` IS NOT NULL))
-- with ["2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "7"]
-- rows without a key
SELECT 1 FROM `shop`.`order's` WHERE ((`at``` IS NULL))
-- rows to compare
SELECT `id`, `n`, CAST(`at``` AS CHAR), CAST(`id` AS CHAR) FROM `shop`.`order's` WHERE `at``` IS NOT NULL ORDER BY CAST(CAST(`at``` AS CHAR) AS BINARY), CAST(CAST(`id` AS CHAR) AS BINARY)
-- a column that stands in
SELECT 1 FROM `shop`.`order's` WHERE ((COALESCE(`at```, `made`) > CAST(? AS DATETIME(6)) AND COALESCE(`at```, `made`) <= CAST(? AS DATETIME(6)) AND COALESCE(`at```, `made`) IS NOT NULL))
-- with ["2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5"]
-- rows to compare, where a column stands in
SELECT `id`, `n`, CAST(COALESCE(`at```, `made`) AS CHAR) FROM `shop`.`order's` WHERE COALESCE(`at```, `made`) IS NOT NULL ORDER BY CAST(CAST(COALESCE(`at```, `made`) AS CHAR) AS BINARY)
-- printed, and less five: bigint
SELECT CAST(`id` AS CHAR), 'bigint', CAST(CAST((CAST(CAST(? AS SIGNED) AS DECIMAL(65,20)) - 5) AS SIGNED) AS CHAR)
-- printed, and less five: datetime(6)
SELECT CAST(`at``` AS CHAR), 'datetime(6)', CAST((CAST(? AS DATETIME(6)) - INTERVAL 5 SECOND) AS CHAR)
-- printed, and less five: decimal(12,3)
SELECT CAST(`n` AS CHAR), 'decimal(12,3)', CAST((CAST(CAST(? AS DECIMAL(12,3)) AS DECIMAL(65,20)) - 5) AS CHAR)
-- a moment
2026-03-01 10:00:00
-- one row
SELECT id FROM t ORDER BY id LIMIT 1 OFFSET 9
-- a sample
SELECT id FROM t LIMIT 9
-- append
INSERT INTO `shop`.`order's` (`id`, `at```) SELECT `id`, `at``` FROM `shop`.`dogear_stage_b_0` s
-- overwrite_partitions
DELETE FROM `shop`.`order's` WHERE EXISTS (SELECT 1 FROM `shop`.`dogear_stage_b_0` s WHERE s.`at``` <=> `shop`.`order's`.`at```)
-- overwrite_partitions
INSERT INTO `shop`.`order's` (`id`, `at```) SELECT `id`, `at``` FROM `shop`.`dogear_stage_b_0` s
-- merge
UPDATE `shop`.`order's` AS t JOIN `shop`.`dogear_stage_b_0` AS s ON t.`id` = s.`id` AND (t.`at``` IS NULL OR s.`at``` >= t.`at```) SET t.`at``` = s.`at```
-- merge
INSERT INTO `shop`.`order's` (`id`, `at```) SELECT `id`, `at``` FROM `shop`.`dogear_stage_b_0` s WHERE NOT EXISTS (SELECT 1 FROM `shop`.`order's` t WHERE t.`id` = s.`id`)
-- replace
DELETE FROM `shop`.`order's`
-- replace
INSERT INTO `shop`.`order's` (`id`, `at```) SELECT `id`, `at``` FROM `shop`.`dogear_stage_b_0` s
-- stage
CREATE TABLE `shop`.`dogear_stage_b_0` AS SELECT `id` FROM `shop`.`order's` WHERE 1 = 0
-- batches
CREATE TABLE IF NOT EXISTS `shop`.`dogear_batch` (batch varchar(64) PRIMARY KEY, target varchar(255) NOT NULL, row_count bigint NOT NULL, written_at timestamp DEFAULT CURRENT_TIMESTAMP) ENGINE = InnoDB
-- drop
DROP TABLE IF EXISTS `shop`.`dogear_stage_b_0`
-- load
INSERT INTO `shop`.`dogear_stage_b_0` (a, b) VALUES (?, ?), (?, ?)
-- made for BOOLEAN
boolean / boolean of CAST(CAST(c AS TINYINT) AS VARCHAR)
-- made for UTINYINT
tinyint unsigned / tinyint unsigned of CAST(c AS VARCHAR)
-- made for BIGINT
bigint / bigint of CAST(c AS VARCHAR)
-- made for UBIGINT
bigint unsigned / bigint unsigned of CAST(c AS VARCHAR)
-- made for DOUBLE
double / double of CAST(c AS VARCHAR)
-- made for DECIMAL(12,3)
decimal(12,3) / decimal(12,3) of CAST(c AS VARCHAR)
-- made for DATE
date / date of CAST(c AS VARCHAR)
-- made for TIMESTAMP
datetime(6) / datetime(6) of CAST(c AS VARCHAR)
-- made for TIMESTAMP WITH TIME ZONE
datetime(6) / datetime(6) of CAST(CAST(c AS TIMESTAMP) AS VARCHAR)
-- made for VARCHAR
longtext / varchar(255) of CAST(c AS VARCHAR)
-- made for BLOB
longblob / longblob of c
-- made for INTEGER[]
longtext / varchar(255) of CAST(to_json(c) AS VARCHAR)

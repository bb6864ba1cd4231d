-- from the first row
SELECT 1 FROM [shop].[order's] WHERE (([id] <= CONVERT(bigint, @p1)))
-- with ["7"]
-- a compound key
SELECT 1 FROM [shop].[order's] WHERE (([at]]] >= CONVERT(datetimeoffset(7), @p1, 121) AND ([at]]] > CONVERT(datetimeoffset(7), @p2, 121) OR [at]]] = CONVERT(datetimeoffset(7), @p3, 121) AND [id] > CONVERT(bigint, @p4)) AND [at]]] <= CONVERT(datetimeoffset(7), @p5, 121) AND ([at]]] < CONVERT(datetimeoffset(7), @p6, 121) OR [at]]] = CONVERT(datetimeoffset(7), @p7, 121) AND [id] <= CONVERT(bigint, @p8)) AND [at]]] IS NOT NULL))
-- with ["2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "7" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "7"]
-- a compound key that falls
SELECT 1 FROM [shop].[order's] WHERE (([at]]] <= CONVERT(datetimeoffset(7), @p1, 121) AND ([at]]] < CONVERT(datetimeoffset(7), @p2, 121) OR [at]]] = CONVERT(datetimeoffset(7), @p3, 121) AND [id] < CONVERT(bigint, @p4)) AND [at]]] >= CONVERT(datetimeoffset(7), @p5, 121) AND ([at]]] > CONVERT(datetimeoffset(7), @p6, 121) OR [at]]] = CONVERT(datetimeoffset(7), @p7, 121) AND [id] >= CONVERT(bigint, @p8)) AND [at]]] IS NOT NULL))
-- with ["2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "7" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "7"]
-- an overlap
SELECT 1 FROM [shop].[order's] WHERE (([at]]] >= CONVERT(datetimeoffset(7), @p1, 121) AND [at]]] <= CONVERT(datetimeoffset(7), @p2, 121) AND ([at]]] < CONVERT(datetimeoffset(7), @p3, 121) OR [at]]] = CONVERT(datetimeoffset(7), @p4, 121) AND [id] <= CONVERT(bigint, @p5)) AND [at]]] IS NOT NULL))
-- with ["2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5" "7"]
-- rows without a key
SELECT 1 FROM [shop].[order's] WHERE (([at]]] IS NULL))
-- rows to compare
SELECT [id], [n], CONVERT(nvarchar(4000), [at]]], 121), CONVERT(nvarchar(4000), [id]) FROM [shop].[order's] WHERE [at]]] IS NOT NULL ORDER BY CONVERT(nvarchar(4000), [at]]], 121) COLLATE Latin1_General_BIN2, CONVERT(nvarchar(4000), [id]) COLLATE Latin1_General_BIN2
-- a column that stands in
SELECT 1 FROM [shop].[order's] WHERE ((COALESCE([at]]], [made]) > CONVERT(datetimeoffset(7), @p1, 121) AND COALESCE([at]]], [made]) <= CONVERT(datetimeoffset(7), @p2, 121) AND COALESCE([at]]], [made]) IS NOT NULL))
-- with ["2026-03-01 10:00:00.5" "2026-03-01 10:00:00.5"]
-- rows to compare, where a column stands in
SELECT [id], [n], CONVERT(nvarchar(4000), COALESCE([at]]], [made]), 121) FROM [shop].[order's] WHERE COALESCE([at]]], [made]) IS NOT NULL ORDER BY CONVERT(nvarchar(4000), COALESCE([at]]], [made]), 121) COLLATE Latin1_General_BIN2
-- printed, and less five: bigint
SELECT CONVERT(nvarchar(4000), [id]), 'bigint', CONVERT(nvarchar(4000), CONVERT(bigint, @p1) - 5)
-- printed, and less five: datetimeoffset(7)
SELECT CONVERT(nvarchar(4000), [at]]], 121), 'datetimeoffset(7)', CONVERT(nvarchar(4000), DATEADD(second, -5, CONVERT(datetimeoffset(7), @p1, 121)), 121)
-- printed, and less five: decimal(12,3)
SELECT CONVERT(nvarchar(4000), [n]), 'decimal(12,3)', CONVERT(nvarchar(4000), CONVERT(decimal(12,3), @p1) - 5)
-- a moment
2026-03-01 10:00:00.000000 +00:00
-- one row
SELECT id FROM t ORDER BY id OFFSET 9 ROWS FETCH NEXT 1 ROWS ONLY
-- a sample
SELECT TOP (9) id FROM t
-- append
INSERT INTO [shop].[order's] ([id], [at]]]) SELECT [id], [at]]] FROM [shop].[dogear_stage_b_0] s
-- overwrite_partitions
DELETE FROM [shop].[order's] WHERE EXISTS (SELECT 1 FROM [shop].[dogear_stage_b_0] s WHERE EXISTS (SELECT s.[at]]] INTERSECT SELECT [shop].[order's].[at]]]))
-- overwrite_partitions
INSERT INTO [shop].[order's] ([id], [at]]]) SELECT [id], [at]]] FROM [shop].[dogear_stage_b_0] s
-- merge
UPDATE t SET [at]]] = s.[at]]] FROM [shop].[order's] AS t JOIN [shop].[dogear_stage_b_0] AS s ON t.[id] = s.[id] AND (t.[at]]] IS NULL OR s.[at]]] >= t.[at]]])
-- merge
INSERT INTO [shop].[order's] ([id], [at]]]) SELECT [id], [at]]] FROM [shop].[dogear_stage_b_0] s WHERE NOT EXISTS (SELECT 1 FROM [shop].[order's] t WHERE t.[id] = s.[id])
-- replace
DELETE FROM [shop].[order's]
-- replace
INSERT INTO [shop].[order's] ([id], [at]]]) SELECT [id], [at]]] FROM [shop].[dogear_stage_b_0] s
-- stage
SELECT [id] INTO [shop].[dogear_stage_b_0] FROM [shop].[order's] WHERE 1 = 0
-- batches
IF OBJECT_ID('[shop].[dogear_batch]') IS NULL CREATE TABLE [shop].[dogear_batch] (batch varchar(64) PRIMARY KEY, target nvarchar(255) NOT NULL, row_count bigint NOT NULL, written_at datetime2 DEFAULT SYSUTCDATETIME())
-- drop
DROP TABLE IF EXISTS [shop].[dogear_stage_b_0]
-- load
INSERT INTO [shop].[dogear_stage_b_0] (a, b) VALUES (@p1, @p2), (@p3, @p4)
-- made for BOOLEAN
bit / bit of CAST(CAST(c AS TINYINT) AS VARCHAR)
-- made for UTINYINT
tinyint / tinyint of CAST(c AS VARCHAR)
-- made for BIGINT
bigint / bigint of CAST(c AS VARCHAR)
-- made for UBIGINT
decimal(20,0) / decimal(20,0) of CAST(c AS VARCHAR)
-- made for DOUBLE
float / float of CAST(c AS VARCHAR)
-- made for DECIMAL(12,3)
decimal(12,3) / decimal(12,3) of CAST(c AS VARCHAR)
-- made for DATE
date / date of CAST(c AS VARCHAR)
-- made for TIMESTAMP
datetime2(6) / datetime2(6) of CAST(c AS VARCHAR)
-- made for TIMESTAMP WITH TIME ZONE
datetime2(6) / datetime2(6) of CAST(CAST(c AS TIMESTAMP) AS VARCHAR)
-- made for VARCHAR
nvarchar(max) / nvarchar(450) of CAST(c AS VARCHAR)
-- made for BLOB
varbinary(max) / varbinary(max) of c
-- made for INTEGER[]
nvarchar(max) / nvarchar(450) of CAST(to_json(c) AS VARCHAR)

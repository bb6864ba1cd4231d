-- How many conditions of a trigger are met or dead, instead of which: a join of
-- ten thousand nodes then costs each of them the same as a join of two.
ALTER TABLE trigger_run ADD COLUMN met_n BIGINT NOT NULL DEFAULT 0;
--bun:split
ALTER TABLE trigger_run ADD COLUMN dead_n BIGINT NOT NULL DEFAULT 0;
--bun:split
UPDATE trigger_run SET met_n = length(replace(met, '0', '')), dead_n = length(replace(dead, '0', ''));
--bun:split
ALTER TABLE trigger_run DROP COLUMN met;
--bun:split
ALTER TABLE trigger_run DROP COLUMN dead;
--bun:split
ALTER TABLE trigger_run RENAME COLUMN met_n TO met;
--bun:split
ALTER TABLE trigger_run RENAME COLUMN dead_n TO dead;

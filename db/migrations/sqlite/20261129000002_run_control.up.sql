-- What a run was asked to do beside its object: which files to read again,
-- which earlier run it goes on from, and whether it is paused.
ALTER TABLE run ADD COLUMN pick TEXT NOT NULL DEFAULT '';
--bun:split
ALTER TABLE run ADD COLUMN previous TEXT NOT NULL DEFAULT '';
--bun:split
ALTER TABLE run ADD COLUMN paused BIGINT NOT NULL DEFAULT 0;
--bun:split
-- The run that a node run was copied from, where this run went on from it.
ALTER TABLE node_run ADD COLUMN copied TEXT NOT NULL DEFAULT '';

-- The fence of a node run over which somebody wrote whose turn was over; 0 is
-- never. It is kept by the statement that writes the node run.
ALTER TABLE node_run ADD COLUMN overwritten BIGINT NOT NULL DEFAULT 0;
--bun:split
CREATE INDEX node_run_overwritten ON node_run (run_id) WHERE overwritten <> 0;

-- What is under way, found without a look at what has ended. The index speaks
-- of no state, so that a node run which goes from one to the next leaves it as
-- it is.
DROP INDEX node_run_open;
--bun:split
CREATE INDEX node_run_open ON node_run (ref, run_id) WHERE ended = 0;

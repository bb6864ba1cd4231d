-- What a transition must write, it writes once: how far the events of a run have
-- come and how many of its nodes are open is said by these themselves. And what
-- is under way is found by node_run_open.
DROP INDEX node_run_work;
--bun:split
ALTER TABLE run DROP COLUMN seq, DROP COLUMN open_nodes;

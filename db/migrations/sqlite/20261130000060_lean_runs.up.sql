-- What a transition must write, it writes once. How far the events of a run have
-- come and how many of its nodes are open is said by these themselves, so the
-- row of a run changes only with the run. Open nodes are found by the open runs:
-- an index of their own would be one more page in every transition.
DROP INDEX node_run_open;
--bun:split
ALTER TABLE run DROP COLUMN seq;
--bun:split
ALTER TABLE run DROP COLUMN open_nodes;

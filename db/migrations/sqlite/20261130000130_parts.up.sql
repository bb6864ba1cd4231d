-- In which runs a job or crawler took part, of those that have ended. It is written
-- once for each run, with its end: an index of the node runs was written with each
-- transition.
CREATE TABLE part (
  ref    TEXT NOT NULL,
  run_id TEXT NOT NULL,
  PRIMARY KEY (ref, run_id)
) WITHOUT ROWID;
--bun:split
INSERT INTO part (ref, run_id)
SELECT DISTINCT n.ref, n.run_id FROM node_run AS n JOIN run AS r ON r.id = n.run_id WHERE r.ended <> 0 AND n.state <> 'skipped';
--bun:split
DROP INDEX node_run_ref;

-- What a start of a published job asks for, beside its body.
ALTER TABLE object ADD COLUMN max_runs BIGINT NOT NULL DEFAULT 0;
--bun:split
ALTER TABLE object ADD COLUMN priority BIGINT NOT NULL DEFAULT 0;
--bun:split
ALTER TABLE object ADD COLUMN pool TEXT NOT NULL DEFAULT '';
--bun:split
UPDATE object SET max_runs = coalesce(json_extract(body, '$.max_runs'), 0) WHERE kind = 'job' AND body <> '';
--bun:split
-- Where a node run waits: in which pool, and how early its turn comes.
ALTER TABLE node_run ADD COLUMN pool TEXT NOT NULL DEFAULT '';
--bun:split
ALTER TABLE node_run ADD COLUMN priority BIGINT NOT NULL DEFAULT 0;
--bun:split
-- When a run is ended because it takes too long; 0 is never.
ALTER TABLE run ADD COLUMN deadline BIGINT NOT NULL DEFAULT 0;
--bun:split
-- How many node runs that share something work at once.
CREATE TABLE pool (
  name   TEXT PRIMARY KEY,
  places BIGINT NOT NULL,
  at     BIGINT NOT NULL,
  "by"   TEXT NOT NULL
);

-- The servers of this database, each with the time until which it may work.
CREATE TABLE replica (
  id      TEXT COLLATE "C" PRIMARY KEY,
  host    TEXT NOT NULL,
  process TEXT NOT NULL,
  address TEXT NOT NULL,
  started BIGINT NOT NULL,
  expires BIGINT NOT NULL
);
--bun:split
-- The server that works on a node run; '' where none does.
ALTER TABLE node_run ADD COLUMN owner TEXT NOT NULL DEFAULT '';
--bun:split
-- Who writes a target, from the plan to the publish. A hold counts as long as
-- its node run is open.
CREATE TABLE target_hold (
  name    TEXT COLLATE "C" PRIMARY KEY,
  run_id  TEXT COLLATE "C" NOT NULL,
  ref     TEXT COLLATE "C" NOT NULL,
  start   BIGINT NOT NULL,
  attempt BIGINT NOT NULL
);
--bun:split
-- The log of an attempt in pieces, so that every server can show it.
CREATE TABLE log_chunk (
  run_id  TEXT COLLATE "C" NOT NULL,
  ref     TEXT COLLATE "C" NOT NULL,
  start   BIGINT NOT NULL,
  attempt BIGINT NOT NULL,
  at_byte BIGINT NOT NULL,
  body    BYTEA NOT NULL,
  PRIMARY KEY (run_id, ref, start, attempt, at_byte)
);
--bun:split
-- How often a job is under way.
CREATE INDEX node_run_work ON node_run (ref)
  WHERE state IN ('starting', 'running', 'publishing', 'stopping', 'lost');

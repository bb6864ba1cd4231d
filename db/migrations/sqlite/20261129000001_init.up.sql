-- Times are microseconds since 1970 in UTC; 0 is never. Documents are JSON.

-- What people make: workflows, jobs, crawlers, connections.
CREATE TABLE object (
  id         TEXT PRIMARY KEY,
  kind       TEXT NOT NULL,
  name       TEXT NOT NULL,
  version    BIGINT NOT NULL,
  body       TEXT NOT NULL,
  draft      TEXT,
  draft_seq  BIGINT NOT NULL DEFAULT 0,
  made_at    BIGINT NOT NULL,
  at         BIGINT NOT NULL,
  "by"         TEXT NOT NULL,
  deleted_at BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX object_name ON object (kind, name) WHERE deleted_at = 0;

CREATE TABLE object_version (
  object_id TEXT NOT NULL,
  version   BIGINT NOT NULL,
  name      TEXT NOT NULL,
  body      TEXT NOT NULL,
  at        BIGINT NOT NULL,
  "by"        TEXT NOT NULL,
  PRIMARY KEY (object_id, version)
);

-- The log of a draft: every operation with what it changed.
CREATE TABLE draft_op (
  object_id TEXT NOT NULL,
  seq       BIGINT NOT NULL,
  op_id     TEXT NOT NULL,
  "by"      TEXT NOT NULL,
  entry     TEXT NOT NULL,
  PRIMARY KEY (object_id, seq)
);
CREATE UNIQUE INDEX draft_op_id ON draft_op (object_id, op_id);

CREATE TABLE secret (
  object_id TEXT PRIMARY KEY,
  sealed    BLOB NOT NULL,
  at        BIGINT NOT NULL
);

CREATE TABLE run (
  id         TEXT PRIMARY KEY,
  kind       TEXT NOT NULL,
  object_id  TEXT NOT NULL,
  name       TEXT NOT NULL,
  version    BIGINT NOT NULL,
  properties TEXT NOT NULL,
  "by"         TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  due        BIGINT NOT NULL,
  started    BIGINT NOT NULL,
  ended      BIGINT NOT NULL,
  stop_asked BIGINT NOT NULL,
  stop_by    TEXT NOT NULL,
  outcome    TEXT NOT NULL,
  error      TEXT NOT NULL,
  seq        BIGINT NOT NULL,
  open_nodes BIGINT NOT NULL
);
CREATE INDEX run_object ON run (object_id, id);
CREATE INDEX run_open ON run (object_id, id) WHERE ended = 0;

-- The workflow version a run pinned, apart from the row that every transition
-- of the run rewrites.
CREATE TABLE run_body (
  run_id TEXT PRIMARY KEY,
  body   TEXT NOT NULL
);

CREATE TABLE node_run (
  run_id     TEXT NOT NULL,
  ref        TEXT NOT NULL,
  start      BIGINT NOT NULL,
  attempt    BIGINT NOT NULL,
  name       TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  state      TEXT NOT NULL,
  why        TEXT NOT NULL,
  fence      BIGINT NOT NULL,
  version    BIGINT NOT NULL,
  arguments  TEXT NOT NULL,
  process    TEXT NOT NULL,
  batch_id   TEXT NOT NULL,
  counts     TEXT NOT NULL,
  error      TEXT NOT NULL,
  ready_at   BIGINT NOT NULL,
  not_before BIGINT NOT NULL,
  deadline   BIGINT NOT NULL,
  started    BIGINT NOT NULL,
  ended      BIGINT NOT NULL,
  PRIMARY KEY (run_id, ref, start, attempt)
) WITHOUT ROWID;
CREATE INDEX node_run_open ON node_run (state, run_id)
  WHERE state IN ('ready', 'starting', 'running', 'publishing', 'stopping', 'lost');
CREATE INDEX node_run_ref ON node_run (ref, run_id);

CREATE TABLE trigger_run (
  run_id     TEXT NOT NULL,
  trigger_id TEXT NOT NULL,
  met        TEXT NOT NULL,
  dead       TEXT NOT NULL,
  fired_at   BIGINT NOT NULL,
  dead_at    BIGINT NOT NULL,
  PRIMARY KEY (run_id, trigger_id)
) WITHOUT ROWID;

-- seq is dense within a run, so that a reader who misses one knows it.
CREATE TABLE event (
  run_id  TEXT NOT NULL,
  seq     BIGINT NOT NULL,
  kind    TEXT NOT NULL,
  card    TEXT NOT NULL,
  state   TEXT NOT NULL,
  start   BIGINT NOT NULL,
  attempt BIGINT NOT NULL,
  at      BIGINT NOT NULL,
  text    TEXT NOT NULL,
  PRIMARY KEY (run_id, seq)
) WITHOUT ROWID;

CREATE TABLE schedule (
  trigger_id  TEXT PRIMARY KEY,
  workflow_id TEXT NOT NULL,
  spec        TEXT NOT NULL,
  zone        TEXT NOT NULL,
  next_at     BIGINT NOT NULL,
  last_at     BIGINT NOT NULL,
  version     BIGINT NOT NULL
);
CREATE INDEX schedule_next ON schedule (next_at);

-- One due time of one schedule starts one run, whoever tries.
CREATE TABLE schedule_fire (
  trigger_id TEXT NOT NULL,
  due        BIGINT NOT NULL,
  run_id     TEXT NOT NULL,
  note       TEXT NOT NULL,
  PRIMARY KEY (trigger_id, due)
);

CREATE TABLE batch (
  id       TEXT PRIMARY KEY,
  run_id   TEXT NOT NULL,
  ref      TEXT NOT NULL,
  start    BIGINT NOT NULL,
  attempt  BIGINT NOT NULL,
  job_id   TEXT NOT NULL,
  number   BIGINT NOT NULL,
  state    TEXT NOT NULL,
  plan     BLOB NOT NULL,
  manifest BLOB NOT NULL,
  body     TEXT NOT NULL,
  at       BIGINT NOT NULL
);
CREATE UNIQUE INDEX batch_number ON batch (job_id, number);
CREATE INDEX batch_node ON batch (run_id, ref, start, attempt);

-- What was ever read by whom: the root of a packed list for each batch and
-- context. Never changed, never removed but by retention.
CREATE TABLE batch_input (
  batch_id TEXT NOT NULL,
  ctx      TEXT NOT NULL,
  root     TEXT NOT NULL,
  files    BIGINT NOT NULL,
  bytes    BIGINT NOT NULL,
  PRIMARY KEY (batch_id, ctx)
);

CREATE TABLE bookmark (
  id          TEXT PRIMARY KEY,
  job_id      TEXT NOT NULL,
  ctx         TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  version     BIGINT NOT NULL,
  root        TEXT NOT NULL,
  files       BIGINT NOT NULL,
  bytes       BIGINT NOT NULL,
  newest      TEXT NOT NULL,
  paused      BIGINT NOT NULL,
  at          BIGINT NOT NULL,
  "by"          TEXT NOT NULL,
  run_id      TEXT NOT NULL
);
CREATE UNIQUE INDEX bookmark_ctx ON bookmark (job_id, ctx);

CREATE TABLE bookmark_move (
  bookmark_id TEXT NOT NULL,
  seq         BIGINT NOT NULL,
  version     BIGINT NOT NULL,
  kind        TEXT NOT NULL,
  to_version  BIGINT NOT NULL,
  root        TEXT NOT NULL,
  files       BIGINT NOT NULL,
  bytes       BIGINT NOT NULL,
  added       BIGINT NOT NULL,
  again       BIGINT NOT NULL,
  removed     BIGINT NOT NULL,
  in_bytes    BIGINT NOT NULL,
  rows_read   BIGINT NOT NULL,
  newest      TEXT NOT NULL,
  run_id      TEXT NOT NULL,
  "by"          TEXT NOT NULL,
  why         TEXT NOT NULL,
  at          BIGINT NOT NULL,
  PRIMARY KEY (bookmark_id, seq)
);

CREATE TABLE ledger_page (
  id   TEXT PRIMARY KEY,
  body BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE catalog_table (
  id         TEXT PRIMARY KEY,
  database   TEXT NOT NULL,
  name       TEXT NOT NULL,
  location   TEXT NOT NULL,
  version    BIGINT NOT NULL,
  body       TEXT NOT NULL,
  partitions BIGINT NOT NULL,
  rows_known BIGINT NOT NULL,
  bytes      BIGINT NOT NULL,
  at         BIGINT NOT NULL
);
CREATE INDEX catalog_table_location ON catalog_table (location);
CREATE UNIQUE INDEX catalog_table_name ON catalog_table (database, name);

CREATE TABLE catalog_version (
  table_id TEXT NOT NULL,
  version  BIGINT NOT NULL,
  body     TEXT NOT NULL,
  at       BIGINT NOT NULL,
  PRIMARY KEY (table_id, version)
);

CREATE TABLE catalog_partition (
  table_id   TEXT NOT NULL,
  key        TEXT NOT NULL,
  partition_values TEXT NOT NULL,
  location   TEXT NOT NULL,
  files      BIGINT NOT NULL,
  rows_known BIGINT NOT NULL,
  bytes      BIGINT NOT NULL,
  run_id     TEXT NOT NULL,
  at         BIGINT NOT NULL,
  PRIMARY KEY (table_id, key)
);

CREATE TABLE person (
  id      TEXT PRIMARY KEY,
  name    TEXT NOT NULL,
  role    TEXT NOT NULL,
  made_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX person_name ON person (name);

CREATE TABLE signin_link (
  hash      TEXT PRIMARY KEY,
  person_id TEXT NOT NULL,
  expires   BIGINT NOT NULL
);

CREATE TABLE session (
  token   TEXT PRIMARY KEY,
  data    BLOB NOT NULL,
  expires BIGINT NOT NULL
);
CREATE INDEX session_expires ON session (expires);

-- Every event trigger of a published workflow and how far it has looked.
CREATE TABLE event_trigger (
  trigger_id  TEXT PRIMARY KEY,
  workflow_id TEXT NOT NULL,
  rule        TEXT NOT NULL,
  active      BIGINT NOT NULL,
  since       BIGINT NOT NULL,
  based       BIGINT NOT NULL,
  looked      BIGINT NOT NULL,
  trouble     TEXT NOT NULL,
  held        TEXT NOT NULL
);
--bun:split
CREATE INDEX event_trigger_workflow ON event_trigger (workflow_id);
--bun:split
-- Events, kept before they are acknowledged. One that waits has neither a run
-- nor a note.
CREATE TABLE trigger_event (
  trigger_id TEXT NOT NULL,
  id         TEXT NOT NULL,
  at         BIGINT NOT NULL,
  detail     TEXT NOT NULL,
  run_id     TEXT NOT NULL DEFAULT '',
  note       TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (trigger_id, id)
);
--bun:split
CREATE INDEX trigger_event_waiting ON trigger_event (trigger_id, at, id) WHERE run_id = '' AND note = '';
--bun:split
CREATE INDEX trigger_event_at ON trigger_event (trigger_id, at, id);
--bun:split
CREATE INDEX trigger_event_run ON trigger_event (run_id) WHERE run_id <> '';
--bun:split
-- What lies at the place of a trigger for files: nothing arrives twice. Two servers
-- may have different folders by one path. The empty key says that a place was
-- looked through.
CREATE TABLE trigger_seen (
  trigger_id TEXT NOT NULL,
  place      TEXT NOT NULL,
  key        TEXT NOT NULL,
  mark       TEXT NOT NULL,
  at         BIGINT NOT NULL,
  PRIMARY KEY (trigger_id, place, key)
) WITHOUT ROWID;

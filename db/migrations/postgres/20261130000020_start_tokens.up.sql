-- Whoever asks twice with one token gets one run of the workflow, job or
-- crawler, whatever became of the first answer.
CREATE TABLE start_token (
  object_id TEXT NOT NULL,
  token     TEXT NOT NULL,
  asked     TEXT NOT NULL,
  run_id    TEXT NOT NULL,
  at        BIGINT NOT NULL,
  PRIMARY KEY (object_id, token)
);
--bun:split
CREATE INDEX start_token_at ON start_token (at);
--bun:split
-- What the properties of a run were after each of its events that changed them;
-- 0 is what it began with. A run whose properties nobody changed has none.
CREATE TABLE run_properties (
  run_id     TEXT NOT NULL,
  seq        BIGINT NOT NULL,
  at         BIGINT NOT NULL,
  "by"       TEXT NOT NULL,
  properties TEXT NOT NULL,
  PRIMARY KEY (run_id, seq)
);

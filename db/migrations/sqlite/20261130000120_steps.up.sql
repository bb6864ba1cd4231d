-- What happened in a run, step by step: a transition adds one row with all its
-- events, of which the first and the last are numbered here. That the number is
-- free is how a server knows that nobody else has written the run meanwhile, so a
-- step without events takes a number, too.
CREATE TABLE step (
  run_id TEXT NOT NULL,
  first  BIGINT NOT NULL,
  last   BIGINT NOT NULL,
  events TEXT NOT NULL,
  PRIMARY KEY (run_id, first)
) WITHOUT ROWID;
--bun:split
INSERT INTO step (run_id, first, last, events)
SELECT run_id, seq, seq, json_array(json_object('kind', kind, 'card', card, 'state', state, 'start', start, 'attempt', attempt, 'at', at, 'text', text)) FROM event;
--bun:split
DROP TABLE event;
--bun:split
-- The events by themselves, without their texts.
CREATE VIEW event (run_id, seq, kind, card, state, start, attempt, at) AS
SELECT s.run_id, s.first + e.key, e.value ->> 'kind', coalesce(e.value ->> 'card', ''), e.value ->> 'state',
  coalesce(e.value ->> 'start', 0), coalesce(e.value ->> 'attempt', 0), e.value ->> 'at'
FROM step AS s CROSS JOIN json_each(s.events) AS e;
--bun:split
ALTER TABLE run DROP COLUMN stamp;

-- What happened in a run, step by step: a transition adds one row with all its
-- events, of which the first and the last are numbered here. That the number is
-- free is how a server knows that nobody else has written the run meanwhile, so a
-- step without events takes a number, too.
CREATE TABLE step (
  run_id TEXT COLLATE "C" NOT NULL,
  first  BIGINT NOT NULL,
  last   BIGINT NOT NULL,
  events TEXT NOT NULL,
  PRIMARY KEY (run_id, first)
);
--bun:split
INSERT INTO step (run_id, first, last, events)
SELECT run_id, seq, seq, json_build_array(json_build_object('kind', kind, 'card', card, 'state', state, 'start', start, 'attempt', attempt, 'at', at, 'text', text))::text FROM event;
--bun:split
DROP TABLE event;
--bun:split
-- The events by themselves, without their texts.
CREATE VIEW event (run_id, seq, kind, card, state, start, attempt, at) AS
SELECT s.run_id, s.first + e.i - 1, e.v ->> 'kind', coalesce(e.v ->> 'card', ''), e.v ->> 'state',
  coalesce((e.v ->> 'start')::bigint, 0), coalesce((e.v ->> 'attempt')::bigint, 0), (e.v ->> 'at')::bigint
FROM step AS s CROSS JOIN LATERAL json_array_elements(s.events::json) WITH ORDINALITY AS e(v, i);
--bun:split
ALTER TABLE run DROP COLUMN stamp;
--bun:split
ALTER TABLE run RESET (fillfactor);

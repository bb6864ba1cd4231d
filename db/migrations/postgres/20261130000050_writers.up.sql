-- How many groups of steps a server has written from memory: what became of one
-- whose answer got lost is seen by its number. Only PostgreSQL needs it.
CREATE TABLE writer (
  id TEXT PRIMARY KEY,
  n  BIGINT NOT NULL
);

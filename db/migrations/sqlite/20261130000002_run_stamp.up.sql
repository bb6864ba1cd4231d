-- A new word at every change of a run or of its node runs, by which a server
-- knows that nothing has changed since it wrote them. Only PostgreSQL needs it.
ALTER TABLE run ADD COLUMN stamp TEXT NOT NULL DEFAULT '';

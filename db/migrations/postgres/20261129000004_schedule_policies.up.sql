-- What becomes of missed times and of overlaps, and the due time that waits.
ALTER TABLE schedule ADD COLUMN missed TEXT NOT NULL DEFAULT '';
--bun:split
ALTER TABLE schedule ADD COLUMN overlap TEXT NOT NULL DEFAULT '';
--bun:split
ALTER TABLE schedule ADD COLUMN held BIGINT NOT NULL DEFAULT 0;

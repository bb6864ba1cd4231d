-- The run that somebody has run once more, on purpose.
ALTER TABLE run ADD COLUMN repeats TEXT NOT NULL DEFAULT '';

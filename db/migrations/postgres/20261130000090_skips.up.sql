-- What of a run a person has told not to run, by card, in words of who and why.
ALTER TABLE run ADD COLUMN skips TEXT NOT NULL DEFAULT '';

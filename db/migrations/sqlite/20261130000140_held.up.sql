-- Whether what a node run waited for last, until it was started, a person has set. It
-- was looked for in the words of its event.
ALTER TABLE node_run ADD COLUMN held INTEGER NOT NULL DEFAULT 0;

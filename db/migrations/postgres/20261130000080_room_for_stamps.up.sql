-- Each transition gives its run a new stamp. With room on its page a new version
-- of a row stays there, and no index is written.
ALTER TABLE run SET (fillfactor = 50);

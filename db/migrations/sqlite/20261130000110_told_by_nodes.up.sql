-- A trigger to which nothing has happened has no row any more, and of one that
-- has fired what it started tells so. An earlier version would miss the rows.
DELETE FROM trigger_run WHERE met = 0 AND dead = 0 AND fired_at = 0 AND dead_at = 0;

-- When a server last renewed its lease, by the database's clock in microseconds; 0
-- where a server of an earlier version wrote the row.
ALTER TABLE replica ADD COLUMN seen BIGINT NOT NULL DEFAULT 0;

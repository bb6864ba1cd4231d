-- This is for PostgreSQL; SQLite has no stamps.
SELECT 1;

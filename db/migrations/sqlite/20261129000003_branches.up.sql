-- A branch is a copy of a bookmark that moves on its own until it is promoted
-- or dropped; "" is the bookmark that runs read by.
ALTER TABLE bookmark ADD COLUMN branch TEXT NOT NULL DEFAULT '';
--bun:split
DROP INDEX bookmark_ctx;
--bun:split
CREATE UNIQUE INDEX bookmark_ctx ON bookmark (job_id, ctx, branch);
--bun:split
-- When a page was last written: one that no version names yet may belong to a
-- run under way.
ALTER TABLE ledger_page ADD COLUMN at BIGINT NOT NULL DEFAULT 0;

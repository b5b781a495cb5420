-- Saved agents.
CREATE TABLE agents (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,     -- Unix milliseconds; with id, the order of lists
  version INTEGER NOT NULL,        -- rises with each change, so that two at once do not undo one another
  snapshot TEXT NOT NULL,          -- the Agent as the API shows it
  deleted_at INTEGER,              -- kept as a tombstone, so that cursors stay valid and a repeated delete succeeds
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX agents_by_age ON agents (tenant, created_at DESC, id DESC);

-- Callers: only the SHA-256 of a key is kept.
CREATE TABLE api_keys (
  hash TEXT PRIMARY KEY,           -- SHA-256 of the whole key, lower-case hex
  tenant TEXT NOT NULL,
  created_at INTEGER NOT NULL,     -- Unix milliseconds
  revoked_at INTEGER
) WITHOUT ROWID;

-- Index of sessions. The SessionDO is the authority; `snapshot` is what lists show and may lag by one update.
CREATE TABLE sessions (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,     -- Unix milliseconds; with id, the order of lists
  version INTEGER NOT NULL,        -- rises with each snapshot, so that a late write cannot undo a newer one
  snapshot TEXT NOT NULL,          -- the AgentSession as the API shows it
  deleted_at INTEGER,              -- kept as a tombstone, so that cursors stay valid and a repeated delete succeeds
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX sessions_by_age ON sessions (tenant, created_at DESC, id DESC);

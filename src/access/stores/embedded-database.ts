import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const SCHEMA_VERSION = 1;
const BUSY_TIMEOUT_MS = 5000;

const SCHEMA = `
  CREATE TABLE account (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    plan TEXT NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE api_key (
    hash TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
    last_four TEXT NOT NULL,
    label TEXT NOT NULL,
    created_at TEXT NOT NULL,
    revoked_at TEXT,
    last_used_on TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX api_key_of_account ON api_key (account_id);
  CREATE TABLE usage (
    day TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
    used INTEGER NOT NULL,
    PRIMARY KEY (day, account_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_of_account ON usage (account_id);
`;

/** Opens the file, or creates it; several processes may do so at once. `:memory:` is a database of this process alone. */
export function openDatabase(path: string): DatabaseSync {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  try {
    enterWal(database);
    // A commit is in the file when it returns, so it survives a killed process, but perhaps not a power cut.
    database.exec('PRAGMA synchronous = NORMAL');
    applySchema(database, path);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** SQLite's busy timeout does not apply when two processes change to WAL at the same time, so this waits itself. */
function enterWal(database: DatabaseSync): void {
  const giveUpAt = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!/locked|busy/.test((error as Error).message) || performance.now() > giveUpAt) throw error;
    }
  }
}

function applySchema(database: DatabaseSync, path: string): void {
  database.exec('BEGIN IMMEDIATE');
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `${path} was written by a newer version of this service (schema ${version}, not ${SCHEMA_VERSION}).`,
    );
  }
  if (version === 0) database.exec(`${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION};`);
  database.exec('COMMIT');
}

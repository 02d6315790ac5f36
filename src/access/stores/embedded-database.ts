import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../../core/redis/connection.ts';

/** When opening; afterwards nothing waits for the file inside SQLite, because that blocks the event loop. */
const OPEN_TIMEOUT_MS = 2000;
const ENTER_WAL_EVERY_MS = 10;

/** Each begins where the one before ended; a database has the version of the last one applied. */
const SCHEMA_STEPS = [
  `
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
  CREATE INDEX usage_of_account ON usage (account_id);`,
  `
  ALTER TABLE account ADD COLUMN wants_quota_mails INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE api_key ADD COLUMN revocation_decided_at TEXT;
  ALTER TABLE usage ADD COLUMN mailed_percent INTEGER NOT NULL DEFAULT 0;`,
  'ALTER TABLE account ADD COLUMN link_used_at INTEGER NOT NULL DEFAULT 0;',
];
/** Versions of the service that do not know these tables do not miss them, so they do not count as a step. */
const FURTHER_TABLES = `
  CREATE TABLE IF NOT EXISTS key_grant (
    hash TEXT PRIMARY KEY REFERENCES api_key ON DELETE CASCADE,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS restriction (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS deleted_account (id TEXT PRIMARY KEY, deleted_at TEXT NOT NULL) STRICT, WITHOUT ROWID;`;
/** Tables of earlier versions, which make them again when they need them. */
const FORMER_TABLES = 'DROP TABLE IF EXISTS audit; DROP TABLE IF EXISTS mailing;';
const SCHEMA_VERSION = SCHEMA_STEPS.length;

/** The database cannot be used; the message is one line for the operator. */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError';
}

/**
 * Opens the file, or creates it; several processes may do so at once. `:memory:` is a database of this process alone.
 * Throws `StoreOpenError` within a few seconds when the file cannot be used.
 */
export function openDatabase(path: string): DatabaseSync {
  let database: DatabaseSync | null = null;
  try {
    if (path !== ':memory:') makeFile(path);
    database = new DatabaseSync(path, { timeout: OPEN_TIMEOUT_MS, enableForeignKeyConstraints: true });
    enterWal(database);
    // A commit is in the file when it returns, so it survives a killed process, but perhaps not a power cut.
    database.exec('PRAGMA synchronous = NORMAL');
    applySchema(database);
    checkPages(database);
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (cause) {
    database?.close();
    const reason = (cause as Error).message.replaceAll(/\s+/g, ' ');
    throw new StoreOpenError(`The account database ${path} cannot be used: ${reason}. Check DATA_DIR.`, { cause });
  }
}

/**
 * For the owner alone: it holds addresses. SQLite gives the files that it puts beside it the same permissions. A file that
 * is there is not touched: closing it would end the locks that this process holds on it.
 */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** SQLite's timeout does not apply when two processes change to WAL at the same time, so this waits itself. */
function enterWal(database: DatabaseSync): void {
  const giveUpAt = performance.now() + OPEN_TIMEOUT_MS;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isLocked(error) || performance.now() > giveUpAt) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ENTER_WAL_EVERY_MS);
    }
  }
}

function applySchema(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE');
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version > SCHEMA_VERSION) {
    throw new Error(`it was written by a newer version of this service (schema ${version}, not ${SCHEMA_VERSION})`);
  }
  for (const step of SCHEMA_STEPS.slice(version)) database.exec(step);
  database.exec(FURTHER_TABLES + FORMER_TABLES);
  if (version < SCHEMA_VERSION) database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  database.exec('COMMIT');
}

/** Better not to start than to answer from a broken file. */
function checkPages(database: DatabaseSync): void {
  const { quick_check: finding } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (finding !== 'ok') throw new Error(finding);
}

const RETRY_EVERY_MS = 2;
/** Requests wait 50 ms for the file. */
const MAX_RETRIES = 25;
/** Signup and the operator's commands wait longer. */
const PATIENCE_MS = 5000;

/**
 * SQLite's own wait for a locked file blocks the event loop. So SQLite does not wait, and this does. One retry at a time
 * for all tasks: they run as soon as the file is free.
 */
export class FileLock {
  readonly #database: DatabaseSync;
  #waiting: Promise<void> | null = null;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Runs the task; while another process holds the file, up to 50 ms later, then rejects with `UnavailableError`. */
  async run<T>(task: () => T): Promise<T> {
    for (;;) {
      if (this.#waiting) await this.#waiting;
      try {
        return task();
      } catch (error) {
        if (!isLocked(error)) throw error;
      }
      this.#waiting ??= this.#untilUnlocked().finally(() => {
        this.#waiting = null;
      });
    }
  }

  /** The same, with up to 5 s. */
  async runPatiently<T>(task: () => T): Promise<T> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await this.run(task);
      } catch (error) {
        if (!(error instanceof UnavailableError) || performance.now() > giveUpAt) throw error;
      }
    }
  }

  async #untilUnlocked(): Promise<void> {
    for (let retry = 0; retry < MAX_RETRIES; retry++) {
      await sleep(RETRY_EVERY_MS);
      try {
        return this.#database.exec('BEGIN IMMEDIATE; ROLLBACK');
      } catch (error) {
        if (!isLocked(error)) throw error;
      }
    }
    throw new UnavailableError('another process holds the database file', 'not-sent');
  }
}

/** Runs the writes in one transaction whose commit also survives a power cut. It waits for the disk, so counts are written without. */
export function createDurably(database: DatabaseSync, lock: FileLock) {
  return <T>(write: () => T): Promise<T> =>
    lock.runPatiently(() => {
      try {
        database.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE');
        const result = write();
        database.exec('COMMIT');
        return result;
      } finally {
        if (database.isTransaction) database.exec('ROLLBACK');
        database.exec('PRAGMA synchronous = NORMAL');
      }
    });
}

const SQLITE_BUSY = 5;

/** Extended error codes carry the code in their lowest byte. */
function isLocked(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return errcode !== undefined && (errcode & 0xff) === SQLITE_BUSY;
}

/**
 * Commits all writes of one turn of the event loop in one transaction, because a commit costs more than the writes. None
 * of them is acknowledged before it is in the file; when one write fails, its group does.
 */
export function createGroupCommit(database: DatabaseSync, lock: Pick<FileLock, 'run'>) {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollBack = database.prepare('ROLLBACK');
  let group: { perform(): void; committed(): void; failed(error: unknown): void }[] = [];

  function commitGroup(): void {
    const writes = group;
    group = [];
    lock
      .run(() => commitAll(writes))
      .then(
        () => {
          for (const write of writes) write.committed();
        },
        (error) => {
          for (const write of writes) write.failed(error);
        },
      );
  }

  function commitAll(writes: typeof group): void {
    begin.run();
    try {
      for (const write of writes) write.perform();
      commit.run();
    } catch (error) {
      // On a full disk SQLite has rolled back by itself.
      if (database.isTransaction) rollBack.run();
      throw error;
    }
  }

  return <Result>(write: () => Result): Promise<Result> => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    let result: Result;
    group.push({
      perform: () => {
        result = write();
      },
      committed: () => resolve(result),
      failed: reject,
    });
    if (group.length === 1) setImmediate(commitGroup);
    return promise;
  };
}

import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../../core/redis/connection.ts';

/** Only for opening. Afterwards SQLite never waits for the file, because that would block the event loop. */
const OPEN_TIMEOUT_MS = 2000;
const ENTER_WAL_EVERY_MS = 10;

/** Each step starts from the result of the previous one; a database has the version of its last step. */
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
/** Versions of the service without these tables work too, so they do not count as a step. */
const FURTHER_TABLES = `
  CREATE TABLE IF NOT EXISTS key_grant (
    hash TEXT PRIMARY KEY REFERENCES api_key ON DELETE CASCADE,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS restriction (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS deleted_account (id TEXT PRIMARY KEY, deleted_at TEXT NOT NULL) STRICT, WITHOUT ROWID;`;
/** Tables of earlier versions, which recreate them when needed. */
const FORMER_TABLES = 'DROP TABLE IF EXISTS audit; DROP TABLE IF EXISTS mailing;';
const SCHEMA_VERSION = SCHEMA_STEPS.length;

/** The database cannot be used; the message is one line for the operator. */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError';
}

/**
 * Opens or creates the file; several processes may do so at once. `:memory:` is a database private to this process. Throws
 * `StoreOpenError` within a few seconds if the file cannot be used.
 */
export function openDatabase(path: string): DatabaseSync {
  let database: DatabaseSync | null = null;
  try {
    if (path !== ':memory:') makeFile(path);
    database = new DatabaseSync(path, { timeout: OPEN_TIMEOUT_MS, enableForeignKeyConstraints: true });
    enterWal(database);
    // A commit is in the file when it returns, so it survives a killed process but perhaps not a power failure.
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
 * Readable by the owner only, because it contains addresses. SQLite gives its companion files the same permissions. An existing
 * file is not touched: closing it would release this process's locks on it.
 */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** SQLite's timeout does not apply when two processes switch to WAL at once, so wait here. */
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

/** Refuse to start rather than answer from a corrupt file. */
function checkPages(database: DatabaseSync): void {
  const { quick_check: finding } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (finding !== 'ok') throw new Error(finding);
}

const RETRY_EVERY_MS = 2;
/** Requests wait up to 50 ms for the file. */
const MAX_RETRIES = 25;
/** Signup and operator commands wait longer. */
const PATIENCE_MS = 5000;

/**
 * Waits for a locked file. SQLite's own wait would block the event loop. All tasks share one retry and run as soon as the file
 * is free.
 */
export class FileLock {
  readonly #database: DatabaseSync;
  #waiting: Promise<void> | null = null;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Runs the task. While another process holds the file, waits up to 50 ms, then rejects with `UnavailableError`. */
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

  /** Like `run`, but waits up to 5 s. */
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
    throw new UnavailableError('another process has locked the database file', 'not-sent');
  }
}

/**
 * Runs writes in one transaction whose commit also survives a power failure. It waits for the disk, so counts do not use it.
 */
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

/** The lowest byte of an extended error code is the code. */
function isLocked(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return errcode !== undefined && (errcode & 0xff) === SQLITE_BUSY;
}

/**
 * Commits all writes of one event-loop turn in one transaction, because a commit costs more than the writes. Writes are
 * acknowledged only once they are in the file; if one fails, the whole group fails.
 */
export function createGroupCommit(database: DatabaseSync, lock: { run: FileLock['run'] }) {
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
      // On a full disk, SQLite has already rolled back.
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

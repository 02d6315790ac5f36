import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../../redis/unavailable-error.ts';

const RETRY_EVERY_MS = 2;
/** Requests wait 50 ms for the file. */
const MAX_RETRIES = 25;
/** Signup and the operator's commands wait longer. */
const PATIENCE_MS = 5000;

export interface FileLock {
  /** Runs the task; while another process holds the file, up to 50 ms later, then rejects with `UnavailableError`. */
  run<T>(task: () => T): Promise<T>;
  /** The same, with up to 5 s. */
  runPatiently<T>(task: () => T): Promise<T>;
}

/**
 * SQLite's own wait for a locked file blocks the event loop. So SQLite does not wait, and this does. One retry at a time
 * for all tasks: they run as soon as the file is free.
 */
export function createFileLock(database: DatabaseSync): FileLock {
  let waiting: Promise<void> | null = null;

  async function untilUnlocked(): Promise<void> {
    for (let retry = 0; retry < MAX_RETRIES; retry++) {
      await sleep(RETRY_EVERY_MS);
      try {
        return database.exec('BEGIN IMMEDIATE; ROLLBACK');
      } catch (error) {
        if (!isLocked(error)) throw error;
      }
    }
    throw new UnavailableError('another process holds the database file', 'not-sent');
  }

  async function run<T>(task: () => T): Promise<T> {
    for (;;) {
      if (waiting) await waiting;
      try {
        return task();
      } catch (error) {
        if (!isLocked(error)) throw error;
      }
      waiting ??= untilUnlocked().finally(() => {
        waiting = null;
      });
    }
  }

  return {
    run,
    async runPatiently(task) {
      const giveUpAt = performance.now() + PATIENCE_MS;
      for (;;) {
        try {
          return await run(task);
        } catch (error) {
          if (!(error instanceof UnavailableError) || performance.now() > giveUpAt) throw error;
        }
      }
    },
  };
}

const SQLITE_BUSY = 5;

/** Extended error codes carry the code in their lowest byte. */
export function isLocked(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return errcode !== undefined && (errcode & 0xff) === SQLITE_BUSY;
}

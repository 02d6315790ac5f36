import type { DatabaseSync } from 'node:sqlite';
import type { FileLock } from './file-lock.ts';

/** A write that waits for the commit of its group. */
interface Write {
  perform(): void;
  committed(): void;
  failed(error: unknown): void;
}

/** Performs a write in the next group; resolves when the group is committed. When one write fails, its group does. */
export type WriteInGroup = <Result>(write: () => Result) => Promise<Result>;

/**
 * Commits all writes of one turn of the event loop in one transaction, because a commit costs more than the writes. None
 * of them is acknowledged before it is in the file.
 */
export function createGroupCommit(database: DatabaseSync, { run }: Pick<FileLock, 'run'>): WriteInGroup {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollBack = database.prepare('ROLLBACK');
  let group: Write[] = [];

  function commitGroup(): void {
    const writes = group;
    group = [];
    run(() => commitAll(writes)).then(
      () => {
        for (const write of writes) write.committed();
      },
      (error) => {
        for (const write of writes) write.failed(error);
      },
    );
  }

  function commitAll(writes: readonly Write[]): void {
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

  return <Result>(write: () => Result) => {
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

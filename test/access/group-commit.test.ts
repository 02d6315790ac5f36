import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, it } from 'vitest';
import { createGroupCommit, FileLock } from '#src/access/stores/embedded-database.ts';

let database: DatabaseSync;
/** SQLite treats this connection as another process. */
let other: DatabaseSync;
let writeInGroup: ReturnType<typeof createGroupCommit>;

beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), 'transit-group-'));
  const path = join(directory, 'test.db');
  database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE entry (text TEXT PRIMARY KEY)');
  other = new DatabaseSync(path);
  writeInGroup = createGroupCommit(database, new FileLock(database));
  return () => {
    database.close();
    other.close();
    rmSync(directory, { recursive: true });
  };
});

const insert = (text: string) => writeInGroup(() => database.prepare('INSERT INTO entry VALUES (?)').run(text).changes);
const kept = () =>
  other
    .prepare('SELECT text FROM entry ORDER BY text')
    .all()
    .map(({ text }) => text);

it('the account database acknowledges a write only once other processes can read it', async () => {
  const written = insert('one').then(kept);
  expect(kept()).toEqual([]);
  expect(await written).toEqual(['one']);
});

it('the account database commits the writes of one turn together and gives each its own result', async () => {
  let commits = 0;
  const counted = createGroupCommit(database, {
    run: async (task) => {
      commits++;
      return task();
    },
  });
  const results = await Promise.all(['one', 'two', 'three'].map((text) => counted(() => text.length)));
  expect(results).toEqual([3, 3, 5]);
  expect(commits).toBe(1);
});

it('the account database rolls back a group in which a write fails, and commits the next group', async () => {
  const outcomes = await Promise.allSettled([insert('one'), insert('one'), insert('two')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(kept()).toEqual([]);
  expect(await insert('one')).toBe(1);
  expect(kept()).toEqual(['one']);
});

it('the account database writes a group once when another process releases the file', async () => {
  other.exec('BEGIN IMMEDIATE');
  const lock = new FileLock(database);
  let attempts = 0;
  writeInGroup = createGroupCommit(database, {
    run: (task) =>
      lock.run(() => {
        attempts++;
        try {
          return task();
        } finally {
          if (other.isTransaction) other.exec('COMMIT');
        }
      }),
  });
  expect(await Promise.all([insert('one'), insert('two')])).toEqual([1, 1]);
  expect(attempts).toBe(2);
  expect(kept()).toEqual(['one', 'two']);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { issueTestKey } from '../support/access.ts';

const PROGRAM = join(import.meta.dirname, 'writing-process.ts');
const DAY = '20261121';
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'transit-embedded-'));
  path = join(directory, 'deep', 'accounts.db');
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Starts a process that writes, kills it in the middle, and returns the writes that it had acknowledged. */
async function writeUntilKilled(): Promise<{ keys: string[]; counted: Map<string, number> }> {
  const child = spawn(process.execPath, [PROGRAM, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const enough = 20_000 + Math.random() * 5000;
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
    if (out.length > enough) child.kill('SIGKILL');
  });
  await closed;

  const lines = out
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' '));
  return {
    keys: lines.flatMap(([what, key = '']) => (what === 'key' ? key : [])),
    counted: new Map(lines.flatMap(([what, key = '', used]) => (what === 'counted' ? [[key, Number(used)]] : []))),
  };
}

it('the account database loses no acknowledged key and no counted request when its processes are killed while writing', async () => {
  const written = await Promise.all([writeUntilKilled(), writeUntilKilled(), writeUntilKilled()]);
  const store = openEmbeddedStore(path);
  for (const { keys, counted } of written) {
    expect(keys.length).toBeGreaterThan(5);
    for (const text of keys) {
      const key = parseKey(text);
      expect(await store.listKeys(key?.accountId ?? '')).toMatchObject([{ hash: key?.hash, revokedAt: null }]);
    }
    for (const [text, used] of counted) {
      const [kept = 0] = await store.loadUsage(parseKey(text)?.accountId ?? '', [DAY]);
      // The last request may have been counted before the kill without being reported.
      expect(kept - used).toBeGreaterThanOrEqual(0);
      expect(kept - used).toBeLessThanOrEqual(text === keys.at(-1) ? 50 : 0);
    }
  }
  await store.close();
  const database = new DatabaseSync(path);
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  database.close();
});

it('several processes can create the account database at the same moment', async () => {
  const code = `
    const { openEmbeddedStore } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/access/stores/open-store.ts'))});
    process.send('ready');
    await new Promise((resolve) => process.once('message', resolve));
    const store = openEmbeddedStore(${JSON.stringify(path)});
    await store.openAccount({ email: 'same@example.com', plan: 'free', createdAt: '' });
    await store.close();
    process.disconnect();`;
  const children = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  );
  await Promise.all(children.map((child) => once(child, 'message')));
  const ended = children.map((child) => once(child, 'exit'));
  for (const child of children) child.send('go');
  const codes = (await Promise.all(ended)).map(([code]) => code);
  expect(codes).toEqual([0, 0, 0, 0, 0, 0]);
  const store = openEmbeddedStore(path);
  expect(await store.listAccounts()).toHaveLength(1);
  await store.close();
});

it('only its owner can read the account database, even in a directory open to others', async () => {
  mkdirSync(dirname(path), { mode: 0o755 });
  const store = openEmbeddedStore(path);
  await issueTestKey(store);
  const files = readdirSync(dirname(path));
  expect(files).toContain('accounts.db-wal');
  expect(files.filter((name) => statSync(join(dirname(path), name)).mode & 0o077)).toEqual([]);
  await store.close();
});

it('the account database keeps accounts, keys and counts across a restart', async () => {
  const before = openEmbeddedStore(path);
  const text = await issueTestKey(before);
  const key = parseKey(text);
  const request = { accountId: key?.accountId ?? '', keyHash: key?.hash ?? '', day: DAY, sender: '' };
  await before.admit(request);
  await before.close();
  const after = openEmbeddedStore(path);
  expect(await after.admit(request)).toMatchObject({ kind: 'admitted', used: 2 });
  await after.close();
});

it('the account database deletes counts of old days when a new day begins', async () => {
  const store = openEmbeddedStore(path);
  const key = parseKey(await issueTestKey(store));
  const request = { accountId: key?.accountId ?? '', keyHash: key?.hash ?? '', sender: '' };
  for (const day of ['20261020', '20261119', '20261120', '20261121']) await store.admit({ ...request, day });
  expect(await store.loadUsage(request.accountId, ['20261020', '20261119', '20261120', '20261121'])).toEqual([
    0, 1, 1, 1,
  ]);
  await store.close();
});

it('the account database refuses a file written by a newer version', async () => {
  await openEmbeddedStore(path).close();
  const database = new DatabaseSync(path);
  database.exec('PRAGMA user_version = 99');
  database.close();
  expect(() => openEmbeddedStore(path)).toThrow(/newer version of this service \(schema 99/);
});

describe('opening an unusable account database', () => {
  const spoilt = {
    'the data directory is a file': () => writeFileSync(dirname(path), ''),
    'the file is not a database': () => {
      mkdirSync(dirname(path));
      writeFileSync(path, 'not a database, but long enough to be taken for one'.repeat(100));
    },
    'the file is a directory': () => mkdirSync(path, { recursive: true }),
    'the file was cut off': async () => {
      await fill();
      truncateSync(path, 20_000);
    },
    'pages of the file were overwritten': async () => {
      await fill();
      const file = openSync(path, 'r+');
      writeSync(file, Buffer.alloc(20_000, 'x'), 0, 20_000, 8192);
      closeSync(file);
    },
  };

  it.each(Object.entries(spoilt))(
    'opening the account database fails with one line that names DATA_DIR when %s',
    async (_name, spoil) => {
      await spoil();
      expect(() => openEmbeddedStore(path)).toThrow(
        /^The account database [^\n]+ cannot be used: [^\n]+\. Check DATA_DIR\.$/,
      );
    },
  );

  it('opening the account database fails with one line that names DATA_DIR when another process never releases the file', async () => {
    await fill();
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    expect(() => openEmbeddedStore(path)).toThrow(/cannot be used: database is locked\. Check DATA_DIR\.$/);
    other.close();
  });

  async function fill(): Promise<void> {
    const store = openEmbeddedStore(path);
    for (let n = 0; n < 200; n++) await issueTestKey(store);
    await store.close();
  }
});

it('the tables of the account database are strict, so that counts are always numbers', async () => {
  const store = openEmbeddedStore(path);
  const key = parseKey(await issueTestKey(store));
  const database = new DatabaseSync(path);
  const insert = database.prepare("INSERT INTO usage (day, account_id, used) VALUES (?, ?, 'many')");
  expect(() => insert.run(DAY, key?.accountId ?? '')).toThrow(/cannot store TEXT value in INTEGER column/);
  database.close();
  await store.close();
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';

const FIRST_SCHEMA = `
  CREATE TABLE account (id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, plan TEXT NOT NULL, created_at TEXT NOT NULL)
    STRICT, WITHOUT ROWID;
  CREATE TABLE api_key (hash TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
    last_four TEXT NOT NULL, label TEXT NOT NULL, created_at TEXT NOT NULL, revoked_at TEXT, last_used_on TEXT)
    STRICT, WITHOUT ROWID;
  CREATE TABLE usage (day TEXT NOT NULL, account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
    used INTEGER NOT NULL, PRIMARY KEY (day, account_id)) STRICT, WITHOUT ROWID;
  INSERT INTO account VALUES ('ABCDefgh', 'jo@example.com', 'free', '2026-01-01T00:00:00.000Z');
  INSERT INTO api_key VALUES ('h', 'ABCDefgh', 'abcd', '', '2026-01-01T00:00:00.000Z', NULL, NULL);
  INSERT INTO usage VALUES ('20261120', 'ABCDefgh', 7);
  PRAGMA user_version = 1;`;

it('a database of the first schema opens with all its data, more than once', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'transit-schema-'));
  const path = join(directory, 'accounts.db');
  const old = new DatabaseSync(path);
  old.exec(FIRST_SCHEMA);
  old.close();
  for (const used of [8, 9]) {
    const store = openEmbeddedStore(path);
    const request = { accountId: 'ABCDefgh', keyHash: 'h', day: '20261120', sender: 'a' };
    expect(await store.admit(request)).toMatchObject({ kind: 'admitted', used });
    expect(await store.wantsQuotaMails('ABCDefgh')).toBe(true);
    await store.close();
  }
  rmSync(directory, { recursive: true });
});

it('opening a database drops the audit trail and mailings of an earlier version', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'transit-schema-'));
  const path = join(directory, 'accounts.db');
  const old = new DatabaseSync(path);
  old.exec(`CREATE TABLE audit (number INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL) STRICT;
    CREATE TABLE mailing (mailing TEXT NOT NULL, account_id TEXT NOT NULL) STRICT;
    CREATE INDEX mailing_of_account ON mailing (account_id);
    INSERT INTO audit (entry) VALUES ('{}');`);
  await openEmbeddedStore(path).close();
  const left = old.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'audit%' OR name LIKE 'mailing%'").all();
  expect(left).toEqual([]);
  old.close();
  rmSync(directory, { recursive: true });
});

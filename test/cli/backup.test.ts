import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportAccounts, importAccounts } from '#src/cli/backup.ts';
import { runKeys } from '#src/cli/keys.ts';
import { buildProbeApp } from '../support/probe-app.ts';
import { openTestStore, startRedis, type TestRedis } from '../support/redis.ts';

const directory = mkdtempSync(join(tmpdir(), 'transit-backup-'));
let redis: TestRedis;

beforeAll(async () => {
  redis = await startRedis('--databases', '64');
});
afterAll(async () => {
  await redis.stop();
  rmSync(directory, { recursive: true });
});

interface Environment {
  DATA_DIR: string;
  REDIS_URL: string;
}

let stores = 0;
let databases = 0;
const embedded = (): Environment => ({ DATA_DIR: join(directory, `store-${++stores}`), REDIS_URL: '' });
/** Each Redis database is a store of its own. */
const inRedis = (): Environment => ({ DATA_DIR: '', REDIS_URL: `${redis.url}/${databases++}` });

async function json(env: Environment, ...args: string[]) {
  const { code, stdout, stderr } = await runKeys([...args, '--json'], { ...env });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** Fills a store with accounts on two plans, and with a valid and a revoked key. */
async function fill(env: Environment) {
  const valid = await json(env, 'issue', '--email', 'ada@example.com', '--plan', 'pro', '--label', 'phone "Ω"');
  const revoked = await json(env, 'issue', '--email', 'bob@example.com');
  await json(env, 'revoke', revoked.id);
  return { valid: valid.key as string, revoked: revoked.key as string };
}

function write(backup: unknown): string {
  const file = join(directory, `backup-${++stores}.json`);
  writeFileSync(file, typeof backup === 'string' ? backup : JSON.stringify(backup));
  return file;
}

describe.each([
  ['a file', 'Redis', embedded, inRedis],
  ['Redis', 'a file', inRedis, embedded],
  ['Redis', 'another Redis', inRedis, inRedis],
])('a backup of accounts in %s, restored in %s', (_from, _to, openSource, openTarget) => {
  it('a restored backup admits the same keys, with their plans, and no others', async () => {
    const [source, target] = [openSource(), openTarget()];
    const keys = await fill(source);
    const backup = await json(source, 'backup');
    expect(JSON.stringify(backup)).not.toContain(keys.valid.slice(17));
    expect(await json(target, 'restore', write(backup))).toEqual({ accounts: 2, keys: 2, conflicts: [], deleted: 0 });

    const store = await openTestStore([target.REDIS_URL].filter(Boolean), target.DATA_DIR);
    const app = await buildProbeApp({ store });
    expect((await app.send(keys.valid)).statusCode).toBe(200);
    expect((await app.send(keys.valid)).headers['x-ratelimit-limit']).toBeUndefined();
    expect((await app.send(keys.revoked)).statusCode).toBe(401);
    await app.close();
    await store.close();

    const { accounts, ...again } = await json(target, 'backup');
    // Leaves out usage, because the requests above were counted.
    const restored = accounts.map(({ usage: _, ...account }: { usage: object }) => account);
    expect({ ...again, exported_at: '', accounts: restored }).toEqual({ ...backup, exported_at: '' });
  });

  it('a restored backup brings today’s counts and suspensions, and lowers no count', async () => {
    const [source, target] = [openSource(), openTarget()];
    await fill(source);
    await json(source, 'suspend', '@example.org', '--reason', 'spam.');
    const count = async (env: Environment, used: number) => {
      const store = await openTestStore([env.REDIS_URL].filter(Boolean), env.DATA_DIR);
      const { id = '' } = (await store.loadAccountByEmail('ada@example.com')) ?? {};
      await store.raiseUsage(id, new Date().toISOString().slice(0, 10).replaceAll('-', ''), used);
      await store.close();
    };
    await count(source, 700);
    const file = write(await json(source, 'backup'));
    await json(target, 'restore', file);
    expect(await json(target, 'suspend')).toMatchObject([{ name: 'domain:example.org', reason: 'spam.' }]);
    expect(await json(target, 'usage', 'ada@example.com')).toMatchObject([{ today: 700 }]);
    await count(target, 900);
    await json(target, 'restore', file);
    expect(await json(target, 'usage', 'ada@example.com')).toMatchObject([{ today: 900 }]);
  });

  it('a restore does not bring back an account deleted in either place unless an option requests it', async () => {
    const [source, target] = [openSource(), openTarget()];
    await fill(source);
    const older = write(await json(source, 'backup'));
    await json(source, 'delete', 'ada@example.com');
    await json(target, 'restore', write(await json(source, 'backup')));
    expect(await json(target, 'restore', older)).toMatchObject({ accounts: 0, deleted: 1 });
    expect((await runKeys(['list', 'ada@example.com'], { ...target })).code).toBe(2);
    expect(await json(target, 'restore', older, '--restore-deleted')).toMatchObject({ accounts: 1, deleted: 0 });
    expect(await json(target, 'restore', older)).toMatchObject({ accounts: 0, deleted: 0 });
    expect((await json(target, 'list', 'ada@example.com')).plan).toBe('pro');
  });

  it('a backup is written into a folder and verified, and replaces the oldest ones', async () => {
    const source = openSource();
    await fill(source);
    const folder = join(directory, `backups-${++stores}`);
    mkdirSync(folder);
    for (const day of ['20', '21']) writeFileSync(join(folder, `accounts-2020-01-${day}T00-00-00Z.json`), '{}');
    writeFileSync(join(folder, 'mine.json'), '{}');
    const { file, ...report } = await json(source, 'backup', folder, '--keep', '2');
    expect(report).toMatchObject({ accounts: 2, keys: 2, restorable: true });
    expect(readdirSync(folder).sort()).toEqual(['accounts-2020-01-21T00-00-00Z.json', basename(file), 'mine.json']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('a backup that cannot be restored is a failure, and replaces no other', async () => {
    const source = openSource();
    await fill(source);
    const folder = join(directory, `backups-${++stores}`);
    const { file: earlier } = await json(source, 'backup', folder);
    const store = await openTestStore([source.REDIS_URL].filter(Boolean), source.DATA_DIR);
    const { id: accountId = '' } = (await store.loadAccountByEmail('ada@example.com')) ?? {};
    const key = { accountId, hash: 'e'.repeat(64), lastFour: 'abcd', createdAt: '2026-11-21T10:00:00.000Z' };
    // No command issues such a key.
    await store.addKey({ ...key, label: '\u001b[2J' }, 5);
    await store.close();
    const { code, stdout } = await runKeys(['backup', folder, '--keep', '1', '--json'], { ...source });
    const { file, restorable } = JSON.parse(stdout);
    expect([code, restorable]).toEqual([1, false]);
    expect(readdirSync(folder).sort()).toEqual([basename(earlier), basename(file)].sort());
  });

  it('a backup leaves out the maintenance record that an earlier version stored', async () => {
    const source = openSource();
    const store = await openTestStore([source.REDIS_URL].filter(Boolean), source.DATA_DIR);
    await store.setRestriction('maintenance', JSON.stringify({ since: '2026-11-21T10:00:00.000Z', reason: '' }));
    await store.close();
    expect(await json(source, 'suspend')).toEqual([]);
    expect(await json(source, 'backup', join(directory, `backups-${++stores}`))).toMatchObject({ restorable: true });
  });

  it('a backup can be restored twice, and changes nothing that is there', async () => {
    const [source, target] = [openSource(), openTarget()];
    await fill(source);
    const file = write(await json(source, 'backup'));
    await json(target, 'restore', file);
    await json(target, 'plan', 'ada@example.com', 'free');
    expect(await json(target, 'restore', file)).toEqual({ accounts: 0, keys: 0, conflicts: [], deleted: 0 });
    expect((await json(target, 'list', 'ada@example.com')).plan).toBe('free');
  });

  it('a restore skips an account whose address already has another account, and reports it', async () => {
    const [source, target] = [openSource(), openTarget()];
    await fill(source);
    await json(target, 'issue', '--email', 'ada@example.com');
    const file = write(await json(source, 'backup'));
    expect(await json(target, 'restore', file)).toEqual({
      accounts: 1,
      keys: 1,
      conflicts: ['ada@example.com'],
      deleted: 0,
    });
    expect((await runKeys(['restore', file], { ...target })).stdout).toMatch(/Not restored.*: ada@example\.com/);
  });
});

describe.each([
  ['a file', embedded],
  ['Redis', inRedis],
])('restoring into %s', (_name, openTarget) => {
  it('a restore that breaks off at any moment can be repeated, and no key is ever more valid than it was', async () => {
    const at = '2026-11-21T10:00:00.000Z';
    const key = (n: number, revoked_at: string | null) => {
      const hash = `${n}`.padStart(64, '0');
      return { hash, last_four: 'abcd', label: '', created_at: at, revoked_at };
    };
    const owner = { id: 'aaaaaaaa', email: 'zoe@example.com', plan: 'free' as const, created_at: at };
    const keys = [key(1, at), key(2, null), key(3, at)];
    const accounts = [{ ...owner, quota_mails: 'off' as const, keys }];
    const backup = { format: 'transit-accounts/1' as const, exported_at: at, accounts };

    for (let writes = 1; writes < 5; writes++) {
      const target = openTarget();
      const store = await openTestStore([target.REDIS_URL].filter(Boolean), target.DATA_DIR);
      let left = writes;
      const breaking = new Proxy(store, {
        get: (_store, name: keyof typeof store) =>
          /^(find|list|wants)/.test(name)
            ? store[name]
            : (...given: never[]) => {
                if (left-- === 0) throw new Error('killed');
                return (store[name] as (...given: never[]) => unknown)(...given);
              },
      });
      await importAccounts(breaking, backup, { now: Date.parse(at) }).catch(() => {});
      const restored = (await store.listKeys(owner.id)).filter(({ revokedAt }) => revokedAt === null);
      expect(restored.filter(({ hash }) => hash !== keys[1]?.hash)).toEqual([]);
      await importAccounts(store, backup, { now: Date.parse(at) });
      expect(await store.useLink(owner.id, Date.parse(at))).toBe(false);
      expect({ ...(await exportAccounts(store, Date.parse(at))), exported_at: at }).toEqual({
        ...backup,
        format: 'transit-accounts/2',
        suspended: {},
        deleted: {},
      });
      await store.close();
    }
  });
});

/** A backup of one account with one key, with these fields replaced. */
function backupWith(account: object, key: object = {}) {
  const at = '2026-11-21T10:00:00.000Z';
  const saved = { hash: 'a'.repeat(64), last_four: 'abcd', label: '', created_at: at, revoked_at: null, ...key };
  const owner = { id: 'aaaaaaaa', email: 'a@example.com', plan: 'free', created_at: at, keys: [saved], ...account };
  return { format: 'transit-accounts/2', exported_at: at, accounts: [owner] };
}

it('an account whose ID is the name of a method is restored like any other', async () => {
  const [source, target] = [embedded(), embedded()];
  await json(source, 'restore', write(backupWith({ id: 'toString' })));
  const backup = await json(source, 'backup');
  expect(await json(target, 'restore', write(backup))).toEqual({ accounts: 1, keys: 1, conflicts: [], deleted: 0 });
});

it.each([
  ['no file', undefined, /restore needs the file/],
  ['a file that is not there', join(directory, 'nothing'), /cannot be read/],
  ['what is not JSON', write('hello'), /it is not JSON/],
  ['another document', write({ accounts: [] }), /not a backup of accounts/],
  [
    'a plan that does not exist',
    write({
      format: 'transit-accounts/1',
      exported_at: '2026-11-21T10:00:00.000Z',
      accounts: [{ id: 'a', email: 'a@example.com', plan: 'gold', created_at: '2026-11-21T10:00:00.000Z', keys: [] }],
    }),
    /plan/,
  ],
  ['an invalid ID', write(backupWith({ id: '\u001b[2J' })), /accounts\[0\]\.id/],
  ['an address that is a formula', write(backupWith({ email: '=1+1' })), /must be an email address/],
  ['a label with a terminal escape', write(backupWith({}, { label: '\u001b[2J' })), /must have no control characters/],
  ['a last four of other characters', write(backupWith({}, { last_four: '=1+1' })), /last_four/],
  [
    'an origin with a terminal escape',
    write(backupWith({}, { grant: { origins: ['https://\u009b2J.example'] } })),
    /must have no control characters/,
  ],
  ['a field with a terminal escape', write({ ...backupWith({}), '\u001b[2J': 1 }), /^(?:\P{C}|\n)*$/u],
])('a restore from %s is refused before anything is written', async (_name, file, message) => {
  const env = embedded();
  const { code, stderr } = await runKeys(['restore', ...(file ? [file] : [])], { ...env });
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  expect(await json(env, 'list')).toEqual([]);
});

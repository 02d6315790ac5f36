import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PLAN_NAMES } from '#src/access/plan.ts';
import type { AccountStore } from '#src/access/store.ts';
import { runKeys } from '#src/cli/keys.ts';
import { issueTestKey } from '../support/access.ts';
import { buildProbeApp, type ProbeApp } from '../support/probe-app.ts';
import { openTestStore, startRedis } from '../support/redis.ts';

describe.each(['embedded', 'redis'])('npm run keys with the %s store', (kind) => {
  /** Skips Redis for guarantees that do not depend on the store. */
  const embeddedOnly = (name: string, test: () => Promise<void>) => kind === 'embedded' && it(name, test);
  const dataDir = mkdtempSync(join(tmpdir(), 'transit-cli-'));
  let redisUrl = '';
  let stopRedis = async () => {};
  let store: AccountStore;
  let app: ProbeApp;

  // A service runs in this process and uses the same store.
  beforeAll(async () => {
    if (kind === 'redis') {
      const redis = await startRedis();
      redisUrl = redis.url;
      stopRedis = redis.stop;
    }
    store = await openTestStore([redisUrl].filter(Boolean), dataDir);
    // The commands use the real clock.
    app = await buildProbeApp({ store, now: new Date().toISOString() });
  }, 300_000);
  afterAll(async () => {
    await app.close();
    await store.close();
    await stopRedis();
    rmSync(dataDir, { recursive: true });
  });

  const run = (...args: string[]) => runKeys(args, { DATA_DIR: dataDir, REDIS_URL: redisUrl });
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);

  it('the command issues a publishable key with its restrictions, and a backup contains them', async () => {
    const wanted = [
      '--publishable',
      '--origin',
      'https://www.example.org',
      '--origin',
      'https://*.example.net',
      '--apps',
    ];
    const limits = ['--operation', '/v1/departures', '--per-day', '40', '--per-visitor', '20'];
    const issued = await json('issue', '--email', 'map@example.com', ...wanted, ...limits);
    expect(issued.key).toMatch(/^tis_pub_/);
    const publishable = {
      origins: ['https://www.example.org', 'https://*.example.net'],
      apps: true,
      operations: ['/v1/departures'],
      per_day: 40,
      per_visitor_hour: 20,
    };
    expect(issued.publishable).toEqual(publishable);
    expect((await json('list', 'map@example.com')).keys).toMatchObject([{ publishable }]);
    expect((await app.send(issued.key)).json().error.code).toBe('OPERATION_NOT_ALLOWED');
    const backup = await json('backup');
    const saved = backup.accounts.find(({ email }: { email: string }) => email === 'map@example.com');
    expect(saved.keys[0].grant).toMatchObject({ perDay: 40 });
    for (const [args, message] of [
      [['--publishable'], '--origin: Name at least one origin'],
      [['--publishable', '--origin', 'example.org'], '--origin: "example.org" is not an origin'],
      [['--origin', 'https://example.org'], 'need --publishable'],
    ] as const) {
      const { code, stderr } = await run('issue', '--email', 'map@example.com', ...args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  });

  it('the command issues a key that works at once, and shows it only once', async () => {
    const issued = await json('issue', '--email', ' Ada@Example.com', '--plan', 'developer', '--label', 'phone');
    expect(issued).toMatchObject({ account: { email: 'ada@example.com', plan: 'developer' }, label: 'phone' });
    expect(issued.last_four).toBe(issued.key.slice(-4));
    expect((await app.send(issued.key)).headers['x-ratelimit-limit']).toBe('50000');
    const shown = await run('list', 'ada@example.com');
    expect(shown.stdout).toContain(issued.id);
    expect(shown.stdout + JSON.stringify(await json('list'))).not.toContain(issued.key.slice(17));
  });

  embeddedOnly('the command issues a test key if the accounts are those of a sandbox', async () => {
    const sandboxDir = mkdtempSync(join(tmpdir(), 'transit-cli-sandbox-'));
    onTestFinished(() => rmSync(sandboxDir, { recursive: true }));
    const sandboxStore = await openTestStore([], sandboxDir);
    await sandboxStore.markKind('sandbox');
    await sandboxStore.close();
    const { stdout } = await runKeys(['issue', '--email', 'jo@example.com', '--json'], { DATA_DIR: sandboxDir });
    expect(JSON.parse(stdout).key).toMatch(/^tis_test_/);
  });

  it('the command revokes a key by its id or by the key itself', async () => {
    const byId = await json('issue', '--email', 'rev@example.com');
    const byKey = await json('issue', '--email', 'rev@example.com');
    expect((await json('revoke', byId.id))[0].revoked_at).toMatch(/^2/);
    expect((await run('revoke', byKey.key)).code).toBe(0);
    expect((await app.send(byId.key)).statusCode).toBe(401);
    expect((await app.send(byKey.key)).statusCode).toBe(401);
  });

  it('the command shows until when a replaced key works, and revokes it at once', async () => {
    const { id, account } = await json('issue', '--email', 'late@example.com');
    const [key] = await store.listKeys(account.id);
    await store.revokeKey(account.id, key?.hash ?? '', Date.parse('2999-01-01T00:00:00Z'));
    expect((await run('list', account.id)).stdout).toContain('valid until 2999-01-01 00:00 UTC');
    const [{ revoked_at }] = await json('revoke', id);
    expect(Date.parse(revoked_at)).toBeLessThanOrEqual(Date.now());
    expect((await json('list', account.id)).keys[0].revoked_at).toBe(revoked_at);
    expect((await run('list', account.id)).stdout).toContain(`revoked ${revoked_at.slice(0, 10)}`);
  });

  it('the command changes a plan for the next request on a limited plan, and within ten seconds from Pro', async () => {
    const { key, account } = await json('issue', '--email', 'plan@example.com');
    expect((await app.send(key)).headers['x-ratelimit-limit']).toBe('1000');
    expect(await json('plan', account.id, 'pro')).toMatchObject({ plan: 'pro', daily_limit: null });
    expect((await app.send(key)).headers['x-ratelimit-limit']).toBeUndefined();
    expect((await run('plan', 'plan@example.com', 'free')).code).toBe(0);
    app.clock.now = new Date(app.clock.now.getTime() + 10_000);
    expect((await app.send(key)).headers['x-ratelimit-limit']).toBe('1000');
  });

  it('the command shows the usage of one account or of all accounts', async () => {
    const { account } = await json('issue', '--email', 'usage@example.com');
    const now = new Date().toISOString().slice(0, 10).replaceAll('-', '');
    await store.update({
      accountId: account.id,
      day: now,
      count: 7,
      unacknowledged: 0,
      usedBySenderBefore: 0,
      sender: 'test',
      number: 1,
    });
    expect(await json('usage', 'usage@example.com')).toMatchObject([{ today: 7, yesterday: 0, daily_limit: 1000 }]);
    expect((await json('usage')).length).toBeGreaterThanOrEqual(4);
    expect((await run('usage')).stdout).toMatch(/email +plan +daily_limit +today/);
  });

  it('the command deletes an account with its keys and counts', async () => {
    const { key, account } = await json('issue', '--email', 'gone@example.com');
    await app.send(key);
    expect((await run('delete', 'gone@example.com')).stdout).toMatch(/is deleted/);
    expect((await app.send(key)).statusCode).toBe(401);
    expect((await run('list', account.id)).code).toBe(2);
    expect(JSON.stringify(await json('list'))).not.toContain('gone@example.com');
  });

  it('the command revokes all keys of an account, and several keys at once', async () => {
    const issue = () => json('issue', '--email', 'l1@example.com');
    const [first, second, third] = [await issue(), await issue(), await issue()];
    expect(await json('revoke', first.key, second.id)).toHaveLength(2);
    expect((await app.send(second.key)).statusCode).toBe(401);
    expect((await app.send(third.key)).statusCode).toBe(200);
    expect(await json('revoke', 'l1@example.com')).toMatchObject([{ id: third.id }]);
    expect((await app.send(third.key)).statusCode).toBe(401);
    const fourth = await issue();
    expect(await json('revoke', fourth.account.id)).toMatchObject([{ id: fourth.id }]);
  });

  it('the command finds accounts, lists the heaviest users first, and exports each day as CSV without formulas', async () => {
    const { account } = await json('issue', '--email', 'top@csv.example.com', '--plan', 'developer');
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    await store.raiseUsage(account.id, day(0).replaceAll('-', ''), 40_000);
    await store.raiseUsage(account.id, day(31).replaceAll('-', ''), 5);
    await json('issue', '--email', '+1-2@example.com');
    expect(await json('search', 'CSV.example')).toMatchObject([{ email: 'top@csv.example.com' }]);
    expect((await json('usage'))[0]).toMatchObject({ email: 'top@csv.example.com', today: 40_000 });
    expect(await json('usage', account.id, '--days', '32')).toMatchObject([
      { day: day(0), requests: 40_000 },
      { day: day(31), requests: 5 },
    ]);
    const { stdout } = await run('usage', account.id, '--days', '32', '--csv');
    expect(stdout).toBe(
      `id,email,plan,day,requests\n${[`${day(0)},40000`, `${day(31)},5`].map((end) => `${account.id},top@csv.example.com,developer,${end}`).join('\n')}\n`,
    );
    expect((await run('list', '--csv')).stdout).toContain(`,"'+1-2@example.com",`);
  });

  it('the command prints no terminal escape, forged line or formula from a label in the store', async () => {
    const { account } = await json('issue', '--email', 'escape@example.com');
    const label = '\n=HYPERLINK("x")\u001b[2J\u009b2J\n\u202eforged';
    const hash = 'e'.repeat(64);
    const createdAt = '2026-11-21T10:00:00.000Z';
    await store.addKey(
      { accountId: account.id, hash, lastFour: 'abcd', label, createdAt, revokedAt: null, grant: null },
      5,
    );
    const [table, csv, document] = [
      await run('list', account.id),
      await run('list', account.id, '--csv'),
      await run('list', account.id, '--json'),
    ];
    for (const { stdout } of [table, csv, document]) expect(stdout).not.toMatch(/(?!\n)\p{C}/u);
    expect(table.stdout).not.toMatch(/^\s*(=|forged)/m);
    expect(csv.stdout).toContain(`"'=HYPERLINK(""x"")`);
    expect(JSON.parse(document.stdout).keys).toContainEqual(expect.objectContaining({ label }));
  });

  it('the command issues no key whose label has control characters', async () => {
    const { code, stderr } = await run('issue', '--email', 'label@example.com', '--label', '\u001b[2J');
    expect([code, stderr]).toEqual([2, 'The label must have no control characters.\n']);
    expect(await json('search', 'label@example.com')).toEqual([]);
  });

  it('a suspended account and a suspended mail domain are refused, uncharged, until they are resumed', async () => {
    const { key, account } = await json('issue', '--email', 'sus@mail.example.org', '--plan', 'pro');
    const status = async () => {
      await app.restrictions.refresh();
      return (await app.send(key)).statusCode;
    };
    expect(await status()).toBe(200);
    for (const what of ['sus@mail.example.org', '@example.org', '127.0.0.0/8']) {
      expect((await run('suspend', what, '--reason', 'too many requests.')).code).toBe(0);
      expect([what, await status()]).toEqual([what, 403]);
      expect((await app.send(key)).json().error).toMatchObject({
        code: 'SUSPENDED',
        message: expect.stringContaining('suspended: too many requests.'),
      });
      expect((await run('suspend')).stdout).toMatch(/account:|domain:example.org|network:127.0.0.0/);
      expect((await run('suspend', what, '--lift')).code).toBe(0);
      expect([what, await status()]).toEqual([what, 200]);
    }
    await vi.waitFor(async () => expect(await json('usage', account.id)).toMatchObject([{ today: 4 }]), 60_000);
  });

  it('the first request of a key from a suspended domain is not counted', async () => {
    const { key, account } = await json('issue', '--email', 'new@fresh.example.org');
    await run('suspend', '@fresh.example.org');
    await app.restrictions.refresh();
    expect((await app.send(key)).statusCode).toBe(403);
    expect(await json('usage', account.id)).toMatchObject([{ today: 0 }]);
    await run('suspend', '@fresh.example.org', '--lift');
    await app.restrictions.refresh();
  });

  it('every instance reloads suspensions each second', async () => {
    const { key } = await json('issue', '--email', 'each@second.example.org');
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    app.restrictions.follow();
    for (const [options, status] of [
      [[], 403],
      [['--lift'], 200],
    ] as const) {
      expect((await run('suspend', '@second.example.org', ...options)).code).toBe(0);
      vi.advanceTimersByTime(1000);
      await app.restrictions.refresh();
      expect((await app.send(key)).statusCode).toBe(status);
    }
  });

  embeddedOnly('the command refuses an invalid command line with the reason and changes nothing', async () => {
    const plans = new RegExp(PLAN_NAMES.join(', '));
    await run('issue', '--email', 'wrong@example.com');
    for (const [args, message] of [
      [['issue'], /needs --email/],
      [['issue', '--email', 'nobody'], /"nobody" is not an email address/],
      [['issue', '--email', 'x@example.com', '--plan', 'gold'], plans],
      [['issue', '--email', 'wrong@example.com', '--plan', 'pro'], /plan wrong@example.com pro/],
      [['plan', 'wrong@example.com'], plans],
      [['list', 'nobody@example.com'], /no account nobody@example.com/],
      [['revoke', 'AAAAAAAA-00000000'], /no key/],
      [['give'], /no command give/],
      [['search'], /part of an address/],
      [['revoke'], /Name the keys/],
      [['restore', '/nothing/here'], /cannot be read/],
      [['usage', '--days', '33'], /from 1 to 32/],
      [['suspend', '@gmail.com'], /Add --yes/],
      [['suspend', '@schools.nsw.edu.au'], /Add --yes/],
      [['suspend', '10.0.0.0/4'], /wider than/],
      [['suspend', '@nothing'], /not @ and a mail domain/],
      [['suspend', '@example.net', '--lift'], /not suspended/],
      [['list', '--yaml'], /Unknown option/],
    ] as const) {
      const { code, stderr, stdout } = await run(...args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(message);
    }
    expect(JSON.stringify(await json('list'))).not.toContain('x@example.com');
  });

  it('the command cannot issue a sixth valid key', async () => {
    for (let n = 0; n < 5; n++) await issueTestKey(store, { email: 'many@example.com' });
    expect((await run('issue', '--email', 'many@example.com')).stderr).toMatch(/5 valid keys already/);
  });

  embeddedOnly('the command never writes the text of a key to disk', async () => {
    const { key } = await json('issue', '--email', 'disk@example.com');
    const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), 'latin1'));
    expect(files.length).toBeGreaterThan(0);
    expect(files.join('')).not.toContain(key.slice(17, 44));
  });
});

it('the command reports that Redis does not respond instead of hanging', async () => {
  const { code, stderr } = await runKeys(['list'], { REDIS_URL: 'redis://127.0.0.1:1' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/account store could not be used: no usable Redis replies at REDIS_URL/);
});

it('the command that the runbook gives for a table of usage prints nothing else', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'transit-cli-'));
  const operations = readFileSync('docs/operations.md', 'utf8');
  const [, command = ''] = /`(npm run [^`>]*--csv) > month\.csv`/.exec(operations) ?? [];
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { ...process.env, DATA_DIR: dataDir } });
  rmSync(dataDir, { recursive: true });
  // No account has requests.
  expect(stdout).toBe('\n');
});

it.each(['keys.ts help', 'timetable.ts', 'upstream.ts config'])(
  'the command %s ends quietly when its output is not read to the end, as by `head`',
  async (command) => {
    const env = { ...process.env, SANDBOX: '1' };
    const { stderr } = await promisify(execFile)('sh', ['-c', `${process.execPath} src/cli/${command} | true`], {
      env,
    });
    expect(stderr).toBe('');
  },
);

it('the command prints nothing but JSON when it is run with npm --silent and --json', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'transit-cli-'));
  const npm = (...args: string[]) =>
    promisify(execFile)('npm', ['run', '--silent', 'keys', '--', ...args], {
      env: { ...process.env, DATA_DIR: dataDir },
    });
  const issued = JSON.parse((await npm('issue', '--email', 'a@example.com', '--json')).stdout);
  expect((await npm('list', 'a@example.com')).stdout).toContain(issued.id);
  await expect(npm('list', 'b@example.com')).rejects.toMatchObject({ code: 2, stdout: '' });
  rmSync(dataDir, { recursive: true });
});

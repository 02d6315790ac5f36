import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiKey, generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import { PLANS, type PlanName } from '#src/access/plan.ts';
import { Quota } from '#src/access/quota.ts';
import { type AccountStore, SANDBOX_EMAIL } from '#src/access/store.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { countRequests, issueTestKey } from '../support/access.ts';
import { openTestStore, startRedis, startRedisCluster } from '../support/redis.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const TODAY = '20261121';
const directory = mkdtempSync(join(tmpdir(), 'transit-store-'));
afterAll(() => rmSync(directory, { recursive: true }));

const OPENERS = {
  'the embedded store': async () => {
    const store = openEmbeddedStore(join(directory, 'accounts.db'));
    return { store, close: () => store.close() };
  },
  Redis: async () => {
    const redis = await startRedis();
    const store = await openTestStore([redis.url]);
    return { store, close: () => store.close().then(redis.stop) };
  },
  'a Redis cluster': async () => {
    const cluster = await startRedisCluster();
    const store = await openTestStore(cluster.url.split(','));
    return { store, close: () => store.close().then(cluster.stop) };
  },
} satisfies Record<string, () => Promise<{ store: AccountStore; close: () => Promise<void> }>>;

describe.each(Object.entries(OPENERS))('%s', (_name, open) => {
  let store: AccountStore;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ store, close } = await open());
  });
  afterAll(() => close());

  it('the store records whose accounts it holds', async () => {
    expect(await store.loadKind()).toBeNull();
    const { id } = await store.openAccount({ email: SANDBOX_EMAIL, plan: 'pro', createdAt: NOW.toISOString() });
    expect(await store.loadKind()).toBe('sandbox');
    await store.openAccount({ email: 'ada@example.com', plan: 'pro', createdAt: NOW.toISOString() });
    expect(await store.loadKind()).toBe('real');
    await store.deleteAccount(id, NOW.getTime());
    await store.markKind('sandbox');
    await store.markKind('real');
    expect(await store.loadKind()).toBe('sandbox');
  });

  it('the store treats an unknown plan as the smallest one, and logs it once', async () => {
    const key = await issueTestKey(store);
    const { accountId } = parseKey(key) as ApiKey;
    await store.setPlan(accountId, 'business' as PlanName);
    const warnings: object[] = [];
    const quota = new Quota({
      store,
      now: () => NOW.getTime(),
      log: { warn: (fields: object) => warnings.push(fields) },
    });
    for (let request = 0; request < 2; request++) {
      const admission = await quota.admit(parseKey(key) as ApiKey);
      expect(admission).toMatchObject({ kind: 'admitted', caller: { accountId, plan: 'free' } });
    }
    await countRequests(store, key, PLANS.free.dailyLimit, TODAY);
    expect(await quota.admit(parseKey(key) as ApiKey)).toMatchObject({ kind: 'exhausted' });
    expect(warnings).toEqual([{ plan: 'business', countsAs: 'free' }]);
    expect(await store.loadAccount(accountId)).toMatchObject({ plan: 'free' });
    await quota.close();
  });

  let people = 0;
  const openAccount = (plan: 'free' | 'developer' | 'pro' = 'free', email = `person-${++people}@example.com`) =>
    store.openAccount({ email, plan, createdAt: NOW.toISOString() });

  async function addKey(accountId: string, createdAt = NOW): Promise<string> {
    const key = parseKey(generateKey('live', accountId));
    if (!key) throw new Error('no key');
    const { hash, lastFour } = key;
    const record = { accountId, hash, lastFour, label: 'phone "Ω"', createdAt: createdAt.toISOString() };
    expect(await store.addKey(record, 5)).toBe(true);
    return hash;
  }

  async function openWithKey(plan: 'free' | 'developer' | 'pro' = 'free') {
    const account = await openAccount(plan);
    return { account, request: { accountId: account.id, keyHash: await addKey(account.id), day: TODAY, sender: 'a' } };
  }

  const update = (accountId: string, count: number, number: number, unacknowledged = 0, usedBySenderBefore = 0) =>
    store.update({ accountId, day: TODAY, count, unacknowledged, usedBySenderBefore, sender: 'a', number });

  it('the store opens one account per address, even for concurrent requests', async () => {
    const opened = await Promise.all(
      ['free', 'pro', 'free'].map((plan) => openAccount(plan as 'free', 'same@example.com')),
    );
    expect(new Set(opened.map(({ id, plan }) => `${id} ${plan}`)).size).toBe(1);
    expect(await store.loadAccountByEmail('same@example.com')).toEqual(opened[0]);
    expect(await store.loadAccount(opened[0]?.id ?? '')).toEqual(opened[0]);
  });

  it('an empty store finds nothing', async () => {
    const id = generateAccountId();
    expect(await store.loadAccount(id)).toBeNull();
    expect(await store.loadAccountByEmail('nobody@example.com')).toBeNull();
    expect(await store.listKeys(id)).toEqual([]);
    expect(await store.setPlan(id, 'pro')).toBe(false);
    expect(await store.revokeKey(id, 'hash', NOW.getTime())).toBe(false);
    expect(await store.deleteAccount(id, NOW.getTime())).toBe(false);
    expect(
      await store
        .addKey({ accountId: id, hash: 'h', lastFour: 'abcd', label: '', createdAt: '' }, 5)
        .catch(() => false),
    ).toBe(false);
    expect(await store.admit({ accountId: id, keyHash: 'hash', day: TODAY, sender: 'a' })).toEqual({ kind: 'unknown' });
  });

  it('the store lists accounts by address', async () => {
    await openAccount('free', 'zoe@example.com');
    await openAccount('free', 'ada@example.com');
    const emails = (await store.listAccounts()).map(({ email }) => email);
    expect(emails).toEqual([...emails].sort());
    expect(emails).toEqual(expect.arrayContaining(['ada@example.com', 'zoe@example.com']));
  });

  it('the store lists keys oldest first, with what people need to tell them apart', async () => {
    const { id } = await openAccount();
    const second = await addKey(id, new Date('2026-11-02T00:00:00Z'));
    const first = await addKey(id, new Date('2026-11-01T00:00:00Z'));
    expect(await store.listKeys(id)).toEqual([
      expect.objectContaining({
        hash: first,
        accountId: id,
        label: 'phone "Ω"',
        createdAt: '2026-11-01T00:00:00.000Z',
        revokedAt: null,
      }),
      expect.objectContaining({ hash: second }),
    ]);
  });

  it('an account never has more than five valid keys, even after concurrent requests', async () => {
    const { id } = await openAccount();
    const send = (n: number) =>
      store.addKey({ accountId: id, hash: `${id}${n}`, lastFour: 'abcd', label: '', createdAt: NOW.toISOString() }, 5);
    const added = await Promise.all(Array.from({ length: 12 }, (_, n) => send(n)));
    expect(added.filter(Boolean)).toHaveLength(5);
    await store.revokeKey(id, (await store.listKeys(id))[0]?.hash ?? '', NOW.getTime());
    expect(await send(99)).toBe(true);
    expect(await send(100)).toBe(false);
  });

  it('the store counts every admitted request once and stops at the limit', async () => {
    const { request, account } = await openWithKey('free');
    const responses = await Promise.all(Array.from({ length: 1100 }, () => store.admit(request)));
    const used = responses.flatMap((response) => (response.kind === 'admitted' ? response.used : []));
    expect(used.sort((a, b) => a - b)).toEqual(Array.from({ length: 1000 }, (_, n) => n + 1));
    expect(responses.at(-1)).toMatchObject({ kind: 'exhausted', plan: 'free', used: 1000 });
    expect(await store.loadUsage(account.id, [TODAY, '20261120'])).toEqual([1000, 0]);
  });

  it('all keys of an account share one count in the store', async () => {
    const { account, request } = await openWithKey();
    const other = { ...request, keyHash: await addKey(account.id) };
    await store.admit(request);
    expect(await store.admit(other)).toMatchObject({ kind: 'admitted', plan: 'free', used: 2 });
  });

  it('the store sets no limit for Pro, but still counts requests', async () => {
    const { request, account } = await openWithKey('pro');
    for (let n = 0; n < 1010; n++) await store.admit(request);
    expect(await store.admit(request)).toMatchObject({ kind: 'admitted', plan: 'pro', used: 1011 });
    expect(await store.loadUsage(account.id, [TODAY])).toEqual([1011]);
  });

  it('the store counts from zero each day, and adds a late count to its own day', async () => {
    const { request, account } = await openWithKey();
    await store.admit(request);
    await store.admit(request);
    expect(await store.admit({ ...request, day: '20261122' })).toMatchObject({ used: 1 });
    expect(await store.admit(request)).toMatchObject({ used: 3 });
    expect(await store.loadUsage(account.id, [TODAY, '20261122'])).toEqual([3, 1]);
  });

  it('the store distinguishes revoked from unknown keys at once, and keeps the first revocation time', async () => {
    const { request, account } = await openWithKey();
    expect(await store.revokeKey(account.id, request.keyHash, NOW.getTime())).toBe(true);
    expect(await store.revokeKey(account.id, request.keyHash, Date.parse('2027-01-01T00:00:00Z'))).toBe(true);
    expect(await store.admit(request)).toEqual({ kind: 'revoked' });
    expect(await store.listKeys(account.id)).toMatchObject([{ revokedAt: NOW.toISOString(), label: 'phone "Ω"' }]);
  });

  it('the store accepts a key until the day it ends; of two such days the earlier one applies', async () => {
    const { request, account } = await openWithKey();
    await store.revokeKey(account.id, request.keyHash, Date.parse('2026-11-23T00:00:00Z'));
    for (const day of [TODAY, '20261122'])
      expect(await store.admit({ ...request, day })).toMatchObject({ kind: 'admitted' });
    expect(await store.admit({ ...request, day: '20261123' })).toEqual({ kind: 'revoked' });
    await store.revokeKey(account.id, request.keyHash, NOW.getTime());
    expect(await store.admit(request)).toEqual({ kind: 'revoked' });
    expect(await store.listKeys(account.id)).toMatchObject([{ revokedAt: NOW.toISOString() }]);
  });

  it('the store returns when an ending key ends, and when that was decided', async () => {
    const { request, account } = await openWithKey();
    expect(await store.admit(request)).not.toHaveProperty('ending');
    await store.revokeKey(account.id, request.keyHash, Date.parse('2026-11-23T00:00:00Z'), NOW.getTime());
    expect(await store.admit(request)).toMatchObject({
      ending: { decidedAt: NOW.toISOString(), endsAt: '2026-11-23T00:00:00.000Z' },
    });
  });

  it('the store grants each daily-limit mail to one caller, and none if the owner wants none', async () => {
    const { request, account } = await openWithKey();
    await store.admit(request);
    const claim = (percent: number) => store.claimQuotaMail(account.id, TODAY, percent);
    expect((await Promise.all([claim(80), claim(80), claim(80)])).filter(Boolean)).toHaveLength(1);
    expect([await claim(100), await claim(100), await claim(80)]).toEqual([true, false, false]);
    await store.admit({ ...request, day: '20261122' });
    expect(await store.wantsQuotaMails(account.id)).toBe(true);
    expect(await store.setQuotaMails(account.id, false)).toBe(true);
    expect(await store.wantsQuotaMails(account.id)).toBe(false);
    expect(await store.claimQuotaMail(account.id, '20261122', 80)).toBe(false);
    expect(await store.setQuotaMails('nobody00', false)).toBe(false);
  });

  it('the store lets only one caller use a link, and then no link issued earlier', async () => {
    const { account } = await openWithKey();
    const use = (ms: number, id = account.id) => store.useLink(id, NOW.getTime() + ms);
    expect((await Promise.all([use(5), use(5), use(5)])).filter(Boolean)).toHaveLength(1);
    expect([await use(4), await use(5), await use(6), await use(6)]).toEqual([false, false, true, false]);
    expect(await use(7, 'nobody00')).toBe(false);
  });

  it('the store records the day a key was last used', async () => {
    const { request, account } = await openWithKey();
    expect(await store.listKeys(account.id)).toMatchObject([{ lastUsedOn: null }]);
    await store.admit(request);
    await store.admit({ ...request, day: '20261122' });
    expect(await store.listKeys(account.id)).toMatchObject([{ lastUsedOn: '20261122', label: 'phone "Ω"' }]);
  });

  it('the store keeps the counts of a month', async () => {
    const { request, account } = await openWithKey();
    await store.admit({ ...request, day: '20261023' });
    await store.admit(request);
    expect(await store.loadUsage(account.id, ['20261023', TODAY])).toEqual([1, 1]);
  });

  it('the store does not accept a key for another account', async () => {
    const { request } = await openWithKey();
    const { account: other } = await openWithKey();
    expect(await store.admit({ ...request, accountId: other.id })).toEqual({ kind: 'unknown' });
  });

  it('the store applies a change of plan to the next request', async () => {
    const { request, account } = await openWithKey('free');
    await update(account.id, 1000, 1);
    expect(await store.admit(request)).toMatchObject({ kind: 'exhausted' });
    expect(await store.setPlan(account.id, 'developer')).toBe(true);
    expect(await store.admit(request)).toMatchObject({ kind: 'admitted', plan: 'developer', used: 1001 });
  });

  it('the store refunds, but never below zero', async () => {
    const { request, account } = await openWithKey();
    await store.admit(request);
    await store.admit(request);
    await update(account.id, -1, 1);
    expect(await store.loadUsage(account.id, [TODAY])).toEqual([1]);
    await update(account.id, -5, 2);
    expect(await store.admit(request)).toMatchObject({ used: 1 });
  });

  it('the store deletes everything of an account, and ignores late counts for it', async () => {
    const { request, account } = await openWithKey();
    await store.admit(request);
    expect(await store.deleteAccount(account.id, NOW.getTime())).toBe(true);
    await update(account.id, 3, 1);
    expect(await store.admit(request)).toEqual({ kind: 'unknown' });
    expect(await store.loadAccountByEmail(account.email)).toBeNull();
    expect(await store.listKeys(account.id)).toEqual([]);
    expect(await store.loadUsage(account.id, [TODAY])).toEqual([0]);
    expect((await store.listAccounts()).map(({ id }) => id)).not.toContain(account.id);
  });
});

import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ApiKey, generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import { Quota } from '#src/access/quota.ts';
import type { AdmissionReply, CountUpdate, QuotaStore } from '#src/access/store.ts';
import { sleep, systemClock } from '#src/core/clock.ts';
import { UnavailableError } from '#src/core/redis/connection.ts';
import { createPresence } from '#src/core/redis/presence.ts';

/** A remote store whose responses the test chooses. */
interface ScriptedStore extends QuotaStore {
  admissionRequests: number;
  probes: number;
  /** The sum of what updates have added to the account's count. */
  counted: number;
  response: () => Promise<AdmissionReply>;
  isReachable: boolean;
  usedBySender: number;
}

const MARGIN_MS = 60;
const log = pino({ level: 'silent' });
let clock: Date;
let store: ScriptedStore;
let quota: Quota;
let key: ApiKey;
let instances: number;

beforeEach(() => {
  vi.useFakeTimers();
  clock = new Date('2026-11-21T10:00:00Z');
  key = newKey();
  instances = 1;
  store = {
    isRemote: true,
    presence: createPresence({ storeName: 'the store', nodeOf: () => '', probe, log, marginMs: MARGIN_MS }),
    instances: () => instances,
    admissionRequests: 0,
    probes: 0,
    counted: 0,
    isReachable: true,
    usedBySender: 0,
    response: async () => admitted('free', 1),
    admit: () => {
      store.admissionRequests++;
      return store.response();
    },
    loadKey: async () => {
      throw unavailable('not-sent');
    },
    check: async () => 'writable',
    update: async ({ count, unacknowledged, usedBySenderBefore }: CountUpdate) => {
      if (!store.isReachable) throw unavailable('not-sent');
      store.counted += count - Math.min(unacknowledged, Math.max(0, store.usedBySender - usedBySenderBefore));
      return store.usedBySender;
    },
  };
  quota = new Quota({ store, now: () => clock.getTime(), log });
});
afterEach(() => vi.useRealTimers());

/** Timers move on; the time of day is moved by `later`. */
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);
/** Settles like the work, with so much time to do it in. */
async function within<T>(ms: number, work: T): Promise<Awaited<T>> {
  const [outcome] = await Promise.all([Promise.allSettled([work]), advance(ms)]);
  if (outcome[0].status === 'rejected') throw outcome[0].reason;
  return outcome[0].value;
}

async function probe(): Promise<void> {
  store.probes++;
  if (!store.isReachable) throw unavailable('not-sent');
}

function newKey(): ApiKey {
  const parsed = parseKey(generateKey('live', generateAccountId()));
  if (!parsed) throw new Error('no key');
  return parsed;
}
const admitted = (plan: 'free' | 'pro', used: number): AdmissionReply => ({
  kind: 'admitted',
  plan,
  used,
  usedBySender: used,
});
const exhausted = async (): Promise<AdmissionReply> => ({
  kind: 'exhausted',
  plan: 'free',
  used: 1000,
  usedBySender: 0,
});
const unavailable = (reason: UnavailableError['reason']) => new UnavailableError('unreachable', reason);
const later = (ms: number) => {
  clock = new Date(clock.getTime() + ms);
};

function goAway(reason: UnavailableError['reason']): void {
  store.isReachable = false;
  store.response = () => Promise.reject(unavailable(reason));
}
async function comeBack(): Promise<void> {
  store.isReachable = true;
  store.response = async () => admitted('free', 500);
  await advance(400);
}

/** Brings the store back first, because closing the quota without it takes two seconds of retries. */
async function closeQuota(): Promise<void> {
  store.isReachable = true;
  await within(2000, quota.close());
}

describe('the cache of known keys', () => {
  it('a known Pro key is checked once in ten seconds and charged in the background', async () => {
    store.response = async () => admitted('pro', 1);
    for (let n = 0; n < 100; n++) expect((await quota.admit(key))?.kind).toBe('admitted');
    expect(store.admissionRequests).toBe(1);
    await advance(200);
    expect(store.counted).toBe(99);
    later(10_000);
    store.response = async () => ({ kind: 'unknown' });
    expect(await quota.admit(key)).toBeNull();
  });

  it('an exhausted account is checked once in five seconds, and then admitted if it has requests left', async () => {
    store.response = exhausted;
    for (let n = 0; n < 50; n++) expect((await quota.admit(key))?.kind).toBe('exhausted');
    expect(store.admissionRequests).toBe(1);
    store.response = async () => admitted('free', 1);
    later(5_001);
    expect((await quota.admit(key))?.kind).toBe('admitted');
  });

  it('an exhausted account is checked again at midnight and after a refund', async () => {
    const admission = await quota.admit(key);
    store.response = exhausted;
    await quota.admit(key);
    store.response = async () => admitted('free', 1000);
    if (admission) await quota.refund(admission);
    expect((await quota.admit(key))?.kind).toBe('admitted');

    clock = new Date('2026-11-21T23:59:59.900Z');
    store.response = exhausted;
    await quota.admit(key);
    store.response = async () => admitted('free', 1);
    later(100);
    expect((await quota.admit(key))?.kind).toBe('admitted');
  });

  it('an unknown key is looked up once in five seconds', async () => {
    store.response = async () => ({ kind: 'unknown' });
    for (let n = 0; n < 50; n++) expect(await quota.admit(key)).toBeNull();
    expect(store.admissionRequests).toBe(1);
    later(5_001);
    await quota.admit(key);
    expect(store.admissionRequests).toBe(2);
  });

  it('an unknown key with the account ID of an exhausted account is still unknown', async () => {
    store.response = exhausted;
    await quota.admit(key);
    store.response = async () => ({ kind: 'unknown' });
    expect(await quota.admit({ ...key, hash: 'another' })).toBeNull();
  });
});

describe.each([
  ['back by an hour', -3_600_000],
  ['back by a day', -86_400_000],
  ['forwards by an hour', 3_600_000],
  ['forwards by a day', 86_400_000],
])('the cache of known keys when the clock is set %s', (_name, ms) => {
  it('no entry cached before the clock was set replaces a lookup', async () => {
    store.response = async () => admitted('pro', 1);
    await quota.admit(key);
    later(ms);
    store.response = async () => ({ kind: 'unknown' });
    expect(await quota.admit(key)).toBeNull();
    later(ms);
    store.response = exhausted;
    expect((await quota.admit(key))?.kind).toBe('exhausted');
    later(ms);
    store.response = async () => admitted('free', 1);
    expect((await quota.admit(key))?.kind).toBe('admitted');
  });
});

describe('known keys while the store is unreachable', () => {
  it('keys verified in the last ten minutes still work while the store is unreachable, and all others get 503', async () => {
    await quota.admit(key);
    goAway('not-sent');
    later(10 * 60_000);
    expect((await quota.admit(key))?.kind).toBe('admitted');
    await expect(quota.admit(newKey())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      headers: { 'retry-after': '5' },
    });
    later(1);
    await expect(quota.admit(key)).rejects.toMatchObject({ statusCode: 503 });
    await closeQuota();
  });

  it('only a probe contacts a store that is unreachable', async () => {
    await quota.admit(key);
    goAway('not-sent');
    for (let n = 0; n < 20; n++) await quota.admit(key);
    await expect(quota.admit(newKey())).rejects.toMatchObject({ statusCode: 503 });
    expect(store.admissionRequests).toBe(2);
    await advance(250);
    expect(store.probes).toBeGreaterThanOrEqual(1);
    expect(store.admissionRequests).toBe(2);
    await closeQuota();
  });

  it('the daily limit still holds without the store, as far as this process knows', async () => {
    store.response = async () => admitted('free', 998);
    await quota.admit(key);
    goAway('not-sent');
    const kinds = [];
    for (let n = 0; n < 4; n++) kinds.push((await quota.admit(key))?.kind);
    expect(kinds).toEqual(['admitted', 'admitted', 'exhausted', 'exhausted']);
    await closeQuota();
  });

  it('one of three instances without the store admits a third of the remaining requests, rounded up, then answers 503', async () => {
    instances = 3;
    store.response = async () => admitted('free', 990);
    await quota.admit(key);
    goAway('not-sent');
    for (let n = 1; n <= 4; n++) expect((await quota.admit(key))?.used).toBe(990 + n);
    await expect(quota.admit(key)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await closeQuota();
  });

  it('an account exhausted before the store became unreachable stays refused', async () => {
    store.response = async () => admitted('free', 1000);
    await quota.admit(key);
    goAway('not-sent');
    expect((await quota.admit(key))?.kind).toBe('exhausted');
    await closeQuota();
  });

  it('requests refunded while the store is unreachable can be used again', async () => {
    instances = 2;
    store.response = async () => admitted('free', 998);
    await quota.admit(key);
    goAway('not-sent');
    const admission = await quota.admit(key);
    await expect(quota.admit(key)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    if (admission) await quota.refund(admission);
    expect((await quota.admit(key))?.kind).toBe('admitted');
    await closeQuota();
  });

  it('admissions made without the store are sent to it before it checks the account again', async () => {
    await quota.admit(key);
    goAway('not-sent');
    let served = 0;
    const send = async () => {
      served += Number((await quota.admit(key))?.kind === 'admitted');
    };
    for (let n = 0; n < 10; n++) await send();
    const order: string[] = [];
    const { update } = store;
    store.update = async (change) => {
      order.push('update');
      await sleep(systemClock, 30);
      return update(change);
    };
    store.isReachable = true;
    store.response = async () => {
      order.push('admission request');
      return admitted('free', 12);
    };
    while (!order.includes('admission request')) await within(40, send());
    await advance(400);
    expect(order[0]).toBe('update');
    expect(store.counted).toBe(served - 1);
  });

  it('an account whose count the store refuses is admitted locally, others by the store', async () => {
    const refused = newKey();
    const { update } = store;
    store.update = (change) =>
      change.accountId === refused.accountId ? Promise.reject(unavailable('refused')) : update(change);
    const admission = await quota.admit(refused);
    if (admission) await quota.refund(admission);
    const before = store.admissionRequests;
    expect((await quota.admit(refused))?.kind).toBe('admitted');
    expect(store.admissionRequests).toBe(before);
    expect((await quota.admit(key))?.kind).toBe('admitted');
    expect(store.admissionRequests).toBe(before + 1);
    expect(store.probes).toBe(0);
  });

  it('a failed refund is retried later', async () => {
    const admission = await quota.admit(key);
    goAway('not-sent');
    if (admission) await quota.refund(admission);
    expect(store.counted).toBe(0);
    await comeBack();
    expect(store.counted).toBe(-1);
  });
});

describe('admissions whose response from the store is lost', () => {
  it.each([
    ['arrives late and reports the request as counted', () => admitted('free', 2), 0],
    [
      'arrives late and reports the request as not counted',
      (): AdmissionReply => ({ kind: 'exhausted', plan: 'free', used: 1000, usedBySender: 0 }),
      1,
    ],
  ])('a request of a known key is counted once when the store’s response %s', async (_name, lateAnswer, count) => {
    await quota.admit(key);
    const { promise, resolve } = Promise.withResolvers<AdmissionReply>();
    store.response = () => promise;
    expect((await within(100, quota.admit(key)))?.kind).toBe('admitted');
    resolve(lateAnswer());
    await comeBack();
    expect(store.counted).toBe(count);
  });

  it('a refused request is refunded if the store turns out to have counted it', async () => {
    const { promise, resolve } = Promise.withResolvers<AdmissionReply>();
    store.response = () => promise;
    await expect(within(1000, quota.admit(key))).rejects.toMatchObject({ statusCode: 503 });
    resolve(admitted('free', 1));
    await comeBack();
    expect(store.counted).toBe(-1);
  });

  it.each([
    ['none of them', 3, 2],
    ['one of them', 4, 1],
    ['all of them', 5, 0],
  ])(
    'requests with lost responses are reconciled when the store had counted %s',
    async (_which, usedBySender, count) => {
      store.response = async () => admitted('free', 3);
      await quota.admit(key);
      goAway('no-response');
      const [one, other] = await Promise.all([quota.admit(key), quota.admit(key)]);
      expect([one?.kind, other?.kind]).toEqual(['admitted', 'admitted']);
      store.usedBySender = usedBySender;
      await comeBack();
      expect(store.counted).toBe(count);
    },
  );

  it('the service does not treat a store that responds slowly but steadily as unreachable', async () => {
    let turn = Promise.resolve();
    store.response = () => {
      turn = turn.then(() => sleep(systemClock, MARGIN_MS / 3));
      return turn.then(() => admitted('free', 1));
    };
    const sent = Promise.all(Array.from({ length: 12 }, () => quota.admit(newKey())));
    const kinds = (await within(1000, sent)).map((response) => response?.kind);
    expect(kinds).toEqual(Array.from({ length: 12 }, () => 'admitted'));
    expect(store.probes).toBe(0);
  });

  it('a busy process does not treat the store as unreachable', async () => {
    vi.useRealTimers();
    store.response = () => new Promise((resolve) => void setImmediate(resolve, admitted('free', 1)));
    const sent = quota.admit(newKey());
    const until = performance.now() + 5 * MARGIN_MS;
    while (performance.now() < until);
    expect((await sent)?.kind).toBe('admitted');
    expect(store.probes).toBe(0);
  });
});

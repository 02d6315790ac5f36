import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { createGate, type Gate } from '#src/access/gate.ts';
import { type ApiKey, generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import { type Batch, type Counter, type StoreAnswer, StoreAwayError } from '#src/access/store.ts';

/** A remote store that does as it is told. */
interface Told extends Counter {
  asked: number;
  pings: number;
  batches: Batch[];
  answer: () => Promise<StoreAnswer>;
  isReachable: boolean;
  bySender: number;
}

const SILENCE_MS = 60;
let clock: Date;
let store: Told;
let gate: Gate;
let key: ApiKey;

beforeEach(() => {
  clock = new Date('2026-11-21T10:00:00Z');
  key = newKey();
  store = {
    isRemote: true,
    asked: 0,
    pings: 0,
    batches: [],
    isReachable: true,
    bySender: 0,
    answer: async () => admitted('free', 1),
    partOf: () => '',
    admit: () => {
      store.asked++;
      return store.answer();
    },
    add: async (batch) => {
      if (!store.isReachable) throw away(false);
      store.batches.push(batch);
    },
    countBySender: async () => store.bySender,
    ping: async () => {
      store.pings++;
      if (!store.isReachable) throw away(false);
    },
  };
  gate = createGate({ store, now: () => clock, log: pino({ level: 'silent' }), silenceMs: SILENCE_MS });
});

function newKey(): ApiKey {
  const parsed = parseKey(generateKey('live', generateAccountId()));
  if (!parsed) throw new Error('no key');
  return parsed;
}
const admitted = (plan: 'free' | 'pro', used: number): StoreAnswer => ({
  kind: 'admitted',
  plan,
  used,
  bySender: used,
});
const away = (isInDoubt: boolean) => new StoreAwayError('away', { isInDoubt });
const later = (ms: number) => {
  clock = new Date(clock.getTime() + ms);
};
const settled = () => store.batches.reduce((sum, { count }) => sum + count, 0);

function goAway(isInDoubt: boolean): void {
  store.isReachable = false;
  store.answer = () => Promise.reject(away(isInDoubt));
}
async function comeBack(): Promise<void> {
  store.isReachable = true;
  store.answer = async () => admitted('free', 500);
  await sleep(400);
}

describe('what is remembered', () => {
  it('Pro: asks the store once in ten seconds and counts the rest in the background', async () => {
    store.answer = async () => admitted('pro', 1);
    for (let n = 0; n < 100; n++) expect((await gate.admit(key))?.kind).toBe('admitted');
    expect(store.asked).toBe(1);
    await sleep(200);
    expect(settled()).toBe(99);
    later(10_000);
    store.answer = async () => ({ kind: 'unknown' });
    expect(await gate.admit(key)).toBeNull();
  });

  it('a spent account costs the store one question in five seconds, and is let in as soon as its limit may have changed', async () => {
    store.answer = async () => ({ kind: 'exhausted', plan: 'free', used: 1000 });
    for (let n = 0; n < 50; n++) expect((await gate.admit(key))?.kind).toBe('exhausted');
    expect(store.asked).toBe(1);
    store.answer = async () => admitted('free', 1);
    later(5_001);
    expect((await gate.admit(key))?.kind).toBe('admitted');
  });

  it('a spent account is asked about again at midnight, and after one of its requests was given back', async () => {
    const admission = await gate.admit(key);
    store.answer = async () => ({ kind: 'exhausted', plan: 'free', used: 1000 });
    await gate.admit(key);
    store.answer = async () => admitted('free', 1000);
    if (admission) await gate.giveBack(admission);
    expect((await gate.admit(key))?.kind).toBe('admitted');

    clock = new Date('2026-11-21T23:59:59.900Z');
    store.answer = async () => ({ kind: 'exhausted', plan: 'free', used: 1000 });
    await gate.admit(key);
    store.answer = async () => admitted('free', 1);
    later(100);
    expect((await gate.admit(key))?.kind).toBe('admitted');
  });

  it('a key that is not known costs one question in five seconds', async () => {
    store.answer = async () => ({ kind: 'unknown' });
    for (let n = 0; n < 50; n++) expect(await gate.admit(key)).toBeNull();
    expect(store.asked).toBe(1);
    later(5_001);
    await gate.admit(key);
    expect(store.asked).toBe(2);
  });

  it('a spent account says nothing about other keys that bear its name', async () => {
    store.answer = async () => ({ kind: 'exhausted', plan: 'free', used: 1000 });
    await gate.admit(key);
    store.answer = async () => ({ kind: 'unknown' });
    expect(await gate.admit({ ...key, hash: 'another' })).toBeNull();
  });
});

describe('while the store is away', () => {
  it('keys verified in the last ten minutes go on; then and any other key: 503', async () => {
    await gate.admit(key);
    goAway(false);
    later(10 * 60_000);
    expect((await gate.admit(key))?.kind).toBe('admitted');
    await expect(gate.admit(newKey())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      headers: { 'retry-after': '5' },
    });
    later(1);
    await expect(gate.admit(key)).rejects.toMatchObject({ statusCode: 503 });
    await gate.close();
  });

  it('nobody but a probe asks it', async () => {
    await gate.admit(key);
    goAway(false);
    for (let n = 0; n < 20; n++) await gate.admit(key);
    await expect(gate.admit(newKey())).rejects.toMatchObject({ statusCode: 503 });
    expect(store.asked).toBe(2);
    await sleep(250);
    expect(store.pings).toBeGreaterThanOrEqual(1);
    expect(store.asked).toBe(2);
    await gate.close();
  });

  it('the limit holds as far as this process knows', async () => {
    store.answer = async () => admitted('free', 998);
    await gate.admit(key);
    goAway(false);
    const kinds = [];
    for (let n = 0; n < 4; n++) kinds.push((await gate.admit(key))?.kind);
    expect(kinds).toEqual(['admitted', 'admitted', 'exhausted', 'exhausted']);
    await gate.close();
  });

  it('what was served is told to the store when it is back, before anybody asks it again', async () => {
    await gate.admit(key);
    goAway(false);
    let served = 0;
    const ask = async () => {
      served += Number((await gate.admit(key))?.kind === 'admitted');
    };
    for (let n = 0; n < 10; n++) await ask();
    const order: string[] = [];
    const { add } = store;
    store.add = async (batch) => {
      order.push('told');
      await sleep(30);
      await add(batch);
    };
    store.isReachable = true;
    store.answer = async () => {
      order.push('asked');
      return admitted('free', 12);
    };
    while (!order.includes('asked')) {
      await ask();
      await sleep(5);
    }
    await sleep(400);
    expect(order[0]).toBe('told');
    expect(settled()).toBe(served - 1);
  });

  it('a failed give-back is made good later', async () => {
    const admission = await gate.admit(key);
    goAway(false);
    if (admission) await gate.giveBack(admission);
    expect(settled()).toBe(0);
    await comeBack();
    expect(settled()).toBe(-1);
  });
});

describe('when an answer does not come', () => {
  it.each([
    ['is late and says that it counted: the request is not counted again', () => admitted('free', 2), 0],
    [
      'is late and says that it did not count: it is counted',
      (): StoreAnswer => ({ kind: 'exhausted', plan: 'free', used: 1000 }),
      1,
    ],
  ])('and %s', async (_name, lateAnswer, count) => {
    await gate.admit(key);
    const { promise, resolve } = Promise.withResolvers<StoreAnswer>();
    store.answer = () => promise;
    expect((await gate.admit(key))?.kind).toBe('admitted');
    resolve(lateAnswer());
    await comeBack();
    expect(settled()).toBe(count);
  });

  it('a request that was turned away for it is given back when it turns out to be counted', async () => {
    const { promise, resolve } = Promise.withResolvers<StoreAnswer>();
    store.answer = () => promise;
    await expect(gate.admit(key)).rejects.toMatchObject({ statusCode: 503 });
    resolve(admitted('free', 1));
    await comeBack();
    expect(settled()).toBe(-1);
  });

  it.each([
    ['none of them', 3, 2],
    ['one of them', 4, 1],
    ['all of them', 5, 0],
  ])('and never will, what the store counted is asked: %s', async (_which, bySender, count) => {
    store.answer = async () => admitted('free', 3);
    await gate.admit(key);
    goAway(true);
    const [one, other] = await Promise.all([gate.admit(key), gate.admit(key)]);
    expect([one?.kind, other?.kind]).toEqual(['admitted', 'admitted']);
    store.bySender = bySender;
    await comeBack();
    expect(settled()).toBe(count);
  });

  it('a store that answers slowly but steadily is not away', async () => {
    let turn = Promise.resolve();
    store.answer = () => {
      turn = turn.then(() => sleep(SILENCE_MS / 3));
      return turn.then(() => admitted('free', 1));
    };
    const kinds = (await Promise.all(Array.from({ length: 12 }, () => gate.admit(newKey())))).map(
      (answer) => answer?.kind,
    );
    expect(kinds).toEqual(Array.from({ length: 12 }, () => 'admitted'));
    expect(store.pings).toBe(0);
  });

  it('a process that was busy itself does not take the store for away', async () => {
    store.answer = () => sleep(1).then(() => admitted('free', 1));
    const asked = gate.admit(newKey());
    const until = performance.now() + 5 * SILENCE_MS;
    while (performance.now() < until);
    expect((await asked)?.kind).toBe('admitted');
    expect(store.pings).toBe(0);
  });
});

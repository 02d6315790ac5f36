import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { quotaDay } from '#src/access/day.ts';
import { generateAccountId, generateKey, parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { sleep, systemClock } from '#src/core/clock.ts';
import { issueTestKey } from '../support/access.ts';
import { buildProbeApp, type ProbeApp } from '../support/probe-app.ts';
import { openTestStore, startRedis, startRedisCluster, type TestRedis } from '../support/redis.ts';

let redis: TestRedis;
let store: AccountStore;
let app: ProbeApp;

beforeAll(async () => {
  redis = await startRedis();
  store = await openTestStore([redis.url]);
  app = await buildProbeApp({ store });
});
afterAll(async () => {
  await app.close();
  await store.close();
  await redis.stop();
});

// A failing test must not leave Redis frozen for the next one.
afterEach(() => redis.signal('SIGCONT'));

/**
 * A request this late waits until its connection is given up, which takes three seconds. A request that gives Redis up itself
 * is answered after 0.2 seconds, or later on a busy machine.
 */
const LATE_MS = 2000;

/** Sends requests until `stop`, which returns the number of responses by status. */
function keepSending(nextKey: () => string, everyMs = 5) {
  const outcomes: Record<string, number> = {};
  let isRunning = true;
  async function send(): Promise<void> {
    const status = app.send(nextKey()).then(({ statusCode }) => `${statusCode}`);
    const outcome = await Promise.race([status, sleep(systemClock, LATE_MS).then(() => 'late')]);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  const sending = (async () => {
    const sent: Promise<void>[] = [];
    while (isRunning) {
      sent.push(send());
      await sleep(systemClock, everyMs);
    }
    await Promise.all(sent);
  })();
  return {
    outcomes,
    async stop() {
      isRunning = false;
      await sending;
      return outcomes;
    },
  };
}

async function used(key: string): Promise<number> {
  return (await store.loadUsage(parseKey(key)?.accountId ?? '', [quotaDay(Date.now())]))[0] ?? 0;
}

describe.each([
  ['is killed and comes back', 'SIGKILL', 1500],
  ['is stopped and goes on', 'SIGSTOP', 1500],
  ['is stopped for so long that its connections are given up', 'SIGSTOP', 4000],
] as const)('Redis %s', (_name, signal, awayMs) => {
  it('known keys still work and are counted once while Redis is unreachable, and unknown keys get 503', async () => {
    const [developer, pro, notSeenBefore] = [
      await issueTestKey(store, { plan: 'developer' }),
      await issueTestKey(store, { plan: 'pro' }),
      await issueTestKey(store),
    ];
    const counted = keepSending(() => developer);
    const inBackground = keepSending(() => pro);
    for (const { outcomes } of [counted, inBackground]) {
      await expect.poll(() => outcomes[200]).toBeGreaterThan(20);
    }

    if (signal === 'SIGKILL') await redis.kill();
    else redis.signal('SIGSTOP');
    // Slowly, because each unknown key that waits for Redis counts against the lookups of this network.
    const strangers = keepSending(() => generateKey('live', generateAccountId()), 25);
    const newcomer = keepSending(() => notSeenBefore);
    await sleep(systemClock, awayMs);
    const [strangersAnswers, newcomerAnswers] = await Promise.all([strangers.stop(), newcomer.stop()]);
    expect(Object.keys(strangersAnswers)).toEqual(['503']);
    expect(Object.keys(newcomerAnswers)).toEqual(['503']);

    if (signal === 'SIGKILL') await redis.restart();
    else redis.signal('SIGCONT');
    await expect.poll(async () => (await app.send(notSeenBefore)).statusCode).toBe(200);
    expect((await app.send(generateKey('live', generateAccountId()))).statusCode).toBe(401);

    const [developerAnswers, proAnswers] = await Promise.all([counted.stop(), inBackground.stop()]);
    expect(Object.keys(developerAnswers)).toEqual(['200']);
    expect(Object.keys(proAnswers)).toEqual(['200']);
    // The process sends the counts it made without the store when the store is back, which takes seconds on a busy machine.
    await expect.poll(() => used(pro)).toBe(proAnswers[200]);
    // A check of the key first sends the pending counts of its account.
    for (const key of [developer, notSeenBefore]) expect((await app.send(key)).statusCode).toBe(200);
    const inTheEnd = await Promise.all([pro, developer, notSeenBefore].map(used));
    expect(inTheEnd).toEqual([proAnswers[200], (developerAnswers[200] ?? 0) + 1, 2]);
  });
});

it('counting continues when Redis has lost the scripts', async () => {
  const key = await issueTestKey(store);
  const client = new Redis(redis.url);
  for (let n = 1; n <= 3; n++) {
    await client.script('FLUSH');
    expect((await app.send(key)).headers['x-ratelimit-remaining']).toBe(`${1000 - n}`);
  }
  client.disconnect();
});

it('a counter that lost its expiry gets a new one', async () => {
  const key = await issueTestKey(store);
  const counter = `tis:{${parseKey(key)?.accountId}}:used:${quotaDay(Date.now())}`;
  const client = new Redis(redis.url);
  await app.send(key);
  expect(await client.ttl(counter)).toBeGreaterThan(172_700);
  await client.persist(counter);
  await app.send(key);
  expect(await client.ttl(counter)).toBeGreaterThan(172_700);
  expect(await client.get(counter)).toBe('2');
  client.disconnect();
});

it('Redis stores no usable key', async () => {
  const key = await issueTestKey(store);
  await app.send(key);
  const client = new Redis(redis.url);
  const names = await client.keys(`tis:{${parseKey(key)?.accountId}}:*`);
  const values = await Promise.all(names.map((name) => client.dump(name)));
  expect(names.length).toBe(4);
  expect([...names, ...values].join()).not.toContain(key.slice(17, 44));
  client.disconnect();
});

it('the service starts without Redis and works once Redis is there, without a restart', async () => {
  const own = await startRedis();
  await own.kill();
  const late = await openTestStore([own.url]);
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const lateApp = await buildProbeApp({ store: late, logger });
  const stranger = generateKey('live', generateAccountId());
  const refused = await lateApp.send(stranger);
  expect([refused.statusCode, refused.json().error.code, refused.headers['retry-after']]).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
    '5',
  ]);
  expect(JSON.parse(lines.at(-1) ?? '{}').cause).toMatch(/^the account store is unreachable/);
  await own.restart();
  const key = await issueTestKey(late);
  await expect.poll(async () => (await lateApp.send(key)).statusCode).toBe(200);
  expect((await lateApp.send(stranger)).statusCode).toBe(401);
  await lateApp.close();
  await late.close();
  await own.stop();
});

it('an outage of one cluster node affects only its own accounts', async () => {
  const cluster = await startRedisCluster();
  const shared = await openTestStore(cluster.url.split(','));
  const clustered = await buildProbeApp({ store: shared });
  const [fallen] = cluster.nodes;
  if (!fallen) throw new Error('no node');
  const client = new Redis(fallen.url);
  const [onFallen, elsewhere]: [string[], string[]] = [[], []];
  while (onFallen.length < 4 || elsewhere.length < 8) {
    const key = await issueTestKey(shared);
    const slot = Number(await client.cluster('KEYSLOT', `{${parseKey(key)?.accountId}}`));
    (slot < 5461 ? onFallen : elsewhere).push(key);
  }
  client.disconnect();
  const keys = [...onFallen, ...elsewhere];
  const send = async (sent: string[]) =>
    (await Promise.all(sent.map((key) => clustered.send(key)))).map((response) => response.statusCode);
  await send(keys);

  await fallen.kill();
  for (let n = 0; n < 50; n++) {
    expect(await send(keys)).toEqual(keys.map(() => 200));
  }
  await fallen.restart();
  const readCounts = () =>
    Promise.all(
      keys.map(async (key) => (await shared.loadUsage(parseKey(key)?.accountId ?? '', [quotaDay(Date.now())]))[0]),
    ).catch(() => null);
  await expect.poll(readCounts).toEqual(keys.map(() => 51));
  expect(await send(keys)).toEqual(keys.map(() => 200));
  // Closing sends the pending counts.
  await clustered.close();
  expect(await readCounts()).toEqual(keys.map(() => 52));
  await shared.close();
  await cluster.stop();
});

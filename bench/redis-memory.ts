import { Redis } from 'ioredis';
import { utcDay } from '#src/access/day.ts';
import { parseKey } from '#src/access/keys.ts';
import { openStore } from '#src/access/stores/open-store.ts';
import { createEfaClient } from '#src/efa/client.ts';
import type { UpstreamRequest } from '#src/efa/request.ts';
import { openRedis } from '#src/redis/shared-redis.ts';
import { readNetwork } from '#src/sandbox/network/gtfs-network.ts';
import { startSandbox } from '#src/sandbox/server.ts';
import { MODES } from '#src/transit/mode.ts';
import { coordinateThrough, protectUpstream } from '#src/upstream/protection.ts';
import { issueTestKey } from '#test/support/access.ts';
import { startRedis } from '#test/support/redis.ts';
import { describeMachine, print } from './machine.ts';

/*
 * The memory that Redis takes: for an account with a key, for its count of a day, and for a response of the authority, as
 * the sandbox gives them: full boards of all modes, and six journeys.
 * `node bench/redis-memory.ts [accounts] [responses]`
 */
const [accounts = '5000', responses = '300'] = process.argv.slice(2);
const SENDERS = ['instance-1', 'instance-2', 'instance-3'];
const UNLIMITED = { rps: Number.POSITIVE_INFINITY, dailyBudget: 1e12 };
const REQUESTS: Record<string, (from: string, to: string) => UpstreamRequest> = {
  'a full board': (stopId) => ({ kind: 'departureMonitor', stopId, modes: [...MODES], at: null }),
  'six journeys': (from, to) => ({
    kind: 'trip',
    from,
    to,
    at: null,
    isArrival: false,
  }),
};
const silent = { info() {}, warn() {}, error() {} };
const now = () => new Date();

print(describeMachine());
const server = await startRedis();
const inspector = new Redis(server.url);
const redis = await openRedis([server.url], silent);
const store = openStore({ redis, dataDir: '', log: silent });

const keys: string[] = [];
await measure('an account with a key', Number(accounts), async () => {
  for (let n = 0; n < Number(accounts); n++) keys.push(await issueTestKey(store));
});
await measure(`its count of one day, from ${SENDERS.length} instances`, keys.length, async () => {
  for (const { accountId, hash: keyHash } of keys.flatMap((key) => parseKey(key) ?? [])) {
    for (const sender of SENDERS) await store.admit({ accountId, keyHash, day: utcDay(now()), sender });
  }
});

await describeAccount(keys[0] ?? '');

const apiKey = crypto.randomUUID();
const sandbox = await startSandbox({ apiKey, now });
const client = createEfaClient({ url: sandbox.url, apiKey, timeoutMs: 8000, now });
const shared = coordinateThrough(redis, { source: 'sandbox', apiKeys: [apiKey], limits: UNLIMITED });
const { ask } = protectUpstream({ asks: [client.ask], limits: UNLIMITED, log: silent, shared });
const stops = readNetwork().stops.map(({ id }) => id);
for (const [name, request] of Object.entries(REQUESTS)) {
  const asked = Array.from({ length: Number(responses) }, (_, index) =>
    request(stops[index % stops.length] ?? '', stops[(7 * index + 1) % stops.length] ?? ''),
  );
  let letters = 0;
  await measure(`a response with ${name}`, asked.length, async () => {
    for (const one of asked) letters += await lettersOf(one);
    await redisHasAll();
  });
  print(`   (of ${(letters / asked.length / 1024).toFixed(1)} KB of JSON)`);
}

await client.close();
await sandbox.close();
await store.close();
redis.close();
inspector.disconnect();
await server.stop();

async function measure(what: string, count: number, fill: () => Promise<void>): Promise<void> {
  const before = await usedBytes();
  await fill();
  print(`${what.padEnd(46)} ${Math.round(((await usedBytes()) - before) / count)} bytes`);
}

/** Tells which of it stays for how long. */
async function describeAccount(key: string): Promise<void> {
  const id = parseKey(key)?.accountId ?? '';
  for (const name of (await inspector.keys(`*${id}*`)).sort()) {
    const [bytes, seconds] = await Promise.all([inspector.memory('USAGE', name), inspector.ttl(name)]);
    print(
      `   ${name.replace(id, 'ID').padEnd(40)} ${bytes} bytes, ${seconds < 0 ? 'kept' : `kept ${Math.ceil(seconds / 86_400)} days`}`,
    );
  }
}

async function usedBytes(): Promise<number> {
  return Number(/used_memory_dataset:(\d+)/.exec(await inspector.info('memory'))?.[1]);
}

async function lettersOf(request: UpstreamRequest): Promise<number> {
  const response = await ask(request).catch(() => null);
  return response ? JSON.stringify(response.payload).length : 0;
}

/** Responses are written while nobody waits; a request on the same connection is answered after them. */
async function redisHasAll(): Promise<void> {
  await store.findAccount('none');
}

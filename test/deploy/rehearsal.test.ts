import { randomUUID } from 'node:crypto';
import { Agent, get as httpGet } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { quotaDay } from '#src/access/day.ts';
import { parseKey } from '#src/access/keys.ts';
import type { AccountStore } from '#src/access/store.ts';
import { sleep, systemClock } from '#src/core/clock.ts';
import { issueTestKey } from '../support/access.ts';
import { type Balancer, startBalancer } from '../support/balancer.ts';
import { departureMonitorFor } from '../support/departure-monitor.ts';
import { freePort } from '../support/free-port.ts';
import { type ServerProcess, startServerProcess } from '../support/process.ts';
import { openTestStore, startRedis, type TestRedis } from '../support/redis.ts';
import { type Handler, startUpstream, type TestUpstream } from '../support/upstream.ts';

/*
 * The processes of docker-compose.yml in their layout, on loopback ports: Redis, three instances, the balancer. Callers with
 * known keys must not notice when instances are replaced, one is killed, Redis is frozen or killed, or upstream is unreachable,
 * and every response must be counted once. With REHEARSAL=full the outages are as long as real ones.
 */

const isFull = process.env.REHEARSAL === 'full';
const REDIS_FROZEN_MS = isFull ? 10_000 : 3000;
const REDIS_DEAD_MS = isFull ? 10_000 : 1000;
/** Used twice: first calls are refused, then they get no response. */
const UPSTREAM_AWAY_MS = 30_000;
const TIMEOUT_MS = 150_000;
const CALLERS_PER_KEY = 3;
/** Slow enough for the burst limit of the plan Developer. */
const PAUSE_MS = 80;
const STOPS = ['200060', '200070', '207310'];

const linkSecret = randomUUID();
let redis: TestRedis;
let upstream: TestUpstream;
let answerBoards: Handler;
let store: AccountStore;
let ports: number[];
let instances: ServerProcess[];
let balancer: Balancer;
/** Keys of accounts on two plans, which are counted in different ways. */
let keys: { developer: string; pro: string };

beforeAll(async () => {
  const leaves = [25, 35, 45].map((minutes) => new Date(Date.now() + minutes * 60_000).toISOString());
  redis = await startRedis();
  answerBoards = ({ url }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(departureMonitorFor(url, ...leaves));
  };
  upstream = await startUpstream(answerBoards);
  store = await openTestStore([redis.url]);
  keys = {
    developer: await issueTestKey(store, { plan: 'developer' }),
    pro: await issueTestKey(store, { plan: 'pro' }),
  };
  ports = [await freePort(), await freePort(), await freePort()];
  instances = await Promise.all(ports.map(startInstance));
  balancer = await startBalancer(ports);
});

afterAll(async () => {
  await balancer.stop();
  await Promise.all(instances.map((instance) => instance.stop('SIGKILL')));
  await store.close();
  await upstream.close();
  await redis.stop();
});

function startInstance(port: number): Promise<ServerProcess> {
  return startServerProcess({
    PORT: `${port}`,
    REDIS_URL: redis.url,
    UPSTREAM_URL: upstream.url,
    LINK_SECRET: linkSecret,
    PUBLIC_URL: 'https://transit.example',
    LOG_LEVEL: 'info',
    TRUST_PROXY: '1',
  });
}

/** Makes requests over reused connections until `stop`, which returns each key's responses by status. */
function keepSending() {
  const agent = new Agent({ keepAlive: true });
  const responses = { developer: new Map<string, number>(), pro: new Map<string, number>() };
  let isRunning = true;

  async function send(plan: 'developer' | 'pro', caller: number): Promise<void> {
    for (let n = caller; isRunning; n++) {
      const outcome = await outcomeOf(`/v1/departures?stop=${STOPS[n % STOPS.length]}`, keys[plan], agent);
      responses[plan].set(outcome, (responses[plan].get(outcome) ?? 0) + 1);
      await sleep(systemClock, PAUSE_MS);
    }
  }

  const callers = Array.from({ length: CALLERS_PER_KEY }, (_, caller) => caller);
  const sending = Promise.all(callers.flatMap((caller) => [send('developer', caller), send('pro', caller)]));
  const answered = () =>
    Math.min(...Object.values(responses).map((counts) => counts.values().reduce((total, count) => total + count, 0)));
  return {
    /** Resolves when this many more requests of each key have a response. */
    async more(count: number) {
      const before = answered();
      await expect.poll(answered).toBeGreaterThanOrEqual(before + count);
    },
    async stop() {
      isRunning = false;
      await sending;
      agent.destroy();
      return { developer: Object.fromEntries(responses.developer), pro: Object.fromEntries(responses.pro) };
    },
  };
}

/** Returns "200", or a description of any other outcome. */
function outcomeOf(path: string, key: string, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const request = httpGet(`${balancer.url}${path}`, { agent, headers: { authorization: `Bearer ${key}` } });
    request.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    request.once('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      response.once('end', () => resolve(response.statusCode === 200 ? '200' : `${response.statusCode} ${body}`));
      response.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  });
}

async function counted(): Promise<{ developer: number; pro: number }> {
  const read = async (key: string) =>
    (await store.loadUsage(parseKey(key)?.accountId ?? '', [quotaDay(Date.now())]))[0] ?? 0;
  return { developer: await read(keys.developer), pro: await read(keys.pro) };
}

/** Counts requests and responses during `happening`, with pauses in which instances send the counts they still hold. */
async function rehearse(happening: () => Promise<unknown>, { losesCounts = false } = {}) {
  const before = await counted();
  const sending = keepSending();
  // Long enough for each instance to see each key.
  await sending.more(25);
  await happening();
  await sending.more(50);
  const responses = await sending.stop();
  const countsSince = async () => {
    const { developer, pro } = await counted();
    return { developer: developer - before.developer, pro: pro - before.pro };
  };
  const isCounted = async (plan: 'developer' | 'pro') => (await countsSince())[plan] >= (responses[plan][200] ?? 0);
  await expect.poll(() => isCounted('developer')).toBe(true);
  // A killed instance loses counts of unlimited plans that it has not sent yet.
  if (!losesCounts) await expect.poll(() => isCounted('pro')).toBe(true);
  const counts = await countsSince();
  if (isFull) process.stdout.write(`answered ${JSON.stringify(responses)}, counted ${JSON.stringify(counts)}\n`);
  return { responses, counts };
}

it(
  'a frozen Redis loses no request of a known key, and every response is counted once',
  async () => {
    const { responses, counts } = await rehearse(async () => {
      redis.signal('SIGSTOP');
      await sleep(systemClock, REDIS_FROZEN_MS);
      redis.signal('SIGCONT');
    });
    expect(responses).toEqual({ developer: { 200: counts.developer }, pro: { 200: counts.pro } });
  },
  TIMEOUT_MS,
);

it(
  'a Redis that is killed and comes back loses no request of a known key, and every response is counted once',
  async () => {
    const { responses, counts } = await rehearse(async () => {
      await redis.kill();
      await sleep(systemClock, REDIS_DEAD_MS);
      await redis.restart();
    });
    expect(responses).toEqual({ developer: { 200: counts.developer }, pro: { 200: counts.pro } });
  },
  TIMEOUT_MS,
);

it(
  'a rolling restart loses no request, and every response is counted once',
  async () => {
    const { responses, counts } = await rehearse(async () => {
      for (const [index, port] of ports.entries()) {
        expect(await instances[index]?.stop('SIGTERM')).toBe(0);
        instances[index] = await startInstance(port);
      }
    });
    expect(responses).toEqual({ developer: { 200: counts.developer }, pro: { 200: counts.pro } });
    expect(counts.developer).toBeGreaterThan(50);
  },
  TIMEOUT_MS,
);

it.runIf(isFull)(
  'an upstream outage loses no request for a cached response',
  async () => {
    let callsInVain = 0;
    const { responses, counts } = await rehearse(async () => {
      for (const refuse of [true, false]) {
        upstream.respondWith((_request, response) => {
          callsInVain++;
          if (refuse) response.destroy();
        });
        await sleep(systemClock, UPSTREAM_AWAY_MS);
      }
      upstream.respondWith(answerBoards);
    });
    expect(responses).toEqual({ developer: { 200: counts.developer }, pro: { 200: counts.pro } });
    expect(callsInVain).toBeGreaterThan(10);
  },
  TIMEOUT_MS,
);

it(
  'a killed instance loses no request, and only its requests in flight may be counted twice',
  async () => {
    const { responses, counts } = await rehearse(() => instances[0]?.stop('SIGKILL') ?? Promise.reject(), {
      losesCounts: true,
    });
    expect([Object.keys(responses.developer), Object.keys(responses.pro)]).toEqual([['200'], ['200']]);
    const answered = responses.developer[200] ?? 0;
    expect(counts.developer).toBeGreaterThanOrEqual(answered);
    expect(counts.developer).toBeLessThanOrEqual(answered + CALLERS_PER_KEY);
  },
  TIMEOUT_MS,
);

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import type { Turn } from '#src/core/turn-queue.ts';
import { serviceUnavailable, tooManySearches } from '#src/errors/messages.ts';
import { createInstruments, type Instruments } from '#src/extensions/telemetry/instruments.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { noUpstream } from '#test/support/no-upstream.ts';
import { emptyReach } from '#test/support/reach.ts';
import { openConnection } from './socket.ts';

const NOW = '2026-11-21T10:00:00Z';
const PATH = '/v1/reachable?from=200060&minutes=30';

/** The searches under way. Each ends when the test ends it, or in the queue when nobody waits for it. */
let searches: { turn: Turn; end: (error?: Error) => void }[];
let app: TestApp;
let instruments: Instruments;
let store: ReturnType<typeof openEmbeddedStore>;
let key: string;

beforeEach(async () => {
  searches = [];
  store = openEmbeddedStore(':memory:');
  instruments = createInstruments();
  const reach = emptyReach(Date.parse(NOW));
  app = await buildTestApp({
    upstream: noUpstream,
    now: NOW,
    store,
    instruments,
    reach: {
      ...reach,
      async search(query, turn) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        if (turn) searches.push({ turn, end: (error) => (error ? reject(error) : resolve()) });
        await promise;
        return reach.search(query);
      },
    },
  });
  key = await issueTestKey(store);
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const { end } of searches) end();
  await app.close();
  await store.close();
});

async function send(path = PATH, count = 1) {
  const connection = await openConnection((app.server.address() as AddressInfo).port);
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  connection.write(request.repeat(count));
  return connection;
}

const linesOf = (status: number) =>
  app
    .logged()
    .split('\n')
    .filter((line) => line.includes(`"status":${status}`))
    .map((line) => JSON.parse(line));
const charged = async () => (await store.loadUsage(parseKey(key)?.accountId ?? '', ['20261121']))[0] ?? 0;

it('a client that hangs up has a log line and a count as 499 at once', async () => {
  const { socket } = await send();
  await expect.poll(() => searches.length).toBe(1);
  socket.destroy();
  await expect.poll(() => linesOf(499).length).toBe(1);
  expect(linesOf(499)[0]).toMatchObject({ path: '/v1/reachable', plan: 'free', durationMs: expect.any(Number) });
  const { values } = await instruments.requests.get();
  expect(values).toMatchObject([{ value: 1, labels: { operation: '/v1/reachable', status: 499, plan: 'free' } }]);
  searches[0]?.end();
  await expect.poll(() => searches[0]?.turn.signal.aborted).toBe(true);
  expect(app.logged().match(/"msg":"answered"/g)).toHaveLength(1);
});

it('each of several pipelined requests of a client that hangs up has a log line', async () => {
  const { socket } = await send(PATH, 3);
  await expect.poll(() => searches.length).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  await expect.poll(() => linesOf(499).length).toBe(3);
});

it('a response that arrives in full has one log line, with its own status', async () => {
  const connection = await send();
  await expect.poll(() => searches.length).toBe(1);
  searches[0]?.end();
  await connection.until(/"stops"/);
  connection.socket.destroy();
  await once(connection.socket, 'close');
  await expect.poll(() => linesOf(200).length).toBe(1);
  expect(linesOf(499)).toEqual([]);
});

it('a search that several clients wait for continues until the last of them hangs up', async () => {
  const [first, second] = [await send(), await send()];
  await expect.poll(() => searches.length).toBe(1);
  await expect.poll(() => charged()).toBe(2);
  first.socket.destroy();
  await expect.poll(() => linesOf(499).length).toBe(1);
  expect(searches[0]?.turn).toMatchObject({ priority: 'low', signal: { aborted: false } });
  expect([...(searches[0]?.turn.accounts ?? [])]).toEqual([parseKey(key)?.accountId]);
  second.socket.destroy();
  await expect.poll(() => searches[0]?.turn.signal.aborted).toBe(true);
});

it('a request that comes after all others have hung up gets a search of its own', async () => {
  const first = await send();
  await expect.poll(() => searches.length).toBe(1);
  first.socket.destroy();
  await expect.poll(() => searches[0]?.turn.signal.aborted).toBe(true);
  const second = await send();
  await expect.poll(() => searches.length).toBe(2);
  searches[1]?.end();
  expect(await second.until(/"stops"/)).toMatch(/^HTTP\/1.1 200/);
});

it('a client that hangs up is charged for a search that has begun, and not for one that waits', async () => {
  const begun = await send();
  await expect.poll(() => searches.length).toBe(1);
  searches[0]?.turn.begin();
  begun.socket.destroy();
  await expect.poll(() => linesOf(499).length).toBe(1);
  searches[0]?.end();
  const waiting = await send(`${PATH}&limit=5`);
  await expect.poll(() => searches.length).toBe(2);
  waiting.socket.destroy();
  await expect.poll(() => searches[1]?.turn.signal.aborted).toBe(true);
  searches[1]?.end(serviceUnavailable('nobody waits for the search any more'));
  await expect.poll(() => charged()).toBe(1);
});

it('a search that never began is refunded, and one that failed after it had begun is charged', async () => {
  for (const hasBegun of [false, true, false]) {
    const { until, socket } = await send();
    await expect.poll(() => searches.length).toBeGreaterThan(0);
    const search = searches.pop();
    if (hasBegun) search?.turn.begin();
    search?.end(tooManySearches());
    expect(await until(/"error"/)).toMatch(/^HTTP\/1.1 503[\s\S]*retry-after: \d/i);
    expect((await until(/"docs"/)).includes('This request is counted.')).toBe(hasBegun);
    socket.destroy();
  }
  expect(await charged()).toBe(1);
});

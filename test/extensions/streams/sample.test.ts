import { readFileSync } from 'node:fs';
import type { EventSource } from 'eventsource';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Sandbox, startSandbox } from '#sandbox/server.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { type Departures, departuresResponse } from '#src/operations/departures/departure.ts';
import { countRequests, issueTestKey } from '#test/support/access.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';

interface Options {
  url: string;
  key: string;
  onBoard: (board: Departures) => void;
}
type FollowBoard = (options: Options & { signal: AbortSignal; retryMs?: number }) => Promise<void>;
type OpenBoard = (options: Options) => EventSource;

const NOW = '2026-11-20T02:00:20Z';
const QUERY = 'stop=200070&modes=all';
const PATIENCE = { timeout: 5000 };
const TIMES = { minMs: 10, commentMs: 20, commentsPerCharge: 1 };

/** The readers that docs/guide/streams.md shows, unchanged. */
const shown = [...readFileSync('docs/guide/streams.md', 'utf8').matchAll(/```js\n(.*?)```/gs)].map(
  ([, code = '']) => code,
);
const samples = [readFileSync('examples/javascript/follow-board.mjs', 'utf8'), ...shown]
  .map((sample) => sample.replace(`'eventsource'`, JSON.stringify(import.meta.resolve('eventsource'))))
  .filter((sample) => sample.includes('export '))
  .map((sample) => import(`data:text/javascript;base64,${Buffer.from(sample).toString('base64')}`));
const { followBoard, openBoard } = Object.assign({}, ...(await Promise.all(samples))) as {
  followBoard: FollowBoard;
  openBoard: OpenBoard;
};

const store = openEmbeddedStore(':memory:');
let sandbox: Sandbox;
let app: TestApp;
let url: string;

beforeAll(async () => {
  sandbox = await startSandbox({ apiKey: 'test-key', now: () => new Date(NOW) });
  await start(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
afterAll(async () => {
  await app.close();
  await sandbox.close();
});

async function start(port: number): Promise<void> {
  app = await buildTestApp({ upstream: sandbox.url, now: NOW, store, streamTimes: TIMES });
  url = `${await app.listen({ host: '127.0.0.1', port })}/v1/departures/stream?${QUERY}`;
}

describe('the sample reader of the documentation', () => {
  it('the sample reader of the documentation follows a board from change to change, and from one server to the next', {
    timeout: 20_000,
  }, async () => {
    const boards: Departures[] = [];
    const stop = new AbortController();
    const key = await issueTestKey(store, { plan: 'pro' });
    const options = { url, key, signal: stop.signal, retryMs: 20 };
    const following = followBoard({ ...options, onBoard: (board) => boards.push(board) });
    await expect.poll(() => boards.length, PATIENCE).toBe(1);
    app.clock.now = new Date(Date.parse(NOW) + 60_000);
    await expect.poll(() => boards.length, PATIENCE).toBeGreaterThan(1);
    const before = boards.length;
    const { port } = app.server.address() as { port: number };
    await app.close();
    await start(port);
    app.clock.now = new Date(Date.parse(NOW) + 120_000);
    await expect.poll(() => boards.length, PATIENCE).toBeGreaterThan(before);
    for (const board of boards) departuresResponse.parse(board);
    stop.abort();
    await following;
  });

  it('the sample reader of the documentation stops when the service refuses it, at once or at the end of the day', async () => {
    const options = { url, signal: new AbortController().signal, onBoard: () => {}, retryMs: 20 };
    await expect(followBoard({ ...options, key: 'nonsense' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    const key = await issueTestKey(store);
    await countRequests(store, key, 997, '20261120');
    await expect(followBoard({ ...options, key })).rejects.toMatchObject({ code: 'DAILY_LIMIT_EXCEEDED' });
  });

  it('the sample reader of the documentation reconnects after 40 silent seconds, and waits as a 503 asks', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stop = new AbortController();
    const responses = [
      () => new Response(new ReadableStream()),
      () => new Response('{}', { status: 503, headers: { 'retry-after': '30' } }),
      () => Response.json({ error: { code: 'UNAUTHORIZED', message: 'The key is revoked.' } }, { status: 401 }),
    ];
    const requests = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => responses.shift()?.() as Response);
    const following = followBoard({ url, key: 'k', signal: stop.signal, onBoard: () => {} }).catch(({ code }) => code);
    for (const [index, ms] of [0, 39_999, 5001, 29_999, 1].entries()) {
      await vi.advanceTimersByTimeAsync(ms);
      expect(requests).toHaveBeenCalledTimes([1, 1, 2, 2, 3][index] ?? 0);
    }
    expect(await following).toBe('UNAUTHORIZED');
  });
});

describe('the package eventsource, opened as in the documentation', () => {
  it('the package eventsource reconnects by itself, and does not receive the board that it already has', {
    timeout: 20_000,
  }, async () => {
    const { fetch } = globalThis;
    let opened = 0;
    // While the service stops it answers 503, and the package gives up; after its retry delay of five seconds the stop would be
    // over.
    const isUp = Promise.withResolvers<void>();
    const requests = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      if (opened > 0) await isUp.promise;
      const { body, status, headers } = await fetch(input, init);
      const decoded = body?.pipeThrough(new TextDecoderStream());
      const sooner = new TransformStream<string, string>({
        transform: (text, controller) => controller.enqueue(text.replace('retry: 5000', 'retry: 20')),
      });
      return new Response(decoded?.pipeThrough(sooner).pipeThrough(new TextEncoderStream()), { status, headers });
    });
    const boards: Departures[] = [];
    const ids: string[] = [];
    const key = await issueTestKey(store, { plan: 'pro' });
    const events = openBoard({ url, key, onBoard: (board) => boards.push(board) });
    events.addEventListener('board', ({ lastEventId }) => ids.push(lastEventId));
    events.addEventListener('open', () => opened++);
    await expect.poll(() => boards.length, PATIENCE).toBe(1);
    const { port } = app.server.address() as { port: number };
    await app.close();
    await start(port);
    isUp.resolve();
    await expect.poll(() => opened, PATIENCE).toBe(2);
    const again = new Headers(requests.mock.lastCall?.[1]?.headers);
    expect(again.get('last-event-id')).toBe(ids[0]);
    expect(again.get('authorization')).toBe(`Bearer ${key}`);
    app.clock.now = new Date(Date.parse(NOW) + 60_000);
    await expect.poll(() => boards.length, PATIENCE).toBeGreaterThan(1);
    expect(ids[1]).not.toBe(ids[0]);
    for (const board of boards) departuresResponse.parse(board);
    events.close();
  });

  it('the package eventsource gives up when the service refuses it', async () => {
    const events = openBoard({ url, key: 'nonsense', onBoard: () => {} });
    const refusal = await new Promise((resolve) => events.addEventListener('error', resolve));
    expect(refusal).toMatchObject({ code: 401 });
    expect(events.readyState).toBe(events.CLOSED);
  });
});

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { type Departures, departuresResponse } from '#src/departures/departure.ts';
import { type Sandbox, startSandbox } from '#src/sandbox/server.ts';
import { countRequests, issueTestKey } from '#test/support/access.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';

type FollowBoard = (options: {
  url: string;
  key: string;
  onBoard: (board: Departures) => void;
  signal: AbortSignal;
  retryMs?: number;
}) => Promise<void>;

const NOW = '2026-11-20T02:00:20Z';
const QUERY = 'stop=200070&modes=all';
const PATIENCE = { timeout: 5000 };
const TIMES = { minMs: 10, retryMs: 10, commentMs: 20, commentsPerCharge: 1 };

/** The first sample of docs/guide/streams.md, run as it stands there. */
const sample = /```js\n(.*?)```/s.exec(readFileSync('docs/guide/streams.md', 'utf8'))?.[1] ?? '';
const module = `data:text/javascript;base64,${Buffer.from(sample).toString('base64')}`;
const { followBoard } = (await import(module)) as { followBoard: FollowBoard };

const store = openEmbeddedStore(':memory:');
let sandbox: Sandbox;
let app: TestApp;
let url: string;

beforeAll(async () => {
  sandbox = await startSandbox({ apiKey: 'test-key', now: () => new Date(NOW) });
  await start(0);
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
  it('follows a board from change to change, and from one server to the next', { timeout: 20_000 }, async () => {
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

  it('stops when the service refuses it, at once or at the end of the day', async () => {
    const options = { url, signal: new AbortController().signal, onBoard: () => {}, retryMs: 20 };
    await expect(followBoard({ ...options, key: 'nonsense' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    const key = await issueTestKey(store);
    await countRequests(store, key, 997, '20261120');
    await expect(followBoard({ ...options, key })).rejects.toMatchObject({ code: 'DAILY_LIMIT_EXCEEDED' });
  });
});

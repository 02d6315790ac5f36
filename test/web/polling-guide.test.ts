import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueKey } from '#src/access/keys.ts';
import { PLANS } from '#src/access/plan.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { parseDepartureMonitor } from '#src/efa/payload.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import type { DepartureMonitorRequest } from '#src/efa/request.ts';
import type { Departures } from '#src/operations/departures/departure.ts';
import { buildTestApp, type TestApp } from '../support/app.ts';
import { departureMonitorFor } from '../support/departure-monitor.ts';

/** The client that the guide on polling shows. */
const CLIENT = readFileSync('examples/javascript/poll-boards.mjs', 'utf8');
const STOPS = ['200070', '200060', '200020', '200080', '206010', '215020'];
const START = new Date('2026-11-20T00:00:00Z');
const DAY_MS = 86_400_000;

interface Simulated {
  fetch(url: string, init: { headers: Record<string, string> }): Promise<Response>;
  setTimeout(done: () => void, ms: number): void;
}
interface PollOptions {
  url: string;
  key: string;
  stops: readonly string[];
  signal: AbortSignal;
  onBoards(boards: (Departures | { error: object })[]): void;
}
interface Samples {
  pollBoards(options: PollOptions): Promise<void>;
  currentDepartures(board: Departures, now: number): Departures['departures'];
}

const URL_OF_SERVICE = 'https://example.test';

let app: TestApp;
const store = openEmbeddedStore(':memory:');
beforeAll(async () => {
  app = await buildTestApp({
    upstream: departuresSoon as QueryUpstream,
    now: START.toISOString(),
    store,
    sendsKey: false,
  });
});
afterAll(async () => {
  await app.close();
  await store.close();
});

/** An upstream where something leaves every three minutes from every stop, so that each response is news. */
async function departuresSoon({ stopId }: DepartureMonitorRequest) {
  const now = app.clock.now;
  const planned = Array.from({ length: 12 }, (_, index) => new Date(now.getTime() + index * 180_000).toISOString());
  const response = departureMonitorFor(`?name_dm=${stopId}`, ...planned);
  return { payload: parseDepartureMonitor(JSON.parse(response)), retrievedAt: now.getTime() };
}

let loaded = 0;
/** Loads the client with a simulated `fetch` and `setTimeout`. */
async function loadSamples(simulated: Simulated): Promise<Samples> {
  const shared = globalThis as { simulated?: Simulated };
  shared.simulated = simulated;
  const code = `const { fetch, setTimeout } = globalThis.simulated;\n${CLIENT}`;
  loaded++;
  return import(`data:text/javascript,${encodeURIComponent(`${code}\n// ${loaded}`)}`);
}

async function openFreeAccount(): Promise<string> {
  const account = await store.openAccount({
    email: 'hall@example.com',
    plan: 'free',
    createdAt: START.toISOString(),
  });
  const key = await issueKey(store, { account, kind: 'live', label: 'hall', now: START.getTime() });
  return key?.text ?? '';
}

it('the client of the guide polls six boards for a whole day within the quota of a Free key', async () => {
  const key = await openFreeAccount();
  const stop = new AbortController();
  const sent: { at: number; status: number; left: number }[] = [];
  const { pollBoards, currentDepartures } = await loadSamples({
    async fetch(url, { headers }) {
      const response = await app.inject({ url: url.slice(URL_OF_SERVICE.length), headers });
      const left = Number(response.headers['x-ratelimit-remaining']);
      sent.push({ at: app.clock.now.getTime(), status: response.statusCode, left });
      const body = response.statusCode === 304 ? null : response.body;
      return new Response(body, { status: response.statusCode, headers: response.headers as Record<string, string> });
    },
    setTimeout(done, ms) {
      const next = app.clock.now.getTime() + ms;
      if (next >= START.getTime() + DAY_MS) stop.abort();
      else app.clock.now = new Date(next);
      done();
    },
  });

  let shown = 0;
  await pollBoards({
    url: URL_OF_SERVICE,
    key,
    stops: STOPS,
    signal: stop.signal,
    onBoards(boards) {
      for (const board of boards) {
        if ('error' in board) throw new Error(JSON.stringify(board));
        shown += currentDepartures(board, app.clock.now.getTime()).length;
      }
    },
  });

  expect(sent.map(({ status }) => status).filter((status) => status !== 200 && status !== 304)).toEqual([]);
  const used = PLANS.free.dailyLimit - Math.min(...sent.map(({ left }) => left));
  expect(used).toBe(sent.length * STOPS.length);
  expect(used).toBeLessThanOrEqual(PLANS.free.dailyLimit);
  // Nearly all of the day is used, evenly: no gap is longer than eleven minutes.
  expect(used).toBeGreaterThan(0.9 * PLANS.free.dailyLimit);
  const times = [...sent.map(({ at }) => at), START.getTime() + DAY_MS];
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  expect(Math.max(...gaps)).toBeLessThan(11 * 60_000);
  expect(shown).toBeGreaterThan(sent.length);
});

it('the client of the guide waits as its table says, sends the ETag, and stops when a retry cannot help', async () => {
  const stop = new AbortController();
  const waits: number[] = [];
  const tags: string[] = [];
  const fresh = { etag: '"a"', 'cache-control': 'private, max-age=15', age: '5', ratelimit: '"daily";r=900;t=60' };
  const unavailable = () => new Response('{}', { status: 503, headers: { 'retry-after': '5' } });
  const responses = [
    () => Response.json({ boards: [] }, { headers: fresh }),
    () => new Response(null, { status: 304, headers: fresh }),
    unavailable,
    unavailable,
    unavailable,
    () => Promise.reject(new TypeError('no connection')),
    () => new Response('{}', { status: 429, headers: { 'retry-after': '41' } }),
    () => new Response(null, { status: 304, headers: { ...fresh, ratelimit: '"daily";r=0;t=600' } }),
    () => new Response(null, { status: 304, headers: { ...fresh, age: '70' } }),
    () => Response.json({ error: { message: 'The key is revoked.' } }, { status: 401 }),
  ];
  const { pollBoards } = await loadSamples({
    async fetch(_url, { headers }) {
      tags.push(headers['If-None-Match'] ?? '');
      return (await responses.shift()?.()) ?? Response.error();
    },
    setTimeout(done, ms) {
      waits.push(ms / 1000);
      done();
    },
  });

  const options = { url: URL_OF_SERVICE, key: 'k', stops: STOPS, signal: stop.signal, onBoards: () => {} };
  await expect(pollBoards(options)).rejects.toThrow('The key is revoked.');
  const wanted = [10, 10, 5, 10, 20, 40, 41, 600, 15];
  expect(waits).toHaveLength(wanted.length);
  for (const [index, seconds] of wanted.entries()) {
    expect(waits[index]).toBeGreaterThanOrEqual(seconds);
    expect(waits[index]).toBeLessThanOrEqual(seconds * 1.1 + 1e-9);
  }
  expect(tags).toEqual(['', ...Array(9).fill('"a"')]);
});

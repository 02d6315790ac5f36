import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '#sandbox/server.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { withRehearsals } from '#src/server/upstream-source.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { openStream } from '../extensions/streams/reading.ts';

/** A Friday, 13:00 in Sydney. */
const NOW = '2026-11-20T02:00:20Z';
/** Long enough for the slow responses; the rehearsed 504 needs a short timeout. */
const TIMEOUT_MS = 10_000;
const SHORT_TIMEOUT_MS = 200;
const LONG_MS = 60 * 60_000;

/** A step in a row of the table: seconds after the first request, then a status or event, a remark and an error code. */
interface Step {
  seconds: number;
  what: string;
  remark: string;
  code: string | undefined;
}

const [, section = ''] =
  /^## Failures on demand\n(.*?)^## /ms.exec(readFileSync('docs/guide/sandbox.md', 'utf8')) ?? [];
/** More cases, in the form of the guide's rows. */
const MORE = `
| \`/v1/departures?stop=99000004\` | 200 empty |
| \`/v1/trips?from=99000004&to=99004007\` | 404 \`NO_JOURNEYS_FOUND\` |
| \`/v1/trips?from=99000001&to=99004007\` | 200 slow (2 seconds) |
| \`/v1/trips?from=99000005&to=99004007\` | 200; after 45 s: 502 \`UPSTREAM_ERROR\`; after 120 s: 200 |
| \`/v1/trips?from=99000400&to=99004007\` | 400 \`DATE_OUT_OF_RANGE\` |
| \`/v1/trips?from=99000404&to=99004007\` | 404 \`STOP_NOT_FOUND\` |
| \`/v1/trips?from=99000502&to=99004007\` | 502 \`UPSTREAM_ERROR\` |
| \`/v1/trips?from=99000503&to=99004007\` | 503 \`UPSTREAM_UNAVAILABLE\` |
| \`/v1/trips?from=99000504&to=99004007\` | 504 \`UPSTREAM_TIMEOUT\` (8 seconds) |
| \`/v1/nearby?lat=-33.87&lng=151.2001\` | 200 slow (2 seconds) |
| \`/v1/nearby?lat=-33.87&lng=151.2503\` | 503 \`UPSTREAM_UNAVAILABLE\` |
| \`/v1/nearby?lat=-33.87&lng=151.2504\` | 504 \`UPSTREAM_TIMEOUT\` (8 seconds) |
| \`/v1/stops/search?q=rehearsal%20001\` | 200 slow (2 seconds) |
| \`/v1/stops/search?q=rehearsal%20503\` | 503 \`UPSTREAM_UNAVAILABLE\` |
| \`/v1/stops/search?q=rehearsal%20504\` | 504 \`UPSTREAM_TIMEOUT\` (8 seconds) |
| \`/v1/departures/stream?stop=99000502\` | 502 \`UPSTREAM_ERROR\` |
| \`/v1/departures?stop=x\` | 400 \`INVALID_PARAMETER\` |
| \`/v1/departure\` | 404 \`NOT_FOUND\` |
`;
const ROWS = [...`${section}${MORE}`.matchAll(/^\| `(\/[^`]+)` \| (.+) \|$/gm)].map(([, url = '', response = '']) => ({
  url,
  response,
  steps: response.split('; ').map(readStep),
}));

function readStep(text: string): Step {
  const parts = /^(?:after (\d+) s: )?(\w+)(?: ([a-z0-9 ]+?))?(?: `(\w+)`)?(?: \(\d+ seconds\))?$/.exec(text);
  if (!parts) throw new Error(`cannot read "${text}"`);
  const [, seconds = '0', what = '', remark = '', code] = parts;
  return { seconds: Number(seconds), what, remark, code };
}

const clock = createSimulatedClock(NOW);
const now = () => new Date(clock.now());
let sandbox: Sandbox;
let patient: TestApp;
let impatient: TestApp;
beforeAll(async () => {
  sandbox = await startSandbox({ apiKey: 'test-key', now });
  patient = await startService(TIMEOUT_MS);
  impatient = await startService(SHORT_TIMEOUT_MS);
});
afterAll(async () => {
  await patient.close();
  await impatient.close();
  await sandbox.close();
});
/** Expires all cached responses, so each rehearsal starts anew. */
beforeEach(() => clock.advance(LONG_MS));

/** A service in front of the sandbox. */
async function startService(timeoutMs: number): Promise<TestApp> {
  const client = createEfaClient({ url: sandbox.url, apiKey: 'test-key', timeoutMs, now: () => now().getTime() });
  const guard = {
    callByKey: [client.callUpstream],
    limits: { rps: 1000, dailyBudget: 1e9 },
    log: createTestLog(),
    clock,
  };
  const app = await buildTestApp({
    acceptsTestKeys: true,
    upstream: withRehearsals(protectUpstream(guard).queryUpstream, guard),
    now,
  });
  app.addHook('onClose', () => client.close());
  return app;
}

const listOf = (body: object): Record<string, unknown>[] => Object.values(body).find(Array.isArray) ?? [];

const REMARKS: Record<string, (response: { headers: Record<string, unknown>; body: object }) => void> = {
  '': ({ headers, body }) => {
    expect(listOf(body)).not.toEqual([]);
    expect(headers['cache-status']).not.toContain('upstream-');
  },
  slow: () => {},
  empty: ({ body }) => expect(listOf(body)).toEqual([]),
  cancelled: ({ body }) => {
    expect(listOf(body).length).toBeGreaterThan(0);
    for (const record of listOf(body)) expect(record.cancelled).toBe(true);
  },
  'without calls': ({ body }) => {
    expect(listOf(body).length).toBeGreaterThan(0);
    for (const record of listOf(body)) expect(record.calls).toBeNull();
  },
  stale: ({ headers }) => {
    const [, maxAge] = /max-age=(\d+)/.exec(String(headers['cache-control'])) ?? [];
    expect(Number(headers.age)).toBeGreaterThan(Number(maxAge));
    expect(headers['cache-status']).toContain('detail=upstream-failing');
  },
  'with 2 errors': ({ body }) => expect(listOf(body).filter((board) => 'error' in board)).toHaveLength(2),
};

const isStream = ({ url, steps }: (typeof ROWS)[number]) => url.includes('/stream') && steps[0]?.what === 'board';
const isSlow = ({ steps }: (typeof ROWS)[number]) => steps[0]?.remark === 'slow';

it('the table of rehearsals has a row for every code', () => {
  const codes = ROWS.map(({ url }) => /(?:99000|151\.2|%20)(\d{3})/.exec(url)?.[1]);
  const known = [
    '001',
    '002',
    '003',
    '004',
    '005',
    '006',
    '007',
    '008',
    '010',
    '011',
    '400',
    '404',
    '502',
    '503',
    '504',
  ];
  expect([...new Set(codes)].filter((code) => code !== undefined).sort()).toEqual(known);
});

describe('rehearsals against the documented table', () => {
  it.each(ROWS.filter((row) => !isStream(row) && !isSlow(row)))(
    'the rehearsal $url answers $response',
    async ({ url, steps }) => {
      const app = steps[0]?.what === '504' ? impatient : patient;
      const start = clock.now();
      for (const { seconds, what, remark, code } of steps) {
        await clock.advanceTo(start + seconds * 1000);
        const response = await app.inject(url);
        expect([response.statusCode, response.json().error?.code]).toEqual([Number(what), code]);
        if (what === '200') REMARKS[remark]?.({ headers: response.headers, body: response.json() });
        if (what === '503') expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
      }
    },
  );

  it('slow rehearsals answer after requests that were sent later', async () => {
    const order: string[] = [];
    const send = (url: string) =>
      patient.inject(url).then(({ statusCode }) => {
        expect(statusCode, url).toBe(200);
        order.push(url);
      });
    const slow = ROWS.filter(isSlow).map(({ url }) => send(url));
    await send('/v1/departures?stop=200060');
    expect(order).toEqual(['/v1/departures?stop=200060']);
    await Promise.all(slow);
    expect(slow.length).toBeGreaterThan(3);
  });

  it.each(ROWS.filter(isStream))('the rehearsed stream $url sends $response', async ({ url, steps }) => {
    const streamTimes = { minMs: 10, commentMs: 60_000, commentsPerCharge: 4 };
    const app = await buildTestApp({ upstream: sandbox.url, now, streamTimes });
    const start = clock.now();
    await app.listen({ host: '127.0.0.1', port: 0 });
    const stream = await openStream(app, url);
    for (const { seconds, what, code } of steps) {
      await clock.advanceTo(start + seconds * 1000);
      const data = await stream.next(what);
      if (code) expect(data).toMatchObject({ error: { code } });
    }
    stream.close();
    await app.close();
  });
});

it('the rehearsed journey misses its change when followed and lists journeys onward', async () => {
  const planned = await patient.inject('/v1/trips?from=99000008&to=99004007&include=ids');
  const { journey_id: id, changes } = planned.json().journeys.find((one: { changes: number }) => one.changes > 0);
  const follow = async (journey: string) => (await patient.inject(`/v1/trips/${journey}`)).json();
  const before = await follow(id);
  expect([changes, before.next_journeys]).toEqual([1, null]);
  expect(['possible', 'at_risk']).toContain(before.status);
  await clock.advanceTo(clock.now() + 60_000);
  const after = await follow(id);
  expect([after.status, after.changes[0].status]).toEqual(['missed', 'missed']);
  expect(after.changes[0].spare_seconds).toBeLessThan(0);
  const [next] = after.next_journeys;
  expect(['possible', 'at_risk']).toContain((await follow(next.journey_id)).status);
  // A new request is planned as usual.
  const again = await patient.inject('/v1/trips?from=99000008&to=99004007&include=ids');
  expect(again.json().journeys.length).toBe(planned.json().journeys.length);
});

it('a rehearsed failure affects no other request and no other rehearsal', async () => {
  const statusOf = async (url: string) => (await patient.inject(url)).statusCode;
  for (let time = 1700; time < 1710; time++) {
    expect(await statusOf(`/v1/departures?stop=99000502&date=20271101&time=${time}`)).toBe(502);
  }
  expect(await statusOf('/v1/departures?stop=99000503')).toBe(503);
  expect(await statusOf('/v1/departures?stop=99000003')).toBe(200);
  expect(await statusOf('/v1/departures?stop=200070')).toBe(200);
});

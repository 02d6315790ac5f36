import { afterEach, describe, expect, it } from 'vitest';
import type { PlanName } from '#src/access/plan.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { createInstruments, watchAdmissions, watchUpstream } from '#src/extensions/telemetry/instruments.ts';
import { createMetrics, startMetricsServer } from '#src/extensions/telemetry/metrics.ts';
import { Traffic } from '#src/extensions/telemetry/traffic.ts';
import type { LiveReport } from '#src/realtime/live-report.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { issueTestKey } from '../../support/access.ts';
import { buildTestApp } from '../../support/app.ts';
import { departureMonitor } from '../../support/departure-monitor.ts';
import { createTestLog } from '../../support/made-up-upstream.ts';
import { IDLE_FEEDS, IDLE_UPSTREAM, readMetrics, scrape } from '../../support/metrics.ts';
import { type Handler, json, startUpstream } from '../../support/upstream.ts';
import { openStream } from '../streams/reading.ts';

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The service with everything that is measured, in front of a made-up upstream. */
async function startMeasured(answer: Handler) {
  const now = () => new Date();
  const instruments = createInstruments();
  const upstream = await startUpstream(answer);
  const client = createEfaClient({ url: upstream.url, apiKey: 'k', timeoutMs: 2000, now: () => now().getTime() });
  const protection = protectUpstream({
    callByKey: [watchUpstream(client.callUpstream, new Traffic(() => now().getTime()), instruments)],
    limits: { rps: 1000, dailyBudget: 1e9 },
    log: createTestLog(),
  });
  const store = watchAdmissions(openEmbeddedStore(':memory:'), instruments);
  const app = await buildTestApp({ upstream: protection.queryUpstream, now, store, instruments, sendsKey: false });
  closers.push(
    () => upstream.close(),
    client.close,
    () => store.close(),
    () => app.close(),
  );
  const keys = new Map<PlanName, string>();
  const get = async (url: string, plan: PlanName | null = 'pro') => {
    if (plan && !keys.has(plan)) keys.set(plan, await issueTestKey(store, { plan }));
    return app.inject({ url, headers: plan ? { authorization: `Bearer ${keys.get(plan)}` } : {} });
  };
  const read = async () => (await scrape(instruments, protection)).values;
  return { app, get, read, upstream };
}

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

describe('the metrics of requests', () => {
  it('requests are counted by operation, status and plan, with their durations and the sources of their responses', async () => {
    const { get, read } = await startMeasured(json(departureMonitor(inMinutes(5), inMinutes(90))));
    for (const _ of [1, 2, 3]) await get('/v1/departures?stop=200060', 'free');
    await get('/v1/departures?stop=no', 'developer');
    await get('/v1/departures?stop=200060', null);
    const values = await read();
    const requests = (status: number, plan: string) =>
      values.get(`transit_http_requests_total{operation="/v1/departures",status="${status}",plan="${plan}"}`);
    expect([requests(200, 'free'), requests(400, 'developer'), requests(401, 'none')]).toEqual([3, 1, 1]);
    expect(values.get('transit_http_request_duration_seconds_count{operation="/v1/departures"}')).toBe(5);
    expect(values.get('transit_http_request_duration_seconds_bucket{le="+Inf",operation="/v1/departures"}')).toBe(5);
    expect(values.get('transit_responses_total{operation="/v1/departures",source="upstream"}')).toBe(1);
    expect(values.get('transit_responses_total{operation="/v1/departures",source="cache"}')).toBe(2);
    expect(values.get('transit_store_call_duration_seconds_count')).toBe(4);
  });

  it('the bounded tables of requests show their number of entries', async () => {
    const { get, read } = await startMeasured(json(departureMonitor(inMinutes(5))));
    const known = async () => (await read()).get('transit_cache_size{cache="known keys",unit="entries"}') ?? 0;
    const before = await known();
    await get('/v1/departures?stop=200060');
    expect(await known()).toBe(before + 1);
  });

  it('requests for a stream are counted, but not timed', async () => {
    const { app, read } = await startMeasured(json(departureMonitor(inMinutes(5))));
    await app.listen({ host: '127.0.0.1', port: 0 });
    const stream = await openStream(app, '/v1/departures/stream?stop=200060');
    await app.close();
    await stream.ended;
    const values = await read();
    const path = '/v1/departures/stream';
    expect(values.get(`transit_http_requests_total{operation="${path}",status="200",plan="pro"}`)).toBe(1);
    expect(values.get(`transit_http_request_duration_seconds_count{operation="${path}"}`)).toBeUndefined();
  });

  it('requests that share a call and those that get a stale response are counted separately', async () => {
    const board = json(departureMonitor(inMinutes(5)));
    const measured = await startMeasured(board);
    await Promise.all([1, 2].map(() => measured.get('/v1/departures?stop=200060')));
    const values = await measured.read();
    expect(values.get('transit_responses_total{operation="/v1/departures",source="joined"}')).toBe(1);
  });
});

it('records left out of responses are counted by reason', async () => {
  const board = departureMonitor(inMinutes(5), inMinutes(9)) as { stopEvents: { isCancelled?: boolean }[] };
  const [first] = board.stopEvents;
  if (first) first.isCancelled = true;
  const { get, read } = await startMeasured(json(board));
  await get('/v1/departures?stop=200060&modes=all');
  const values = await read();
  expect(
    values.get('transit_records_left_out_total{operation="/v1/departures",reason="cancelled",kind="everyday"}'),
  ).toBe(1);
});

it('a 503 is counted by its cause', async () => {
  const { get, read } = await startMeasured(json({}, 429));
  await get('/v1/departures?stop=200060');
  await get('/v1/lines');
  const values = await read();
  expect(values.get('transit_unavailable_total{cause="upstream"}')).toBe(1);
  expect(values.get('transit_unavailable_total{cause="timetable"}')).toBe(1);
});

describe('the metrics of upstream calls', () => {
  it('upstream calls are counted by outcome and priority', async () => {
    const { get, read } = await startMeasured(json(departureMonitor(inMinutes(90))));
    await get('/v1/departures?stop=200060', 'free');
    const values = await read();
    expect(values.get('transit_upstream_calls_total{outcome="ok",priority="low"}')).toBe(1);
    expect(values.get('transit_upstream_call_duration_seconds_count{kind="departureMonitor"}')).toBe(1);
    expect(values.get('transit_upstream_shortage{why="breaker"}')).toBe(0);
    expect(values.get('transit_upstream_calls_left{key="0"}')).toBeGreaterThan(0);
    expect(values.get('transit_response_age_seconds_count{operation="/v1/departures"}')).toBe(1);
  });

  it.each([
    ['status-5xx', json({}, 500), 2],
    ['status-other', json({}, 404), 1],
    ['key-refused', json({}, 401), 1],
    ['key-refused', json({}, 403), 1],
    ['declined', json({ systemMessages: [{ code: -77 }] }), 1],
    ['rate-limited', json({}, 429), 1],
    ['unreadable', json([]), 1],
    ['timeout', () => {}, 1],
    ['unreachable', (_request, response) => void response.destroy(), 2],
  ] satisfies [string, Handler, number][])(
    'failed upstream calls are counted as %s',
    async (outcome, answer, calls) => {
      const { get, read } = await startMeasured(answer);
      await get('/v1/stops/search?q=central');
      const values = await read();
      expect(values.get(`transit_upstream_calls_total{outcome="${outcome}",priority="high"}`)).toBe(calls);
    },
  );
});

describe('the metrics of realtime feeds', () => {
  const scrapeFeeds = (report: Partial<LiveReport>) =>
    scrape(undefined, undefined, undefined, { ...IDLE_FEEDS, ...report });

  it('the metrics show the age of a feed, whether it is trusted, and whether this instance polls it', async () => {
    const { values } = await scrapeFeeds({
      feeds: [
        { source: 'metro', problem: null, headerAt: Date.now() - 20_000, tripCount: 24, foundShare: null, leftOut: {} },
        {
          source: 'sydneytrains',
          problem: 'a frozen header',
          headerAt: null,
          tripCount: null,
          foundShare: null,
          leftOut: {},
        },
      ],
    });
    expect(values.get('transit_feed_age_seconds{feed="metro"}')).toBeCloseTo(20, 0);
    expect(values.get('transit_feed_up{feed="metro"}')).toBe(1);
    expect(values.get('transit_feed_up{feed="sydneytrains"}')).toBe(0);
  });

  it('the metrics do not mention feeds that are not needed, so that no alert fires', async () => {
    const { types } = await scrapeFeeds({ mode: 'off', isPolling: false });
    expect(types.has('transit_feed_up')).toBe(false);
  });
});

describe('the text of the metrics', () => {
  it('the event loop turns after each metric', async () => {
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const { types } = await scrape();
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(types.size);
  });

  it('the metrics name counters, units and types as Prometheus requires', async () => {
    const { types } = await scrape();
    const ours = [...types].filter(([name]) => name.startsWith('transit_'));
    expect(ours.length).toBeGreaterThan(15);
    for (const [name, type] of ours) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
      expect(name).not.toMatch(/_(ms|milliseconds|kilobytes|percent)(_|$)/);
    }
    expect([...types.keys()]).toEqual(
      expect.arrayContaining(['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes']),
    );
  });

  it('the processor time and heap of the process are above zero', async () => {
    const { values } = await scrape();
    expect(values.get('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(values.get('nodejs_heap_size_used_bytes')).toBeGreaterThan(0);
  });

  it('the buckets of a histogram rise and end in the count', async () => {
    const instruments = createInstruments();
    const { storeSeconds } = instruments;
    for (const seconds of [0, 0.0001, 1000]) storeSeconds.observe(seconds);
    const { values } = await scrape(instruments);
    const buckets = [...values].filter(([name]) => name.startsWith('transit_store_call_duration_seconds_bucket'));
    expect(buckets.map(([, value]) => value)).toEqual([...Array(12).fill(2), 3]);
    expect(values.get('transit_store_call_duration_seconds_count')).toBe(3);
  });

  it.each([
    ['writable', 1],
    ['readable', 0],
    ['unreachable', 0],
  ] as const)('the metrics show whether the account store accepts writes: %s', async (state, isWritable) => {
    const { values } = await scrape(undefined, undefined, async () => state);
    expect(values.get('transit_store_writable')).toBe(isWritable);
  });

  it('the metrics have a port of their own, which serves nothing else', async () => {
    const sources = {
      source: 'real' as const,
      instruments: createInstruments(),
      upstream: IDLE_UPSTREAM,
      storeState: async () => 'writable' as const,
    };
    const registry = createMetrics(sources);
    const server = await startMetricsServer(registry, { host: '127.0.0.1', port: 0 });
    closers.push(server.close);
    const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(readMetrics(await answer.text()).types.size).toBeGreaterThan(20);
    expect((await fetch(`http://127.0.0.1:${server.port}/`)).status).toBe(404);
    await expect(startMetricsServer(registry, { host: '127.0.0.1', port: server.port })).rejects.toThrow(/EADDRINUSE/);
  });
});

import { expect, it } from 'vitest';
import { liveShareOf, summarise, Traffic, timetableShareOf } from '#src/extensions/telemetry/traffic.ts';
import type { LiveReport } from '#src/realtime/live-report.ts';
import type { TimetableStatus } from '#src/timetable/update/keep-current.ts';
import { startFront } from '../support/front.ts';
import { json, startUpstream } from '../support/upstream.ts';

const NOW = '2026-11-20T02:00:20Z';

it('the status page counts the requests answered, by operation and window', async () => {
  await using front = await startFront({ now: NOW });
  const headers = { authorization: `Bearer ${front.testKey}` };
  for (let count = 0; count < 3; count++) await front.app.inject({ url: '/v1/departures?stop=200070', headers });
  await front.app.inject({ url: '/v1/trips', headers });
  front.clock.now = new Date('2026-11-20T02:20:00Z');
  await front.app.inject({ url: '/v1/stops/search?q=central', headers });

  const report = (await front.app.inject('/status')).json();
  expect(report).toMatchObject({
    status: 'ok',
    source: 'sandbox',
    upstream: { last_good_answer_at: '2026-11-20T02:20:00Z' },
  });
  expect(report.windows['5m'].operations).toMatchObject({
    '/v1/departures': { answered: 0 },
    '/v1/stops/search': { answered: 1 },
  });
  const hour = report.windows['1h'];
  expect(hour.operations['/v1/departures']).toMatchObject({ answered: 3, success_rate: 1 });
  expect(hour.operations['/v1/trips']).toMatchObject({ answered: 1, success_rate: 1 });
  expect(hour.operations['/v1/departures'].p95_ms).toBeGreaterThanOrEqual(hour.operations['/v1/departures'].p50_ms);
  expect(hour.live_share).toBeGreaterThan(0);
  expect(hour.live_share).toBeLessThanOrEqual(1);
});

const AT = Date.parse(NOW);
const report = {
  file: 'metro',
  trips: 3123,
  stopTimes: 65_495,
  busiestDay: 1200,
  stops: 63,
  firstDay: '20261101',
  lastDay: '20261231',
  version: null,
  leftOut: {},
} as const;
const timetable = (): TimetableStatus => ({
  mode: 'auto',
  importedAt: AT - 3 * 3_600_000,
  isUpdating: false,
  files: [
    {
      id: 'metro',
      checkedAt: AT,
      currentAt: AT,
      problem: null,
      good: { report, importedAt: AT - 3 * 3_600_000, lastModified: null },
    },
    { id: 'buses', checkedAt: AT, currentAt: AT - 4 * 86_400_000, problem: 'the response is a web page', good: null },
  ],
});
const live = (): LiveReport => ({
  mode: 'auto',
  isPolling: true,
  feeds: [
    {
      source: 'buses',
      problem: 'a frozen header',
      headerAt: AT - 300_000,
      tripCount: 4501,
      foundShare: 0.9,
      leftOut: { 'trip not in the timetable': { count: 1450, examples: ['1'] } },
    },
  ],
  agreement: {
    metro: { compared: 200, agreed: 199, isTrusted: true },
    bus: { compared: 31, agreed: 30, isTrusted: false },
  },
});

it('the status page lists timetable files, each mode’s agreement with the trip planner, and failing feeds', async () => {
  await using front = await startFront({ now: NOW, timetable, live });
  const report = (await front.app.inject('/status')).json();
  expect(report.timetable).toEqual({
    mode: 'auto',
    imported_at: '2026-11-19T23:00:20Z',
    is_updating: false,
    files: {
      metro: {
        first_day: '20261101',
        last_day: '20261231',
        trips: 3123,
        imported_at: '2026-11-19T23:00:20Z',
        up_to_date_at: NOW,
        problem: null,
      },
      buses: {
        first_day: null,
        last_day: null,
        trips: null,
        imported_at: null,
        up_to_date_at: '2026-11-16T02:00:20Z',
        problem: 'the response is a web page',
      },
    },
    agreement: {
      metro: { compared: 200, agreed: 0.995, trusted: true },
      bus: { compared: 31, agreed: 0.967, trusted: false },
    },
  });
  expect(report.live_feeds.feeds.buses).toMatchObject({ problem: 'a frozen header', age_seconds: 300 });
  const page = await front.app.inject({ url: '/status', headers: { accept: 'text/html' } });
  const text = page.body.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  expect(text).toContain('Imported 3 h ago.');
  expect(text).toContain('metro the timetable 200 99.5% bus the sandbox 31 96.7%');
  expect(text).toContain('metro up to date 2026-11-01 to 2026-12-31 3,123');
  expect(text).toContain('buses never imported, first tried 96 h ago: the response is a web page – –');
  expect(text).toContain('buses a frozen header 5 min ago 4,501');
  expect(text).toContain('Not understood: buses: trip not in the timetable, 1,450.');
  expect(report.live_feeds.feeds.buses.left_out).toEqual({ 'trip not in the timetable': 1450 });
});

it('the status page counts boards from the timetable, and departures with live times', async () => {
  const traffic = new Traffic(() => Date.parse(NOW));
  traffic.boardMade({ boards: 1, timetableBoards: 1, departures: 10, liveDepartures: 5 });
  traffic.boardMade({ boards: 1, timetableBoards: 0, departures: 10, liveDepartures: 0 });
  const view = await traffic.getView();
  expect([timetableShareOf(view.recent(5)), liveShareOf(view.recent(5))]).toEqual([0.5, 0.25]);
});

it('the status page reports failing requests, the budget left, and that upstream gets no calls', async () => {
  const upstream = await startUpstream(json({}, 500));
  await using front = await startFront({
    now: NOW,
    upstreamUrl: upstream.url,
    upstreamHealth: () => ({ budgetLeft: 0.25, isBreakerOpen: true }),
  });
  await front.app.inject({ url: '/v1/stops/search?q=wynyard', headers: { authorization: `Bearer ${front.testKey}` } });
  expect((await front.app.inject('/status')).json()).toMatchObject({
    status: 'down',
    reason: 'most requests fail',
    upstream: { last_good_answer_at: null, budget_left: 0.25, breaker: 'open' },
    windows: { '5m': { operations: { '/v1/stops/search': { answered: 1, success_rate: 0 } } } },
  });
  const page = await front.app.inject({ url: '/status', headers: { accept: 'text/html' } });
  expect(page.body).toContain('Down: most requests fail</h1>');
  expect(page.body).toContain('25%');
  await upstream.close();
});

it.each([
  ['spent', 'none: today’s calls so far are used up'],
  ['refused', 'refuses them because of its quota or rate limit'],
] as const)('the status page reports when calls are %s', async (shortage, words) => {
  const upstreamHealth = () => ({ budgetLeft: 0.1, isBreakerOpen: false, shortage });
  await using front = await startFront({ now: NOW, upstreamHealth });
  expect((await front.app.inject('/status')).json().upstream.calls_of_the_day).toBe(shortage);
  expect((await front.app.inject({ url: '/status', headers: { accept: 'text/html' } })).body).toContain(words);
});

it('the headline of the status page is the state, even when nothing was requested', async () => {
  await using front = await startFront({ now: NOW });
  expect((await front.app.inject('/status')).json()).toMatchObject({ status: 'idle', reason: null, instances: 1 });
  const page = await front.app.inject({ url: '/status', headers: { accept: 'text/html' } });
  expect(page.body).toContain('<h1 class="state ok">Operational</h1>');
  expect(page.body).toContain('No requests in the last five minutes.');
});

it.each([
  [{ isBreakerOpen: true }, null, 'Degraded: the sandbox is failing'],
  [{ shortage: 'refused' as const }, null, 'Degraded: the sandbox refuses calls'],
  [{}, ['a frozen header', 'not 200'] as const, 'Degraded: boards without live times'],
  [{}, ['a frozen header', null] as const, 'Operational'],
  [{}, ['not read yet', 'not polled lately'] as const, 'Operational'],
])(
  'the status page with %o and feeds that report %o has a headline with the reason: %s',
  async (health, problems, headline) => {
    const feeds = problems?.map((problem, index) => ({
      source: (['buses', 'metro'] as const)[index] ?? 'buses',
      problem,
      headerAt: AT,
      tripCount: 5,
      foundShare: 1,
      leftOut: {},
    }));
    await using front = await startFront({
      now: NOW,
      upstreamHealth: () => ({ budgetLeft: 1, isBreakerOpen: false, ...health }),
      ...(feeds && { live: () => ({ ...live(), feeds }) }),
    });
    const page = await front.app.inject({ url: '/status', headers: { accept: 'text/html' } });
    expect(page.body).toContain(`>${headline}</h1>`);
  },
);

it('incidents are on the status page, in its JSON and in an Atom feed, and a badge shows the state', async () => {
  const record = {
    since: AT - 30 * 86_400_000,
    seenAt: AT,
    suspected: null,
    incidents: [
      {
        status: 'down',
        reason: 'most requests fail',
        from: AT - 5 * 86_400_000,
        to: AT - 5 * 86_400_000 + 24 * 60_000,
      },
      { status: 'degraded', reason: 'the sandbox is failing', from: AT - 60_000, to: null },
    ],
  };
  const incidentStore = { load: async () => JSON.stringify(record), write: async () => {} };
  const upstreamHealth = () => ({ budgetLeft: 1, isBreakerOpen: true });
  await using front = await startFront({ now: NOW, incidentStore, upstreamHealth });
  const { body } = await front.app.inject({ url: '/status', headers: { accept: 'text/html' } });
  const text = body.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ');
  expect(text).toContain('99.94% up since 2026-10-21.');
  expect(text).toContain('Down: most requests fail 2026-11-15 13:00 to 13:24 (24 min)');
  expect(text).toContain('Degraded: the sandbox is failing 2026-11-20 12:59 until now (1 min)');
  expect(body.match(/<rect class="(degraded|down|unknown)"/g)).toHaveLength(59 + 2);
  expect((await front.app.inject('/status')).json().incidents).toEqual([
    { status: 'degraded', reason: 'the sandbox is failing', from: '2026-11-20T01:59:20Z', to: null },
    { status: 'down', reason: 'most requests fail', from: '2026-11-15T02:00:20Z', to: '2026-11-15T02:24:20Z' },
  ]);
  const feed = await front.app.inject('/status.atom');
  expect(feed.headers['content-type']).toBe('application/atom+xml; charset=utf-8');
  expect(feed.body.match(/<title>[^<]+/g)?.slice(1)).toEqual([
    '<title>Degraded: the sandbox is failing',
    '<title>Resolved: Down: most requests fail',
  ]);
  const badge = await front.app.inject('/status.svg');
  expect(badge.headers).toMatchObject({
    'content-type': 'image/svg+xml; charset=utf-8',
    'cross-origin-resource-policy': 'cross-origin',
  });
  expect(badge.body).toContain('status: degraded');
});

it('the status page collapses the operations without requests', async () => {
  await using front = await startFront({ now: NOW });
  const headers = { authorization: `Bearer ${front.testKey}` };
  await front.app.inject({ url: '/v1/departures?stop=200070', headers });
  const { body } = await front.app.inject({ url: '/status', headers: { accept: 'text/html' } });
  expect(body.match(/<th scope="row"><code>[^<]+/g)).toEqual(Array(3).fill('<th scope="row"><code>/v1/departures'));
  expect(body).toMatch(/<summary>\d+ operations without requests<\/summary>/);
});

it('the status page shows the last day in quarters of an hour, in Sydney time and in UTC', async () => {
  await using front = await startFront({ now: NOW });
  const headers = { authorization: `Bearer ${front.testKey}` };
  await front.app.inject({ url: '/v1/departures?stop=200070', headers });
  front.clock.now = new Date('2026-11-20T05:16:00Z');
  const { body } = await front.app.inject({ url: '/status', headers: { accept: 'text/html' } });
  expect(body.match(/<rect class="hit"/g)).toHaveLength(96);
  expect(body.match(/<rect class="good"/g)).toHaveLength(1);
  expect(body).toContain('<title>02:00 UTC: 1 response, 0 failures</title>');
  expect(body).toContain(
    'data-local="time">16:16</time> <span data-zone>Sydney time</span><span data-utc> (05:16 UTC)</span>',
  );
});

it('the status page counts an assistant’s call as the operation that it runs, in the table and in the chart', async () => {
  await using front = await startFront({ now: NOW });
  const headers = {
    authorization: `Bearer ${front.testKey}`,
    accept: 'application/json, text/event-stream',
  };
  const callTool = (stop: string) => {
    const params = { name: 'getDepartures', arguments: { stop } };
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    return front.app.inject({ method: 'POST', url: '/mcp', headers, payload });
  };
  for (const stop of ['200070', '200070', '99000502']) expect((await callTool(stop)).statusCode).toBe(200);
  await front.app.inject({ url: '/board/200070', headers });

  const report = (await front.app.inject('/status')).json();
  const departures = report.windows['5m'].operations['/v1/departures'];
  expect(departures).toMatchObject({ answered: 3, success_rate: 0.66667 });
  const page = await front.app.inject({ url: '/status', headers: { accept: 'text/html' } });
  expect(page.body).toContain('<title>02:00 UTC: 3 responses, 1 failure</title>');
});

it('the status page makes no upstream call', async () => {
  const upstream = await startUpstream(json({}, 500));
  await using front = await startFront({ upstreamUrl: upstream.url });
  for (const accept of ['text/html', 'application/json'])
    await front.app.inject({ url: '/status', headers: { accept } });
  expect(upstream.requests).toEqual([]);
  await upstream.close();
});

it('the status page forgets after a day, and its memory does not grow', async () => {
  const clock = { now: new Date(NOW) };
  const traffic = new Traffic(() => clock.now.getTime());
  for (let minute = 0; minute < 3 * 24 * 60; minute++) {
    clock.now = new Date(clock.now.getTime() + 60_000);
    traffic.answered('/v1/trips', minute % 2 ? 200 : 503, 10);
  }
  const trips = summarise((await traffic.getView()).recent(24 * 60), '/v1/trips');
  expect(trips).toMatchObject({ answered: 24 * 60, successRate: 0.5 });
});

it('percentiles on the status page are accurate to 15 %', async () => {
  const traffic = new Traffic(() => Date.parse(NOW));
  for (let ms = 1; ms <= 1000; ms++) traffic.answered('/v1/trips', 200, ms);
  const trips = summarise((await traffic.getView()).recent(5), '/v1/trips');
  expect(trips.p50Ms).toBeGreaterThanOrEqual(500);
  expect(trips.p50Ms).toBeLessThanOrEqual(580);
  expect(trips.p95Ms).toBeGreaterThanOrEqual(950);
  expect(trips.p95Ms).toBeLessThanOrEqual(1100);
});

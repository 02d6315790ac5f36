import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { sleep } from '#src/core/clock.ts';
import { MemoryWatch } from '#src/core/memory-watch.ts';
import type { RedisMemory } from '#src/core/redis/connection.ts';
import type { StoreState } from '#src/core/redis/presence.ts';
import { createInstruments, watchAdmissions, watchUpstream } from '#src/extensions/telemetry/instruments.ts';
import { createMetrics, writeExposition } from '#src/extensions/telemetry/metrics.ts';
import { Traffic } from '#src/extensions/telemetry/traffic.ts';
import { PressureWatch } from '#src/http/pressure.ts';
import { createStoreProbe } from '#src/http/readiness.ts';
import { LiveFeeds } from '#src/realtime/live-feeds.ts';
import type { LiveReport } from '#src/realtime/live-report.ts';
import { createFeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { noTimetable } from '#src/timetable/update/keep-current.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { coordResponse, stopFinderResponse } from '#test/contract/payloads.ts';
import { encodeFeed } from '../realtime/feed-bytes.ts';
import { createInlineReader } from '../realtime/inline-reader.ts';
import { issueTestKey } from '../support/access.ts';
import { ALERTS, createRecording } from '../support/alert-rules.ts';
import { buildTestApp } from '../support/app.ts';
import { createMadeUpUpstream, createTestLog, statusFailure } from '../support/made-up-upstream.ts';
import { IDLE_FEEDS } from '../support/metrics.ts';
import { settle } from '../support/protected.ts';
import { createSimulatedClock } from '../support/simulated-clock.ts';

const MINUTE = 60_000;
const { upstream: UNKNOWN_STOP } = JSON.parse(readFileSync('test/fixtures/departures/unknown-stop.json', 'utf8'));

let closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  closers = [];
});

/**
 * The service with its metrics as in production, at a simulated time, in front of a made-up upstream with two keys. Durations
 * use the same simulated time.
 */
async function startService({
  start = '2026-04-15T00:00:00Z',
  dailyBudget = 60_000,
  feed = null as FeedSourceId | null,
} = {}) {
  const clock = createSimulatedClock(start);
  // Spies would remember each of millions of calls.
  const real = [Date.now, performance.now] as const;
  closers.push(async () => {
    [Date.now, performance.now] = real;
  });
  [Date.now, performance.now] = [clock.now, clock.now];
  const now = () => new Date(clock.now());
  const instruments = createInstruments();
  const upstreams = [createMadeUpUpstream(clock), createMadeUpUpstream(clock)] as const;
  const protection = protectUpstream({
    callByKey: upstreams.map(({ callUpstream }) =>
      watchUpstream(callUpstream, new Traffic(() => now().getTime()), instruments),
    ),
    limits: { rps: 5, dailyBudget },
    log: createTestLog(),
    clock,
  });
  const faults = {
    storeState: 'writable' as StoreState,
    storeDelayMs: 0,
    redis: [{ node: 'r:6379', usedBytes: 50e6, maxBytes: 384e6 }] as RedisMemory[],
    rssBytes: 400e6,
    /** Replaces this process's own figure, which includes earlier tests. */
    residentBytes: 400e6,
    /** Replaces this process's real lag, which is large on a busy machine. */
    lagSeconds: 0.01,
    timetableAgeMs: 0,
    hasTimetable: true,
    agreement: {} as LiveReport['agreement'],
    unreadable: 0,
    upstream: null as ((key: number) => Error | undefined) | null,
  };
  for (const [key, upstream] of upstreams.entries()) {
    let calls = 0;
    upstream.outcome = (sent) =>
      faults.upstream?.(key) ?? goodAnswer(sent as { kind: string; stopId?: string }, ++calls);
  }

  /** Contains records with every everyday reason for leaving one out. One call in fifty fails. */
  function goodAnswer({ kind, stopId }: { kind: string; stopId?: string }, call: number): unknown {
    if (call % 50 === 0) return statusFailure(500);
    if (kind === 'coord') return coordResponse;
    if (kind === 'stopFinder') return stopFinderResponse;
    if (stopId === '999999') return UNKNOWN_STOP.departure_mon;
    const at = (minutes: number) => new Date(clock.now() + minutes * MINUTE).toISOString();
    const stop = { id: stopId, name: 'Central Station, Sydney', type: 'stop', isBest: true };
    const event = (index: number, more: object = {}) => ({
      departureTimePlanned: at(index * 3),
      isRealtimeControlled: index < 6,
      location: { id: `${stopId}1`, name: 'Central Station, Stand A', type: 'platform', parent: stop },
      transportation: {
        id: `nsw:${index}`,
        number: `${400 + index}`,
        product: { class: index % 4 === 3 ? 1 : 5, iconId: 5 },
        destination: { name: 'Bondi' },
      },
      ...more,
    });
    const left = event(-2);
    const cancelled = event(1, { isCancelled: true });
    const bad = Array.from({ length: faults.unreadable }, () => event(2, { departureTimePlanned: null }));
    const events = Array.from({ length: 9 }, (_, index) => event(index));
    return { version: '10.6.21.17', locations: [stop], stopEvents: [left, cancelled, ...bad, ...events] };
  }

  // A clock of its own: a sample of each second of a night would take long.
  const sampling = createSimulatedClock(start);
  const limits = { heapBytes: 0, memoryBytes: 700e6 };
  const memory = new MemoryWatch(limits, { countBytes: () => faults.rssBytes, clock: sampling });
  const pressure = new PressureWatch({ memory, maxDelayMs: 0, clock: sampling });
  const embedded = openEmbeddedStore(':memory:');
  const slow: typeof embedded = {
    ...embedded,
    async admit(request) {
      if (faults.storeDelayMs > 0) await sleep(clock, faults.storeDelayMs);
      return embedded.admit(request);
    },
  };
  const probe = createStoreProbe(async () => faults.storeState, { graceMs: 600_000, now: clock.now });
  const app = await buildTestApp({
    upstream: protection.queryUpstream,
    now,
    sleep: (ms) => sleep(clock, ms),
    store: watchAdmissions(slow, instruments, probe.heard),
    pressure,
    instruments,
    isStoreReachable: probe.servesKnownKeys,
  });
  const keys = { pro: app.apiKey, free: await issueTestKey(embedded, { plan: 'developer', now: now() }) };
  const feeds = feed && startFeed(clock, feed);
  let registry: ReturnType<typeof createMetrics> | null = null;
  const recording = createRecording();

  function startMetrics(source: 'real' | 'sandbox'): void {
    registry = createMetrics({
      source,
      instruments,
      upstream: protection,
      live: () => ({ ...(feeds?.report() ?? IDLE_FEEDS), agreement: faults.agreement }),
      timetable: () => ({
        ...noTimetable.status(),
        mode: 'auto',
        importedAt: faults.hasTimetable ? clock.now() - faults.timetableAgeMs : null,
        files: [agedFile(clock.now() - faults.timetableAgeMs)],
      }),
      storeState: probe.state,
      redisMemory: async () => faults.redis,
      pressure,
    });
  }

  /** Advances the clock while the request waits. */
  async function get(url: string, plan: keyof typeof keys = 'pro'): Promise<void> {
    const sent = settle(app.inject({ url, headers: { authorization: `Bearer ${keys[plan]}` } }));
    for (let turn = 0; !sent.isSettled; turn++) {
      await new Promise(setImmediate);
      if (turn % 10 === 9) await clock.advance(100);
    }
    if (sent.outcome.error) throw sent.outcome.error;
  }

  async function scrape(): Promise<void> {
    if (!registry) return recording.add(null);
    const text = await writeExposition(registry);
    recording.add(
      text
        .replace(/^(process_resident_memory_bytes) .*/m, `$1 ${faults.residentBytes}`)
        .replace(/^(nodejs_eventloop_lag_p99_seconds) .*/m, `$1 ${faults.lagSeconds}`),
    );
  }

  let minute = 0;
  /** Plays this many minutes of requests, spread over each minute, with a scrape at its end. */
  async function pass(minutes: number, requestsOf: (minute: number) => Request[]): Promise<void> {
    for (const end = minute + minutes; minute < end; minute++) {
      const beganAt = new Date(start).getTime() + minute * MINUTE;
      const requests = requestsOf(minute);
      for (const [index, [url, plan]] of requests.entries()) {
        await clock.advanceTo(beganAt + (index / requests.length) * MINUTE);
        await get(url, plan);
      }
      await clock.advanceTo(beganAt + MINUTE);
      await scrape();
    }
  }

  startMetrics('real');
  closers.push(async () => {
    await feeds?.close();
    await app.close();
    pressure.close();
  });
  return {
    clock,
    faults,
    feeds: feeds?.faults ?? { headerAgeMs: 0, fails: false },
    upstreams,
    /** Advances the clock by this many seconds, with memory samples. */
    sampleMemory: (seconds: number) => sampling.advance(seconds * 1000),
    tryMail: (outcome: 'sent' | 'failed') => instruments.mails.inc({ outcome }),
    fired: recording.fired,
    pass,
    restart: startMetrics,
    stop() {
      registry = null;
    },
  };
}

function agedFile(currentAt: number) {
  return { id: 'buses', checkedAt: currentAt, currentAt, problem: null, good: null } as const;
}

/** One feed, polled as in production. */
function startFeed(clock: ReturnType<typeof createSimulatedClock>, feed: FeedSourceId) {
  const faults = { headerAgeMs: 5000, fails: false };
  const trips = Array.from({ length: 50 }, (_, trip) => ({
    tripId: `run ${trip}`,
    stops: [{ stopId: 'P1', departure: { delay: 60 } }],
  }));
  const reader = createInlineReader();
  const feeds = new LiveFeeds({
    client: {
      async fetch() {
        if (faults.fails) throw new Error('no response');
        return Buffer.from(String(Math.floor((clock.now() - faults.headerAgeMs) / 1000)));
      },
    },
    reader: {
      ...reader,
      parse: (id, bytes) => reader.parse(id, encodeFeed({ timestamp: Number(Buffer.from(bytes).toString()), trips })),
    },
    timetable: () => null,
    sharing: { ...createFeedSharing(null, clock.now), lead: async () => true },
    clock,
    log: createTestLog(),
  });
  let cancel = clock.after(0, send);
  function send(): void {
    feeds.request([feed]);
    cancel = clock.after(15_000, send);
  }
  const report = (): LiveReport => ({
    mode: 'on',
    isPolling: feeds.isPolling(),
    feeds: feeds.list(),
    agreement: {},
  });
  return {
    faults,
    report,
    async close() {
      cancel();
      await feeds.close();
    },
  };
}

type Request = [url: string, plan?: 'free' | undefined];
type Service = Awaited<ReturnType<typeof startService>>;

/** Three requests in four are shared with others, one in thirty is invalid, and few are made at night. */
function ordinaryRequests(minute: number): Request[] {
  const hour = (12 + minute / 60) % 24;
  if (hour >= 13 && hour < 19 && minute % 4 !== 0) return [];
  const stop = 200_000 + ((minute * 7) % 40);
  return [
    [`/v1/departures?stop=${stop}&modes=bus&limit=3`],
    [`/v1/departures?stop=${stop + 1}&limit=3`, 'free'],
    ...(minute % 3 === 0 ? [[`/v1/stops/search?q=stop ${minute % 11}`] as Request] : []),
    ...(minute % 5 === 0 ? [[`/v1/nearby?lat=-33.88${minute % 9}&lon=151.206`] as Request] : []),
    ...(minute % 7 === 0 ? [['/v1/departures?stop=999999', 'free'] as Request] : []),
    ...(minute % 11 === 0 ? [['/v1/departures?stop=no', 'free'] as Request] : []),
  ];
}

/** Requests that are new in each minute. */
const manyRequests = (count: number, plan?: 'free') => (minute: number) =>
  Array.from({ length: count }, (_, one): Request => [`/v1/departures?stop=${300_000 + minute * count + one}`, plan]);

it('no alert fires in an ordinary night and the morning after it', async () => {
  const service = await startService({ start: '2026-04-15T14:00:00Z', dailyBudget: 2500 });
  await service.pass(10 * 60, ordinaryRequests);
  expect(service.fired()).toEqual([]);
}, 300_000);

it('no alert fires in an ordinary hour with feeds', async () => {
  const service = await startService({ feed: 'buses' });
  await service.pass(60, ordinaryRequests);
  expect(service.fired()).toEqual([]);
});

it('no alert fires for the feed of the Manly Fast Ferry, which upstream has not updated since July', async () => {
  const service = await startService({ feed: 'MFF' });
  service.feeds.headerAgeMs = 60 * 24 * 60 * MINUTE;
  await service.pass(40, ordinaryRequests);
  expect(service.fired()).toEqual([]);
});

it('no alert fires before 200 departures of a mode have been compared', async () => {
  const { faults, pass, fired } = await startService();
  faults.agreement = { ferry: { compared: 40, agreed: 20, isTrusted: false } };
  await pass(40, ordinaryRequests);
  expect(fired()).toEqual([]);
});

it('no alert fires for a mail that a server accepts at the third attempt', async () => {
  const { tryMail, pass, fired } = await startService();
  for (const outcome of ['sent', 'failed', 'failed', 'sent'] as const) {
    tryMail(outcome);
    await pass(5, ordinaryRequests);
  }
  expect(fired()).toEqual([]);
});

it('a late event loop does not fire the alert for a slow store', async () => {
  const { faults, pass, fired } = await startService();
  await pass(10, ordinaryRequests);
  faults.storeDelayMs = 180;
  faults.lagSeconds = 0.5;
  await pass(17, ordinaryRequests);
  expect(fired()).toEqual(['UnderPressure']);
});

it('a total outage pages within three minutes', async () => {
  const { faults, pass, fired } = await startService();
  await pass(10, manyRequests(10));
  faults.upstream = () => statusFailure(500);
  await pass(3, manyRequests(10));
  expect(fired()).toContain('RequestsFail');
});

/** The faults, and the alerts that must fire for each. */
const FAULTS: [
  fault: string,
  alerts: string[],
  play: (service: Service) => Promise<void>,
  options?: Parameters<typeof startService>[0],
][] = [
  [
    'the instance is gone',
    ['NoInstance', 'InstanceDown'],
    async ({ stop, pass }) => {
      stop();
      await pass(5, () => []);
    },
  ],
  [
    'the instance was started with the sandbox',
    ['SandboxInUse'],
    async ({ restart, pass }) => {
      restart('sandbox');
      await pass(3, ordinaryRequests);
    },
  ],
  [
    'upstream answers 500',
    ['RequestsFail', 'UpstreamFails'],
    async ({ faults, pass }) => {
      faults.upstream = () => statusFailure(500);
      await pass(15, manyRequests(10));
    },
  ],
  [
    'upstream is slow',
    ['RequestsSlow'],
    async ({ upstreams, pass }) => {
      for (const upstream of upstreams) upstream.latencyMs = 4000;
      await pass(20, manyRequests(5));
    },
  ],
  [
    'upstream refuses one of two keys',
    ['UpstreamKeyRefused'],
    async ({ faults, pass }) => {
      faults.upstream = (key) => (key === 1 ? statusFailure(401) : undefined);
      await pass(10, manyRequests(4));
    },
  ],
  [
    'the upstream quota is exceeded',
    ['BudgetLow'],
    async ({ faults, pass }) => {
      faults.upstream = () => statusFailure(403, 300);
      await pass(15, manyRequests(4));
    },
  ],
  [
    'calls of the budget are used up',
    ['BudgetLow'],
    async ({ pass }) =>
      pass(40, (minute) => [...manyRequests(10)(minute), ...manyRequests(1, 'free')(minute + 10_000)]),
    { dailyBudget: 1500 },
  ],
  [
    'the store is unreachable',
    ['StoreUnavailable'],
    async ({ faults, pass }) => {
      faults.storeState = 'unreachable';
      await pass(3, ordinaryRequests);
    },
  ],
  [
    'the store accepts no writes',
    ['StoreUnavailable'],
    async ({ faults, pass }) => {
      faults.storeState = 'readable';
      await pass(4, ordinaryRequests);
    },
  ],
  [
    'the mail server does not respond',
    ['MailFails'],
    async ({ tryMail, pass }) => {
      for (let minute = 0; minute < 35; minute++) {
        if (minute % 5 === 0) tryMail('failed');
        await pass(1, ordinaryRequests);
      }
    },
  ],
  [
    'Redis is nearly full',
    ['RedisMemoryHigh'],
    async ({ faults, pass }) => {
      faults.redis = [{ node: 'r:6379', usedBytes: 350e6, maxBytes: 384e6 }];
      await pass(13, ordinaryRequests);
    },
  ],
  [
    'the store is slow',
    ['StoreSlow'],
    async ({ faults, pass }) => {
      faults.storeDelayMs = 180;
      await pass(17, ordinaryRequests);
    },
  ],
  [
    'the event loop is late',
    ['UnderPressure'],
    async ({ faults, pass }) => {
      faults.lagSeconds = 0.5;
      await pass(8, () => []);
    },
  ],
  [
    'the process grows',
    ['MemoryHigh'],
    async ({ faults, pass }) => {
      faults.residentBytes = 900e6;
      await pass(13, () => []);
    },
  ],
  [
    'memory runs short',
    ['UnderPressure', 'RequestsFail'],
    async ({ faults, sampleMemory, pass }) => {
      faults.rssBytes = 750e6;
      await sampleMemory(1);
      await pass(13, ordinaryRequests);
    },
  ],
  [
    'upstream records cannot be read',
    ['RecordsUnreadable'],
    async ({ faults, pass }) => {
      faults.unreadable = 4;
      await pass(60, ordinaryRequests);
    },
  ],
  [
    'a feed cannot be read',
    ['FeedDown'],
    async ({ feeds, pass }) => {
      feeds.fails = true;
      await pass(20, ordinaryRequests);
    },
    { feed: 'buses' },
  ],
  [
    'a feed stands still',
    ['FeedDown'],
    async ({ feeds, pass }) => {
      feeds.headerAgeMs = 80_000;
      await pass(25, ordinaryRequests);
    },
    { feed: 'buses' },
  ],
  [
    'a file of the timetable is not up to date for days',
    ['TimetableOld'],
    async ({ faults, pass }) => {
      faults.timetableAgeMs = 3.1 * 86_400_000;
      await pass(65, ordinaryRequests);
    },
  ],
  [
    'the timetable cannot be imported',
    ['TimetableOld'],
    async ({ faults, pass }) => {
      faults.hasTimetable = false;
      await pass(65, ordinaryRequests);
    },
  ],
  [
    'the timetable has other platforms than the trip planner',
    ['TimetableDisagrees'],
    async ({ faults, pass }) => {
      faults.agreement = { train: { compared: 200, agreed: 190, isTrusted: false } };
      await pass(35, ordinaryRequests);
    },
  ],
];

/** What the node exporter reports of a machine, with something changed. */
function machine({ freeBytes = 50e9, failed = '', backupAt = 0 }): string {
  const state = (unit: string) => `node_systemd_unit_state{name="${unit}",state="failed"} ${Number(unit === failed)}`;
  return [
    `node_filesystem_avail_bytes{mountpoint="/",fstype="ext4"} ${freeBytes}`,
    'node_filesystem_size_bytes{mountpoint="/",fstype="ext4"} 100e9',
    state('transit-backup.service'),
    state('certbot.service'),
    `node_systemd_timer_last_trigger_seconds{name="transit-backup.timer"} ${backupAt}`,
  ].join('\n');
}

const MACHINE_FAULTS: [fault: string, alerts: string[], minutes: number, reported: string][] = [
  ['nothing is wrong with the machine', [], 30, machine({})],
  ['a disk is nearly full', ['DiskFull'], 15, machine({ freeBytes: 9e9 })],
  ['the backup fails', ['BackupMissing'], 15, machine({ failed: 'transit-backup.service' })],
  // Prometheus tests begin at 1970.
  ['no backup was started for two days', ['BackupMissing'], 15, machine({ backupAt: -2 * 86_400 })],
  [
    'the certificate cannot be renewed',
    ['CertificateNotRenewed'],
    2 * 1440 + 5,
    machine({ failed: 'certbot.service', backupAt: 2 * 86_400 }),
  ],
];

describe('the alerts', () => {
  it.each(MACHINE_FAULTS)('when %s, these alerts fire: %j', (_fault, alerts, minutes, reported) => {
    const recording = createRecording();
    for (let minute = 0; minute < minutes; minute++) recording.add(reported);
    // Without an instance, others fire too.
    const ofMachine = MACHINE_FAULTS.flatMap(([, names]) => names);
    expect(recording.fired().filter((name) => ofMachine.includes(name))).toEqual(alerts);
  });

  it.each(FAULTS)('when %s, these alerts fire: %j', async (_fault, alerts, play, options) => {
    const service = await startService(options);
    await service.pass(10, ordinaryRequests);
    await play(service);
    expect(service.fired()).toEqual(expect.arrayContaining(alerts));
  });

  it('each alert has a fault that makes it fire', () => {
    expect([...new Set([...FAULTS, ...MACHINE_FAULTS].flatMap(([, alerts]) => alerts))].sort()).toEqual(
      [...ALERTS].sort(),
    );
  });
});

import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { startSandbox } from '#sandbox/server.ts';
import type { BurstLimits } from '#src/access/limits/burst-limits.ts';
import { Restrictions } from '#src/access/restrictions.ts';
import type { AccountStore } from '#src/access/store.ts';
import { type AppOptions, buildApp } from '#src/app.ts';
import { createEfaClient } from '#src/efa/client.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { assistants } from '#src/extensions/mcp/mcp.ts';
import { type StreamTimes, streams } from '#src/extensions/streams/stream-routes.ts';
import { countRequests, type Instruments } from '#src/extensions/telemetry/instruments.ts';
import type { HttpOptions } from '#src/http/create-fastify.ts';
import { type PressureWatch, refuseUnderPressure } from '#src/http/pressure.ts';
import { requireStore } from '#src/http/readiness.ts';
import type { Sources } from '#src/operations/sources.ts';
import { emptyRecord } from '#src/transit/punctuality.ts';
import { LINK_SECRET } from '#test/support/ids.ts';
import { boardPages } from '#web/board/text-board.ts';
import { type PageOptions, pages as pagesOf } from '#web/pages.ts';
import { openTestAccess, sendKey } from './access.ts';
import { oneCarPark } from './car-parks.ts';
import { emptyReach } from './reach.ts';

export interface TestApp extends FastifyInstance {
  /** The current time of the service's clock. */
  clock: { now: Date };
  /** Read from the store only when a test asks for it. */
  restrictions: Restrictions;
  /** A key of an unlimited plan. */
  apiKey: string;
  /** Every line logged so far, at the most verbose level. */
  logged(): string;
}

export interface TestAppOptions
  extends Partial<Pick<AppOptions, 'linkSecrets' | 'deadlines'>>,
    Omit<HttpOptions, 'logger'>,
    Partial<Omit<Sources, 'queryUpstream' | 'callsPerSecond' | 'lines'>> {
  isStoreReachable?: () => Promise<boolean>;
  pressure?: PressureWatch;
  pages?: PageOptions;
  streamTimes?: StreamTimes;
  instruments?: Instruments;
  /** Upstream, as a function or by its address. */
  upstream: QueryUpstream | string;
  /** A clock, or a time at which the clock stands still until it is set. */
  now: string | (() => Date);
  /** By default waits never end, so that nothing happens in the background. */
  sleep?: (ms: number) => Promise<unknown>;
  /** Our upstream key. */
  upstreamKey?: string;
  timeoutMs?: number;
  store?: AccountStore;
  acceptsTestKeys?: boolean;
  burstLimits?: BurstLimits;
  publicUrl?: string;
  trustProxy?: AppOptions['config']['trustProxy'];
  /** Whether `inject` sends the key with requests that have no Authorization header; true by default. */
  sendsKey?: boolean;
}

/** The most recent log lines are kept. */
const MAX_LINES = 20_000;

/** The whole service in front of the given upstream; every app under test is built here. */
export async function buildTestApp(options: TestAppOptions): Promise<TestApp> {
  const {
    upstream,
    acceptsTestKeys = false,
    publicUrl = 'https://example.test',
    sendsKey = true,
    trustProxy = false,
  } = options;
  const { pages, streamTimes, instruments, isStoreReachable, pressure } = options;
  const clock = { now: typeof options.now === 'string' ? new Date(options.now) : options.now() };
  const now = typeof options.now === 'string' ? () => clock.now : options.now;
  const client =
    typeof upstream === 'string' ? connect(upstream, options, now) : { callUpstream: upstream, close: () => {} };
  const { store, apiKey } = await openTestAccess(clock.now, options.store);
  let lines: string[] = [];
  const keepLine = (line: string) => {
    if (lines.length >= MAX_LINES) lines = lines.slice(MAX_LINES / 2);
    lines.push(line);
  };
  const restrictions = new Restrictions({ store, log: { info() {}, warn() {} } });
  const app = await buildApp({
    config: { publicUrl, docsUrl: `${publicUrl}/docs`, trustProxy },
    sources: {
      ...options,
      queryUpstream: client.callUpstream,
      punctuality: options.punctuality ?? emptyRecord,
      reach: options.reach ?? emptyReach(clock.now.getTime()),
      carParks: options.carParks ?? oneCarPark(() => now().getTime()),
    },
    access: {
      store,
      acceptsTestKeys,
      restrictions,
      ...(options.burstLimits && { burstLimits: options.burstLimits }),
    },
    now: () => now().getTime(),
    sleep: options.sleep ?? (() => new Promise(() => {})),
    http: { ...options, logger: pino({ level: 'trace' }, { write: keepLine }) },
    extensions: [
      ...(pressure ? [refuseUnderPressure(pressure)] : []),
      ...(isStoreReachable ? [requireStore(isStoreReachable)] : []),
      ...(pages || instruments ? [countRequests({ traffic: pages?.traffic, instruments })] : []),
      streams(streamTimes),
      assistants,
      boardPages(pages),
      ...(pages ? [pagesOf({ ...pages, countMail: (outcome) => instruments?.mails.inc({ outcome }) })] : []),
    ],
    ...(options.deadlines && { deadlines: options.deadlines }),
    linkSecrets: options.linkSecrets ?? [LINK_SECRET],
  });
  app.addHook('onClose', async () => client.close());
  if (sendsKey) sendKey(app, apiKey);
  return Object.assign(app, { clock, apiKey, restrictions, logged: () => lines.join('') });
}

/** The whole service in front of its own sandbox, with the clocks stopped at one time. */
export async function buildSandboxApp(now: string): Promise<TestApp> {
  const sandbox = await startSandbox({ apiKey: 'test-key', now: () => new Date(now) });
  const app = await buildTestApp({ upstream: sandbox.url, now });
  app.addHook('onClose', () => sandbox.close());
  return app;
}

function connect(url: string, { upstreamKey = 'test-key', timeoutMs = 5000 }: TestAppOptions, now: () => Date) {
  return createEfaClient({ url, apiKey: upstreamKey, timeoutMs, now: () => now().getTime() });
}

import { join } from 'node:path';
import { boardPages } from '#web/board/text-board.ts';
import { type PageOptions, pages } from '#web/pages.ts';
import { loadLinkSecret } from '#web/signup/magic-link.ts';
import { createMailer } from '#web/signup/mail/mailer.ts';
import { GRACE_MS } from './access/known-keys.ts';
import { Restrictions } from './access/restrictions.ts';
import { sandboxKey } from './access/sandbox-key.ts';
import { StoreOpenError } from './access/stores/embedded-database.ts';
import { expectStoreKind, openStore, StoreKindError } from './access/stores/open-store.ts';
import { AlertList } from './alerts/alert-list.ts';
import { buildApp } from './app.ts';
import { type Config, ConfigError, parseConfig } from './config.ts';
import { deadlinesFrom, systemClock } from './core/clock.ts';
import { openLog } from './core/log.ts';
import { openRedis } from './core/redis/shared-redis.ts';
import { createEfaClient } from './efa/client.ts';
import { UpstreamClock } from './efa/upstream-http.ts';
import { assistants } from './extensions/mcp/mcp.ts';
import { openPunctuality } from './extensions/punctuality/punctuality.ts';
import { streams } from './extensions/streams/stream-routes.ts';
import { fileIncidents, redisIncidents } from './extensions/telemetry/incidents.ts';
import {
  countLeftOut,
  countRequests,
  createInstruments,
  recordBoard,
  watchAdmissions,
  watchUpstream,
} from './extensions/telemetry/instruments.ts';
import { createMetrics, startMetricsServer } from './extensions/telemetry/metrics.ts';
import { SharedTraffic } from './extensions/telemetry/shared-traffic.ts';
import { Traffic, type UpstreamHealth } from './extensions/telemetry/traffic.ts';
import { parseBuild } from './http/build.ts';
import { connectionLimitsFor } from './http/connection/connections.ts';
import { NETWORK_LIMIT } from './http/network-limit.ts';
import { PressureWatch } from './http/pressure.ts';
import { createStoreProbe } from './http/readiness.ts';
import { explainBoard } from './realtime/explain-board.ts';
import { FEED_CALLS_A_DAY, listFeedSources } from './realtime/polling/feed-source.ts';
import { openCarParks } from './server/open-car-parks.ts';
import { openJourneys } from './server/open-journeys.ts';
import { openRealtime } from './server/open-realtime.ts';
import { openTimetable } from './server/open-timetable.ts';
import { type OperatorHandlers, openOperatorSocket, operatorFolder } from './server/operator-socket.ts';
import { cannotListen, closeOnSignal, expectFreePort, maxDescriptors, orExit } from './server/process.ts';
import { openUpstream, withRehearsals } from './server/upstream-source.ts';
import { StopRegister } from './stops/register.ts';
import { Suburbs, sweepSuburbs } from './stops/suburbs.ts';
import { MODES } from './transit/mode.ts';
import { createSharedMeters, protectUpstream } from './upstream/protection.ts';

const CLAIM_AGAIN_MS = 1000;
/** Everything in DATA_DIR is for this user alone: downloads, imports and the database's own files too. */
process.umask(0o077);
const now = () => new Date();
/** Quota days follow the clock of Redis: an instance whose clock is ahead would charge requests to the next day. */
const countingNow = () => new Date(Date.now() + (redis?.clockAheadMs() ?? 0));
const config = orExit(() => parseConfig(process.env), {
  expected: ConfigError,
  intro: 'The configuration is not usable:\n',
});
await expectFreePort(config.host, config.port, 'PORT');
if (config.metrics) await expectFreePort(config.metrics.host, config.metrics.port, 'METRICS_ADDRESS');
const isTerminal = process.stdout.isTTY;
const logExport = config.collector?.takesLogs ? await openLogExport(config.collector) : null;
const logger = openLog(config.logLevel ?? (isTerminal ? 'warn' : 'info'), { copyTo: logExport?.send });
const build = parseBuild(process.env);
logger.info(build, 'the service starts');
const deadlines = deadlinesFrom();
const isSandbox = config.upstream.kind === 'sandbox';

const upstream = await openUpstream(config, { now });
const upstreamClock = new UpstreamClock(logger);
let hasResponded = false;
const clients = upstream.apiKeys.map((apiKey) =>
  createEfaClient({
    url: upstream.url,
    apiKey,
    timeoutMs: deadlines.callMs,
    proxyUrl: config.upstreamProxy,
    clock: upstreamClock,
    now,
  }),
);
const instruments = createInstruments();
/** Calls reserved for feeds. The nightly files need no more: some feeds are polled less at night. */
const setAside = config.timetable.mode === 'off' ? 0 : FEED_CALLS_A_DAY / upstream.apiKeys.length;
const limits = { ...config.upstreamLimits, setAside: Math.min(setAside, config.upstreamLimits.dailyBudget / 2) };
const WHILE_UNREACHABLE =
  'keys seen in the last ten minutes keep working, others get 503; this instance uses its share of the call budget and polls feeds itself';
const redis =
  config.redisUrls.length > 0
    ? await openRedis(config.redisUrls, logger, { whileUnreachable: WHILE_UNREACHABLE })
    : null;
const sharedTraffic = redis && new SharedTraffic({ redis, source: upstream.source, health: upstreamHealth, now });
const traffic = sharedTraffic ?? new Traffic(now);
const meters = redis ? createSharedMeters(redis, { ...upstream, limits }) : undefined;
const callByKey = clients.map(({ callUpstream }) =>
  watchUpstream(callUpstream, traffic, instruments, logFirstResponse),
);
const guard = { callByKey, limits, deadlines, log: logger };
const protection = protectUpstream({ ...guard, meters });
const timetable = await openTimetable(config, {
  ...upstream,
  callForFeed: protection.callForFeed,
  log: logger,
});
const suburbs = isSandbox ? null : new Suburbs(config.dataDir, logger);
const stops = new StopRegister(upstream.loadStops, { timetable, planner: suburbs ?? upstream.planner });
const alerts = new AlertList({ now: systemClock.now, stops, queryUpstream: protection.queryUpstream });
/** Feeds are polled for the record only if all of their calls are set aside anyway. */
const pollsForRecord = !isSandbox && limits.setAside === setAside;
const punctuality =
  config.timetable.mode === 'off' || config.without.includes('punctuality')
    ? undefined
    : openPunctuality({
        path: join(config.dataDir, isSandbox ? 'punctuality-of-the-sandbox.db' : 'punctuality.db'),
        isSandbox,
        timetable: timetable.get,
        requestFeeds: () => pollsForRecord && live.feeds?.request(listFeedSources(MODES)),
        clock: systemClock,
        log: logger,
      });
const live = openRealtime({
  ...upstream,
  timetable,
  proxyUrl: config.upstreamProxy,
  listAlerts: alerts.alertsOf,
  queryUpstream: protection.queryUpstream,
  timeoutMs: deadlines.callMs,
  callForFeed: protection.callForFeed,
  clock: systemClock,
  log: logger,
  shared: redis && { redis, source: upstream.source },
  recordPoll: (feed, outcome) => instruments.feedPolls.inc({ feed, outcome }),
  recordBoard: (board) => recordBoard(board, traffic, instruments),
  published: punctuality?.record,
});
const planning = openJourneys({
  mode: config.journeys,
  timetable,
  feeds: live.feeds,
  stops,
  listAlerts: alerts.alertsOf,
  listLiftsOut: alerts.liftsOut,
  isScarce: () => protection.state().shortage !== null || protection.state().isBreakerOpen,
  log: logger,
  record: ({ source, reason = '' }) => instruments.journeys.inc({ source, reason }),
  compared: (agrees) => instruments.journeysCompared.inc({ agrees: agrees ? 'yes' : 'no' }),
});
const carParks = config.without.includes('carparks')
  ? null
  : openCarParks({
      ...upstream,
      isSandbox,
      dataDir: config.dataDir,
      proxyUrl: config.upstreamProxy,
      timeoutMs: deadlines.callMs,
      callForFeed: protection.callForFeed,
      redis,
      clock: systemClock,
      log: logger,
    });
const pressure = new PressureWatch();
const store = watchAdmissions(
  orExit(() => openStore({ redis, dataDir: config.dataDir, log: logger }), { expected: StoreOpenError }),
  instruments,
  () => storeProbe.heard(),
);
let isStoreOurs = false;
await claimOurStore();
const restrictions = new Restrictions({ store, log: logger });
// If the store is unreachable, `follow` reads the restrictions as soon as it is back.
if (isStoreOurs) await restrictions.refresh();
restrictions.follow();
const storeProbe = createStoreProbe(() => store.check(), { graceMs: GRACE_MS });
const tracing = config.collector && (await openTracing(config.collector));
const app = await buildApp({
  config,
  queryUpstream: isSandbox ? withRehearsals(protection.queryUpstream, guard) : protection.queryUpstream,
  callsPerSecond: limits.rps * callByKey.length,
  boards: live.boards,
  runs: live.runs,
  ...(punctuality && { punctuality }),
  journeys: planning.journeys,
  ...(planning.reach && { reach: planning.reach }),
  vehicles: live.vehicles,
  ...(carParks && { carParks }),
  timetable,
  deadlines,
  access: { store, acceptsTestKeys: isSandbox, restrictions, now: countingNow },
  extensions: [
    countRequests({ traffic, instruments }),
    ...(config.without.includes('streams') ? [] : [streams()]),
    ...(config.without.includes('mcp') ? [] : [assistants]),
    ...(config.without.includes('pages') ? [] : [boardPages({ testKey: () => testKey() }), pages(pageOptions(config))]),
  ],
  linkSecrets: config.linkSecrets ?? [await keptLinkSecret()],
  stops,
  alerts,
  now,
  logger,
  drainMs: config.drainMs,
  loggedPerSecond: config.loggedPerSecond,
  connectionLimits: connectionLimitsFor(maxDescriptors()),
  isStoreReachable: storeProbe.servesKnownKeys,
  pressure,
  networkLimit: NETWORK_LIMIT,
  countLeftOut: (path, leftOut) => countLeftOut(instruments, path, leftOut),
  build,
});

const endSweep =
  suburbs && sweepSuburbs(suburbs, { stops, queryUpstream: protection.queryUpstream, clock: systemClock, log: logger });
const metrics = config.metrics && (await openMetrics(config.metrics));
const operator = await openOperatorSocket(
  operatorFolder({ dataDir: config.dataDir, isSandbox }),
  operatorHandlers(),
  logger,
);

closeOnSignal({ delay: config.drainMs + deadlines.closeMs, logger }, async () => {
  endSweep?.();
  await app.close();
  await metrics?.close();
  await operator.close();
  await planning.close();
  await timetable.close();
  await live.close();
  await carParks?.close();
  await punctuality?.close();
  await tracing?.close();
  await sharedTraffic?.close();
  await Promise.all(clients.map((client) => client.close()));
  await upstream.close();
  await store.close();
  redis?.close();
  await logExport?.close();
});

// The sandbox's timetable takes seconds; anybody who reaches the address may use every operation. A real one takes minutes.
if (isSandbox) await timetable.whenTried();
await listen();
if (isTerminal) await welcome();
else if (isSandbox) await announceSandbox();
else logger.info(`responses come from ${upstream.source}, with ${config.upstream.apiKeys.length} key(s)`);

/** Marks the store as ours. Retries while the store is unreachable or read-only; exits if the store is of the other kind. */
async function claimOurStore(): Promise<void> {
  try {
    await expectStoreKind(store, isSandbox ? 'sandbox' : 'real');
    isStoreOurs = true;
  } catch (error) {
    if (error instanceof StoreKindError) {
      process.stderr.write(`${error.message}\n`);
      process.exit(1);
    }
    setTimeout(claimOurStore, CLAIM_AGAIN_MS).unref();
  }
}

async function listen(): Promise<void> {
  const { host, port } = config;
  await app.listen({ host, port }).catch((error) => cannotListen(error, 'PORT', port));
}

async function openMetrics(address: NonNullable<Config['metrics']>) {
  const registry = createMetrics({
    instruments,
    build,
    source: config.upstream.kind,
    upstream: protection,
    live: live.report,
    carParks: carParks ? () => carParks.status() : undefined,
    timetable: timetable.status,
    punctuality: punctuality?.state,
    storeState: storeProbe.state,
    ...(redis && { redisMemory: redis.memory }),
    pressure,
  });
  const server = await startMetricsServer(registry, address).catch((error) =>
    cannotListen(error, 'METRICS_ADDRESS', address.port),
  );
  logger.info(`metrics are at http://${address.host}:${server.port}/metrics`);
  return server;
}

/** The queries of `npm run timetable` to a running service. */
function operatorHandlers(): OperatorHandlers {
  const report = () => ({ pid: process.pid, at: Date.now(), ...live.report() });
  return {
    '/feeds': async () => report(),
    async '/explain'(query) {
      const stopId = query.get('stop') ?? '';
      const [route, isArrival] = [query.get('route'), query.has('arrivals')];
      const board = live.feeds && (await explainBoard(live.feeds, { stopId, route, isArrival, now: Date.now }));
      return { report: report(), board };
    },
  };
}

/** The OpenTelemetry packages are loaded only if they are used. */
async function openLogExport(to: NonNullable<Config['collector']>) {
  const { startLogExport } = await import('./extensions/telemetry/log-export.ts');
  return startLogExport(to);
}

async function openTracing(to: NonNullable<Config['collector']>) {
  const { startTracing } = await import('./extensions/telemetry/tracing.ts');
  // Only the origin: the URL may contain a password.
  logger.info(`traces${to.takesLogs ? ' and logs' : ''} are sent to ${new URL(to.endpoint).origin}`);
  return startTracing(to, logger);
}

/** Shows an operator that a new key works. */
function logFirstResponse(): void {
  if (!hasResponded && !isSandbox) logger.info('first upstream response: ok');
  hasResponded = true;
}

function upstreamHealth(): UpstreamHealth {
  const { budgetLeft, isBreakerOpen, shortage } = protection.state();
  return { budgetLeft, isBreakerOpen, shortage };
}

/** Only the settings that the pages need. */
function pageOptions({ tileUrl, tileAttribution, contact, smtpUrl, mailFrom, dataDir }: Config): PageOptions {
  return {
    tileUrl,
    tileAttribution,
    networkMap: upstream.networkMap,
    contact,
    traffic,
    upstreamHealth,
    live: live.report,
    carParks: carParks ? () => carParks.status() : undefined,
    timetable: timetable.status,
    punctuality: punctuality?.state,
    incidentStore: redis
      ? redisIncidents({ redis, source: upstream.source })
      : fileIncidents(join(dataDir, isSandbox ? 'incidents-of-the-sandbox.json' : 'incidents.json')),
    testKey: () => testKey(),
    publishableKey: () => testKey('pub'),
    accounts: store,
    mailer: createMailer({ smtpUrl, mailFrom, dataDir, log: logger, now }),
    countMail: (outcome) => instruments.mails.inc({ outcome }),
  };
}

async function keptLinkSecret(): Promise<string> {
  if (config.redisUrls.length > 0) {
    logger.warn(
      'LINK_SECRET is not set: links in mails and identifiers work only on sandbox instances that share DATA_DIR.',
    );
  }
  return loadLinkSecret(config.dataDir);
}

/** Null unless this is a sandbox, and while the account store is unreachable. */
async function testKey(kind?: 'pub'): Promise<string | null> {
  if (!isSandbox || !isStoreOurs) return null;
  return sandboxKey(store, config.dataDir, now(), kind).catch((err: Error) => {
    logger.warn({ reason: err.message }, 'no test key: the account store is unreachable');
    return null;
  });
}

async function announceSandbox(): Promise<void> {
  logger.warn('UPSTREAM_API_KEY is not set: the embedded sandbox makes up every response. Do not travel by it.');
  // Single quotes, because JSON logs would escape double quotes and the command could not be copied.
  const line = `try: ${sampleCommand((await testKey()) ?? 'YOUR_KEY')}`;
  // Nothing works without the key, so a lower log level does not hide it.
  logger[logger.isLevelEnabled('info') ? 'info' : 'warn'](line);
}

/** Prints the address, a key, and a command to copy for a person at a terminal. */
async function welcome(): Promise<void> {
  const { port } = app.server.address() as { port: number };
  const key = await testKey();
  const source = isSandbox ? 'a sandbox: every time is made up' : `data from ${upstream.source}`;
  process.stdout.write(`Open    http://localhost:${port}  (${source})
Key     ${key ?? `http://localhost:${port}/signup`}
Try     ${sampleCommand(key ?? 'YOUR_KEY')}
`);
}

function sampleCommand(key: string): string {
  const { port } = app.server.address() as { port: number };
  return `curl -H 'Authorization: Bearer ${key}' 'http://localhost:${port}/v1/departures?stop=200070&modes=all'`;
}

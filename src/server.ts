import { loadLinkSecret } from '#web/signup/magic-link.ts';
import { buildApp } from './app.ts';
import { ConfigError, parseConfig } from './config.ts';
import { deadlinesFrom } from './core/clock.ts';
import { openLog } from './core/log.ts';
import { openRedis } from './core/redis/shared-redis.ts';
import { assistants } from './extensions/mcp/mcp.ts';
import { streams } from './extensions/streams/stream-routes.ts';
import { countRequests, createInstruments } from './extensions/telemetry/instruments.ts';
import { parseBuild } from './http/build.ts';
import { connectionLimitsFor } from './http/connection/connections.ts';
import { NETWORK_LIMIT } from './http/network-limit.ts';
import { PressureWatch, refuseUnderPressure } from './http/pressure.ts';
import { requireStore } from './http/readiness.ts';
import { openAccounts } from './server/open-accounts.ts';
import { openLogExport, openTracing } from './server/open-collector.ts';
import { openMetrics } from './server/open-metrics.ts';
import { openPages } from './server/open-pages.ts';
import { openProtection } from './server/open-protection.ts';
import { openSources } from './server/open-sources.ts';
import { createOperatorHandlers } from './server/operator-handlers.ts';
import { openOperatorSocket, operatorFolder } from './server/operator-socket.ts';
import { cannotListen, closeOnSignal, expectFreePort, maxDescriptors, orExit } from './server/process.ts';
import { openUpstream } from './server/upstream-source.ts';
import { announceSandbox, welcome } from './server/welcome.ts';

// Everything in DATA_DIR is for this user alone: downloads, imports and the database's own files too.
process.umask(0o077);
const config = orExit(() => parseConfig(process.env), {
  expected: ConfigError,
  intro: 'The configuration is not usable:\n',
});
const { host, port, dataDir } = config;
await expectFreePort(host, port, 'PORT');
if (config.metrics) await expectFreePort(config.metrics.host, config.metrics.port, 'METRICS_ADDRESS');

// Values that all parts share.
const now = Date.now;
const deadlines = deadlinesFrom();
const isTerminal = process.stdout.isTTY;
const logExport = await openLogExport(config);
const log = openLog(config.logLevel ?? (isTerminal ? 'warn' : 'info'), { copyTo: logExport?.send });
const build = parseBuild(process.env);
log.info(build, 'the service starts');
const instruments = createInstruments();
const WHILE_UNREACHABLE =
  'keys seen in the last ten minutes keep working, others get 503; this instance uses its share of the call budget and polls feeds itself';
const redis =
  config.redisUrls.length > 0 ? await openRedis(config.redisUrls, log, { whileUnreachable: WHILE_UNREACHABLE }) : null;

// The four parts of the app: config, sources, access, and the clock.
const upstream = await openUpstream(config, { now });
const { isSandbox, source } = upstream;
const protection = openProtection(config, { upstream, redis, deadlines, instruments, now, log });
const { traffic } = protection;
const { sources, status, ...opened } = await openSources(config, {
  upstream,
  protection,
  redis,
  deadlines,
  instruments,
  log,
});
const accounts = await openAccounts({ redis, dataDir, isSandbox, instruments, now, log });
const { store, probe, restrictions, testKey } = accounts;
/** Quota days follow the clock of Redis: an instance whose clock is ahead would charge requests to the next day. */
const countingNow = () => Date.now() + (redis?.clockAheadMs() ?? 0);

// Before the app, so that its requests are traced.
const tracing = await openTracing(config, log);
const pressure = new PressureWatch();
const reported = { ...status, traffic, upstreamHealth: protection.health };
const has = (extension: (typeof config.without)[number]) => !config.without.includes(extension);
if (!config.linkSecrets && redis) {
  log.warn(
    'LINK_SECRET is not set: links in mails and identifiers work only on sandbox instances that share DATA_DIR.',
  );
}
const app = await buildApp({
  config,
  sources,
  access: { store, acceptsTestKeys: isSandbox, restrictions, now: countingNow },
  now,
  deadlines,
  http: {
    logger: log,
    build,
    connectionLimits: connectionLimitsFor(maxDescriptors()),
    networkLimit: NETWORK_LIMIT,
    loggedPerSecond: config.loggedPerSecond,
    drainMs: config.drainMs,
  },
  extensions: [
    refuseUnderPressure(pressure),
    requireStore(probe.servesKnownKeys),
    () => ({ missing: () => opened.preparations.missing() }),
    countRequests({ traffic, instruments }),
    ...(has('streams') ? [streams()] : []),
    ...(has('mcp') ? [assistants] : []),
    ...(has('pages') ? openPages(config, { upstream, redis, accounts, reported, instruments, now, log }) : []),
  ],
  linkSecrets: config.linkSecrets ?? [await loadLinkSecret(dataDir)],
});

// Around the app: background work, metrics, operators' commands, the end of the process.
const endSweep = opened.sweep();
const metrics = await openMetrics(
  config,
  {
    ...status,
    instruments,
    build,
    source: config.upstream.kind,
    upstream: protection,
    storeState: probe.state,
    redisMemory: redis?.memory,
    pressure,
  },
  log,
);
const handlers = createOperatorHandlers({ feeds: opened.feeds, report: status.live });
const operator = await openOperatorSocket(operatorFolder({ dataDir, isSandbox }), handlers, log);
closeOnSignal({ delay: config.drainMs + deadlines.closeMs, logger: log }, async () => {
  endSweep?.();
  for (const part of [app, metrics, operator, opened, tracing, protection, upstream, store]) await part?.close();
  redis?.close();
  await logExport?.close();
});

// Waits for the sandbox's timetable, which takes seconds, so that every operation works from the start. A real one takes minutes.
if (isSandbox) await opened.timetable.whenTried();
await app.listen({ host, port }).catch((error) => cannotListen(error, 'PORT', port));
if (isTerminal) welcome(app.server, { key: await testKey(), upstream });
else if (config.upstream.kind === 'sandbox') announceSandbox(app.server, await testKey(), log);
else log.info(`responses come from ${source}, with ${config.upstream.apiKeys.length} key(s)`);

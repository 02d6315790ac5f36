import closeWithGrace from 'close-with-grace';
import { pino } from 'pino';
import { sandboxKey } from './access/sandbox-key.ts';
import type { AccountStore } from './access/store.ts';
import { StoreOpenError } from './access/stores/embedded-database.ts';
import { openStore } from './access/stores/open-store.ts';
import { buildApp, type PageOptions } from './app.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { createEfaClient } from './efa/client.ts';
import { deadlinesFrom } from './efa/deadlines.ts';
import { defaultConnectionLimits } from './http/connection/connection-limits.ts';
import { openRedis } from './redis/shared-redis.ts';
import { findRehearsalCode } from './sandbox/rehearsal/rehearsal-case.ts';
import { startSandbox } from './sandbox/server.ts';
import { readLinkSecret } from './signup/magic-link.ts';
import { createMailer } from './signup/mailer.ts';
import { createInstruments } from './telemetry/instruments.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { startMetricsServer } from './telemetry/metrics-server.ts';
import { ownPressureLimits } from './telemetry/pressure.ts';
import { createRedisTraffic } from './telemetry/redis-traffic.ts';
import { shareTraffic } from './telemetry/shared-traffic.ts';
import { createStoreProbe } from './telemetry/store-probe.ts';
import { watchAdmissions } from './telemetry/store-watch.ts';
import { createTraffic, type UpstreamHealth } from './telemetry/traffic.ts';
import { watchUpstream } from './telemetry/upstream-watch.ts';
import { alwaysClosed } from './upstream/breaker.ts';
import { coordinateThrough } from './upstream/coordination.ts';
import { isolate } from './upstream/isolation.ts';
import { protectUpstream } from './upstream/protection.ts';

/** For an authority on this machine that asks for none. */
const NO_KEY = '';

const now = () => new Date();
const config = readConfigOrExit();
const logger = pino({ level: config.logLevel });
const deadlines = deadlinesFrom(config.upstreamTimeoutMs);
const isSandbox = config.upstream.kind === 'sandbox';

const upstream = await openUpstream(config);
const clients = upstream.apiKeys.map((apiKey) =>
  createEfaClient({ url: upstream.url, apiKey, timeoutMs: deadlines.callMs, now }),
);
const instruments = createInstruments();
const limits = config.upstreamLimits;
const redis = config.redisUrls.length > 0 ? await openRedis(config.redisUrls, logger) : null;
const sharedTraffic =
  redis && shareTraffic({ store: createRedisTraffic(redis, upstream.source), health: upstreamHealth, now });
const traffic = sharedTraffic ?? createTraffic(now);
const shared = redis && coordinateThrough(redis, { ...upstream, limits });
const guard = {
  asks: clients.map(({ ask }) => watchUpstream(ask, traffic, instruments)),
  limits,
  deadlines,
  log: logger,
};
const protection = protectUpstream({ ...guard, ...(shared && { shared }) });
const store = watchAdmissions(openStoreOrExit(), instruments);
// Any account will do, known or not: what matters is that there is an answer.
const isStoreReachable = createStoreProbe(() => store.findAccount('none'));
const app = await buildApp({
  config,
  // A rehearsed failure touches no other question, and has the same outcome however often it is asked for.
  ask: isSandbox
    ? isolate(protection.ask, {
        nameOf: findRehearsalCode,
        open: () => protectUpstream({ ...guard, breaker: alwaysClosed }).ask,
      })
    : protection.ask,
  deadlines,
  access: { store, acceptsTestKeys: isSandbox, burstLimits: config.burstLimits },
  pages: await pageOptions(config),
  now,
  logger,
  connectionLimits: defaultConnectionLimits(config.connectionLimits, maxDescriptors()),
  ...(shared && { verdictStore: shared.store }),
  isStoreReachable,
  pressureLimits: ownPressureLimits(),
  instruments,
});

const metrics = config.metrics && (await openMetrics(config.metrics));

closeWithGrace({ delay: deadlines.closeMs, logger }, async ({ err, signal }) => {
  if (err) logger.fatal({ err }, 'stopping after an error that nothing caught');
  else logger.info({ signal }, 'stopping: finishing the requests in flight');
  await app.close();
  await metrics?.close();
  await sharedTraffic?.close();
  await Promise.all(clients.map((client) => client.close()));
  await upstream.close();
  await store.close();
  redis?.close();
});

await listen();
if (isSandbox) await announceSandbox();
else logger.info(`answers come from ${upstream.source}, with ${config.upstream.apiKeys.length} key(s)`);

async function listen(): Promise<void> {
  await app.listen({ host: config.host, port: config.port }).catch((error) => cannotListen(error, 'PORT', config.port));
}

async function openMetrics(address: NonNullable<Config['metrics']>) {
  const registry = createMetrics({ instruments, upstream: protection, isStoreReachable });
  const server = await startMetricsServer(registry, address).catch((error) =>
    cannotListen(error, 'METRICS_PORT', address.port),
  );
  logger.info(`metrics are at http://${address.host}:${server.port}/metrics`);
  return server;
}

function cannotListen({ code, message }: NodeJS.ErrnoException, variable: string, port: number): never {
  logger.fatal(code === 'EADDRINUSE' ? `port ${port} is in use: set ${variable} to another one` : message);
  process.exit(1);
}

function readConfigOrExit(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`The configuration is not usable:\n${error.message}\n`);
    process.exit(1);
  }
}

function upstreamHealth(): UpstreamHealth {
  const { reserveFill, isBreakerOpen } = protection.state();
  return { budgetLeft: reserveFill, isBreakerOpen };
}

/** What the pages need of the configuration, and no more of it. */
async function pageOptions({ tileUrl, tileAttribution, securityContact, ...more }: Config): Promise<PageOptions> {
  const { smtpUrl, mailFrom, dataDir, linkSecret } = more;
  return {
    tileUrl,
    tileAttribution,
    securityContact,
    traffic,
    upstreamHealth,
    testKey,
    accounts: store,
    mailer: createMailer({ smtpUrl, mailFrom, dataDir, log: logger, now }),
    linkSecret: linkSecret ?? (await keptLinkSecret()),
  };
}

function openStoreOrExit(): AccountStore {
  try {
    return openStore({ redis, dataDir: config.dataDir, log: logger });
  } catch (error) {
    if (!(error instanceof StoreOpenError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

/** How many files and connections the process may open. */
function maxDescriptors(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const limit = Number(userLimits?.open_files?.soft);
  return limit > 0 ? limit : Number.POSITIVE_INFINITY;
}

/** The authority's address and keys; without a key the embedded sandbox is started and is the authority. */
async function openUpstream({ upstream }: Config) {
  if (upstream.kind === 'authority') {
    const { url, apiKeys } = upstream;
    return { url, source: url, apiKeys: apiKeys.length > 0 ? apiKeys : [NO_KEY], close: async () => {} };
  }
  const apiKey = crypto.randomUUID();
  const sandbox = await startSandbox({ apiKey, now });
  return { url: sandbox.url, source: 'sandbox', apiKeys: [apiKey], close: sandbox.close };
}

async function keptLinkSecret(): Promise<string> {
  if (config.redisUrls.length > 0) {
    logger.warn('LINK_SECRET is not set: links in mails work only on instances of the sandbox that share DATA_DIR.');
  }
  return readLinkSecret(config.dataDir);
}

/** Null where there is no sandbox, and while the account store is away. */
async function testKey(): Promise<string | null> {
  if (!isSandbox) return null;
  return sandboxKey(store, config.dataDir, now()).catch((err: Error) => {
    logger.warn({ reason: err.message }, 'no test key: the account store is away');
    return null;
  });
}

async function announceSandbox(): Promise<void> {
  const { port } = app.server.address() as { port: number };
  logger.warn('UPSTREAM_API_KEY is not set: every answer is made up by the embedded sandbox. Do not travel by it.');
  const key = (await testKey()) ?? 'YOUR_KEY';
  const url = `http://localhost:${port}/v1/departures?stop=200070&modes=all`;
  logger.info(`try: curl -H "Authorization: Bearer ${key}" "${url}"`);
}

import closeWithGrace from 'close-with-grace';
import { pino } from 'pino';
import { sandboxKey } from './access/sandbox-key.ts';
import type { AccountStore } from './access/store.ts';
import { StoreOpenError } from './access/stores/embedded-database.ts';
import { openStore } from './access/stores/open-store.ts';
import { buildApp } from './app.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { createEfaClient } from './efa/client.ts';
import { openRedis } from './redis/shared-redis.ts';
import { startSandbox } from './sandbox/server.ts';
import { readLinkSecret } from './signup/link-secret.ts';
import { createPostman } from './signup/postman.ts';
import { createTraffic } from './site/traffic.ts';
import { watchUpstream } from './site/upstream-watch.ts';
import { coordinateThrough } from './upstream/coordination.ts';
import { createProtectedClient } from './upstream/protected-client.ts';

/** No request takes longer than 9.5 seconds; whoever stops us waits ten. */
const CLOSE_WITHIN_MS = 9800;
/** For an authority on this machine that asks for none. */
const NO_KEY = '';

const now = () => new Date();
const config = readConfigOrExit();
const logger = pino({ level: config.logLevel });

const upstream = await openUpstream(config);
const traffic = createTraffic(now);
const clients = upstream.apiKeys.map((apiKey) =>
  watchUpstream(
    createEfaClient({ url: upstream.url, apiKeys: [apiKey], timeoutMs: config.upstreamTimeoutMs, now }),
    traffic,
  ),
);
const limits = config.upstreamLimits;
const redis = config.redisUrls.length > 0 ? await openRedis(config.redisUrls, logger) : null;
const shared = redis && coordinateThrough(redis, { ...upstream, limits });
const efa = createProtectedClient({ clients, limits, log: logger, ...(shared && { shared }) });
const store = openStoreOrExit();
const isSandbox = config.upstream.kind === 'sandbox';
const front = {
  ...config,
  traffic,
  upstreamHealth: () => {
    const { reserveFill, isLeftAlone } = efa.state();
    return { budgetLeft: reserveFill, isBreakerOpen: isLeftAlone };
  },
  testKey,
  register: store,
  postman: createPostman({ ...config, log: logger, now }),
  linkSecret: config.linkSecret ?? (await keptLinkSecret()),
};
const app = await buildApp({
  config,
  efa,
  access: { store, acceptsTestKeys: isSandbox },
  front,
  now,
  logger,
  ...(shared && { verdictStore: shared.store }),
});

closeWithGrace({ delay: CLOSE_WITHIN_MS, logger }, async ({ err, signal }) => {
  if (err) logger.fatal({ err }, 'stopping after an error that nobody caught');
  else logger.info({ signal }, 'stopping: finishing the requests in flight');
  await app.close();
  await Promise.all(clients.map((client) => client.close()));
  await upstream.close();
  await store.close();
  redis?.close();
});

await listen();
if (isSandbox) await announceSandbox();
else logger.info(`answers come from ${upstream.source}, with ${config.upstream.apiKeys.length} key(s)`);

async function listen(): Promise<void> {
  const { host, port } = config;
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    logger.fatal(code === 'EADDRINUSE' ? `port ${port} is in use: set PORT to another one` : message);
    process.exit(1);
  }
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

function openStoreOrExit(): AccountStore {
  try {
    return openStore({ redis, dataDir: config.dataDir, log: logger });
  } catch (error) {
    if (!(error instanceof StoreOpenError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
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
    logger.warn('LINK_SECRET is not set: links in mails work only on instances that share DATA_DIR.');
  }
  return readLinkSecret(config.dataDir);
}

/** Asked for again until the store has one to give. */
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

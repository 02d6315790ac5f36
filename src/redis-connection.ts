import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';

/** No answer at all for so long: the connection is given up and made anew. */
const DEAD_AFTER_MS = 3000;

/**
 * Nothing waits for a connection and nothing is sent twice: a request that cannot be counted now is told so now,
 * and one whose answer got lost may have been counted.
 */
const FAIL_FAST = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: 500,
  socketTimeout: DEAD_AFTER_MS,
  retryStrategy,
} satisfies RedisOptions;

/** For what an operator or a signup can wait for, a few seconds. */
const PATIENT = {
  enableOfflineQueue: true,
  lazyConnect: true,
  maxRetriesPerRequest: 3,
  autoResendUnfulfilledCommands: false,
  connectTimeout: 2000,
  commandTimeout: 5000,
  retryStrategy,
} satisfies RedisOptions;

export type RedisConnection = Redis | Cluster;

const troubles = new WeakMap<RedisConnection, string>();

/** Why it was not connected when it last was not. */
export function lastTrouble(connection: RedisConnection): string {
  return troubles.get(connection) ?? 'no connection yet';
}

/** The Lua commands that a connection is to know. */
type Scripts = Record<string, { lua: string; numberOfKeys: number }>;

/** `urls`: one is a server, several are nodes of a cluster. `rediss:` is TLS. */
export function connectRedis(
  urls: readonly string[],
  manner: 'fail-fast' | 'patient',
  scripts: Scripts = {},
): RedisConnection {
  const options = manner === 'fail-fast' ? FAIL_FAST : PATIENT;
  const connection =
    urls.length === 1 && urls[0]
      ? new Redis(urls[0], { ...options, scripts })
      : new Cluster([...urls], clusterOptions(urls[0] ?? '', options, scripts));
  connection.on('error', (error: Error) => {
    troubles.set(connection, error.message);
  });
  return connection;
}

/** Nodes that the cluster names later are reached as the first one given. */
function clusterOptions(url: string, options: typeof FAIL_FAST | typeof PATIENT, scripts: Scripts) {
  const { protocol, username, password } = new URL(url);
  const { enableOfflineQueue: _, lazyConnect, retryStrategy: __, ...forNodes } = { lazyConnect: false, ...options };
  const isTls = protocol === 'rediss:';
  return {
    scripts,
    // A node is connected when it is first needed, and again after it was away; what comes meanwhile must wait for it.
    enableOfflineQueue: true,
    lazyConnect,
    // These would send again what may have been carried out.
    retryDelayOnFailover: 0,
    clusterRetryStrategy: retryStrategy,
    slotsRefreshInterval: 5000,
    // A certificate is for a name, not for the address that the name has today.
    ...(isTls && { dnsLookup: (address, callback) => callback(null, address) }),
    redisOptions: {
      ...forNodes,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(isTls && { tls: {} }),
    },
  } satisfies ClusterOptions;
}

function retryStrategy(attempt: number): number {
  return Math.min(attempt * 100, 500);
}

/** Resolves when commands can be sent, or after so long without. */
export async function whenReady(connection: RedisConnection, withinMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, withinMs);
  const greet = () => greetNodes(connection).then(resolve, () => {});
  if (connection.status === 'ready') greet();
  else connection.once('ready', greet);
  await promise;
  clearTimeout(timer);
  connection.off('ready', greet);
}

/** Nodes of a cluster are connected when they are first asked something; then the first request need not wait. */
async function greetNodes(connection: RedisConnection): Promise<void> {
  if (connection instanceof Cluster) await Promise.all(connection.nodes('master').map((node) => node.ping()));
}

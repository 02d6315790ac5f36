import { Cluster, Redis, type RedisOptions } from 'ioredis';

/** Nothing waits for a connection and nothing is sent twice. */
const FAIL_FAST = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: 500,
  // No answer at all for so long: the connection is given up and made anew.
  socketTimeout: 3000,
  retryStrategy: (attempt: number) => Math.min(attempt * 100, 500),
} satisfies RedisOptions;

/** `urls`: one is a server, several are nodes of a cluster. */
export function connectRedis(urls: readonly string[]): Redis | Cluster {
  const [first] = urls;
  const connection =
    urls.length === 1 && first ? new Redis(first, FAIL_FAST) : new Cluster([...urls], { redisOptions: FAIL_FAST });
  // Who asks is told; without a listener every failed attempt to connect would be written to the console.
  connection.on('error', () => {});
  return connection;
}

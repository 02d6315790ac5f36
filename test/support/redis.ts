import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { AccountStore } from '#src/access/store.ts';
import { openStore } from '#src/access/stores/open-store.ts';
import { sleep, systemClock } from '#src/core/clock.ts';
import type { Log } from '#src/core/log.ts';
import { openRedis } from '#src/core/redis/shared-redis.ts';
import { ensureProgram } from './debian.ts';
import { freePort } from './free-port.ts';

export interface TestRedis {
  url: string;
  port: number;
  process: ChildProcess;
  signal(signal: NodeJS.Signals): void;
  /** Kills it at once, as `kill -9` does. */
  kill(): Promise<void>;
  /** Restarts it with the data that it left. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Our own Redis on a free loopback port, with an append-only file. */
export async function startRedis(...extra: string[]): Promise<TestRedis> {
  ensureProgram('redis-server', 'redis-server', 'macOS: brew install redis.');
  // In memory if possible, so that the tests do not wait for a busy disk.
  const directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'transit-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const settings = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--dir',
    directory,
    '--save',
    '',
    '--loglevel',
    'warning',
  ];
  // With `everysec`, Redis may acknowledge a command before writing it, and a kill would lose it.
  settings.push('--appendonly', 'yes', '--appendfsync', 'no', ...extra);

  async function start(): Promise<ChildProcess> {
    const child = spawn('redis-server', settings, { stdio: 'ignore' });
    const killIt = () => child.kill('SIGKILL');
    process.once('exit', killIt);
    child.once('exit', () => process.off('exit', killIt));
    await answering(url, child.pid);
    return child;
  }

  const redis: TestRedis = {
    url,
    port,
    process: await start(),
    signal: (signal) => void redis.process.kill(signal),
    async kill() {
      const ended = once(redis.process, 'exit');
      redis.process.kill('SIGKILL');
      await ended;
    },
    async restart() {
      redis.process = await start();
    },
    async stop() {
      if (redis.process.exitCode === null && redis.process.signalCode === null) await redis.kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return redis;
}

/** Three nodes that share the slots, without replicas. */
export async function startRedisCluster(): Promise<{ nodes: TestRedis[]; url: string; stop(): Promise<void> }> {
  const nodes = await Promise.all([0, 1, 2].map(() => startRedis('--cluster-enabled', 'yes')));
  const clients = nodes.map(({ url }) => new Redis(url));
  await Promise.all(
    clients.map(async (client, index) => {
      await client.cluster(
        'ADDSLOTSRANGE',
        Math.floor((16_384 / 3) * index),
        Math.floor((16_384 / 3) * (index + 1)) - 1,
      );
      for (const { port } of nodes) await client.cluster('MEET', '127.0.0.1', port);
    }),
  );
  const isReady = async () => {
    const states = await Promise.all(clients.map((client) => client.cluster('INFO')));
    return states.every((state) => /cluster_state:ok/.test(state) && /cluster_known_nodes:3/.test(state));
  };
  while (!(await isReady())) await sleep(systemClock, 100);
  for (const client of clients) client.disconnect();
  return {
    nodes,
    url: nodes.map(({ url }) => url).join(','),
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
}

/** Waits until the Redis answers, and checks that it is ours: two that took the same port would answer for each other. */
async function answering(url: string, pid: number | undefined): Promise<void> {
  const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on('error', () => {});
  const info = await client.info();
  client.disconnect();
  if (!info.includes(`process_id:${pid}`)) throw new Error(`another Redis has the port of ${url}`);
}

const SILENT_LOG = { info() {}, warn() {}, error() {} };

/** The account store of one instance: in Redis, or in a file if no URLs are given. Closing it also closes its connections. */
export async function openTestStore(
  redisUrls: readonly string[],
  dataDir = '',
  log: Log = SILENT_LOG,
  redisOptions: Parameters<typeof openRedis>[2] = {},
): Promise<AccountStore> {
  const redis = redisUrls.length > 0 ? await openRedis(redisUrls, log, redisOptions) : null;
  const store = openStore({ redis, dataDir, log });
  return {
    ...store,
    async close() {
      await store.close();
      redis?.close();
    },
  };
}

import { Cluster, type ClusterOptions, Command, Redis, type RedisOptions } from 'ioredis';
import { within } from '../clock.ts';

/** A connection without a reply for this long is closed and reopened. */
const SOCKET_TIMEOUT_MS = 3000;

/** Never resend a command: if only the reply was lost, it has already run. */
const COMMON = {
  autoResendUnfulfilledCommands: false,
  connectTimeout: 2000,
  retryStrategy: (attempt: number) => Math.min(attempt * 100, 500),
} satisfies RedisOptions;

const OPTIONS = {
  /** For requests. Commands fail at once if there is no connection. */
  'fail-fast': {
    ...COMMON,
    enableOfflineQueue: false,
    lazyConnect: false,
    maxRetriesPerRequest: 0,
    socketTimeout: SOCKET_TIMEOUT_MS,
  },
  /** For signup and operator commands, which can wait a few seconds. */
  patient: { ...COMMON, enableOfflineQueue: true, lazyConnect: true, maxRetriesPerRequest: 3, commandTimeout: 5000 },
} satisfies Record<string, RedisOptions>;

export type RedisConnection = Redis | Cluster;

/**
 * Why a store did not run a command: it could not be sent, the store replied with an error, or no reply came. Only in the last
 * case it is unknown whether the command ran.
 */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
  readonly reason: 'not-sent' | 'refused' | 'no-response';

  constructor(message: string, reason: UnavailableError['reason'], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** One URL connects to a server, several to the nodes of a cluster. `rediss:` means TLS. */
export function connectRedis(urls: readonly string[], mode: keyof typeof OPTIONS): RedisConnection {
  const [first = ''] = urls;
  const options = OPTIONS[mode];
  const connection =
    urls.length === 1 ? new Redis(first, options) : new Cluster([...urls], clusterOptions(first, options));
  // Without a listener ioredis would write to the console. Commands report their own errors.
  connection.on('error', () => {});
  return connection;
}

/** Nodes announced by the cluster use the user, password and TLS setting of the first URL. */
function clusterOptions(url: string, options: (typeof OPTIONS)[keyof typeof OPTIONS]) {
  const { protocol, username, password } = new URL(url);
  const { enableOfflineQueue: _, lazyConnect, retryStrategy, ...forNodes } = options;
  const isTls = protocol === 'rediss:';
  return {
    // ioredis connects to a node on the first command for it, which waits in the queue meanwhile.
    enableOfflineQueue: true,
    lazyConnect,
    // With a delay above zero, ioredis would resend commands that may already have run.
    retryDelayOnFailover: 0,
    clusterRetryStrategy: retryStrategy,
    slotsRefreshInterval: 5000,
    // Certificates contain host names, so do not replace hosts by addresses.
    ...(isTls && { dnsLookup: (address, callback) => callback(null, address) }),
    redisOptions: {
      ...forNodes,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(isTls && { tls: {} }),
    },
  } satisfies ClusterOptions;
}

/** The value of a key; null if there is none or if it is longer than `maxBytes`. Receives at most one byte more than that. */
export async function getBounded(connection: RedisConnection, name: string, maxBytes: number): Promise<Buffer | null> {
  const value = await connection.getrangeBuffer(name, 0, maxBytes);
  return value.length > 0 && value.length <= maxBytes ? value : null;
}

/** Resolves when commands can be sent, but after `timeoutMs` at the latest. */
export async function whenReady(connection: RedisConnection, timeoutMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  const ping = () => pingNodes(connection).then(resolve, () => {});
  if (connection.status === 'ready') ping();
  else connection.once('ready', ping);
  await promise;
  clearTimeout(timer);
  connection.off('ready', ping);
}

/** Connects to all nodes of a cluster, so that the first request does not have to wait. */
async function pingNodes(connection: RedisConnection): Promise<void> {
  if (connection instanceof Cluster) await Promise.all(connection.nodes('master').map((node) => node.ping()));
}

/** The cluster node that holds the key, as `host:port`; an empty string for a single server. */
export function nodeOf(connection: RedisConnection, key: string): string {
  if (!(connection instanceof Cluster)) return '';
  const slot = new Command('exists', [key]).getSlot();
  return connection.slots[slot]?.[0] ?? '';
}

const MAX_PROBED_KEYS = 10_000;

/** Keys with this prefix, one for each master of a cluster, or one for a single server. */
export function keyOnEachNode(connection: RedisConnection, prefix: string): string[] {
  if (!(connection instanceof Cluster)) return [prefix];
  const masters = connection.nodes('master').length;
  const keys = new Map<string, string>();
  for (let n = 0; keys.size < masters && n < MAX_PROBED_KEYS; n++) keys.set(nodeOf(connection, prefix + n), prefix + n);
  // If no node is known, the first key reveals that the cluster is unreachable.
  return keys.size > 0 ? [...keys.values()] : [prefix];
}

/** Streams whose writes are held back. Value: the tasks to run before the writes leave. */
const held = new WeakMap<Redis['stream'], (() => void)[]>();

/**
 * Buffers writes until the end of the current event-loop turn, so commands of requests that arrived together share one write and
 * one reply packet. The write is the most expensive part of a command. On a cluster, each command is written by itself. `last`
 * runs just before the write, and the commands that it sends are part of it.
 */
export function writeTogether(connection: RedisConnection, last?: () => void): void {
  const stream = connection instanceof Cluster ? null : connection.stream;
  const tasks = stream && held.get(stream);
  if (tasks) {
    if (last) tasks.push(last);
  } else if (stream) {
    holdWrites(stream, last ? [last] : []);
  } else if (last) setImmediate(last);
}

function holdWrites(stream: Redis['stream'], tasks: (() => void)[]): void {
  held.set(stream, tasks);
  stream.cork();
  setImmediate(() => {
    for (const task of tasks) task();
    held.delete(stream);
    stream.uncork();
  });
}

/** Memory figures of one node, from INFO. */
export interface RedisMemory {
  /** `host:port` */
  node: string;
  usedBytes: number;
  /** 0 means no limit. */
  maxBytes: number;
}

/** Returns the figures of each node that replies within `timeoutMs`. */
export async function fetchMemory(connection: RedisConnection, timeoutMs: number): Promise<RedisMemory[]> {
  const nodes = connection instanceof Cluster ? connection.nodes('master') : [connection];
  const read = await Promise.all(
    nodes.filter(({ status }) => status === 'ready').map((node) => fetchNodeMemory(node, timeoutMs)),
  );
  return read.filter((memory) => memory !== null);
}

async function fetchNodeMemory(node: Redis, timeoutMs: number): Promise<RedisMemory | null> {
  const timeoutError = () => new Error('no figures in time');
  const info = await within(timeoutMs, node.info('memory'), timeoutError).catch(() => null);
  if (!info) return null;
  const values = new Map(info.split(/\r?\n/).map((line) => line.split(':', 2) as [string, string]));
  const number = (name: string) => Number(values.get(name) ?? 0);
  const { host, port } = node.options;
  return {
    node: `${host}:${port}`,
    usedBytes: number('used_memory'),
    maxBytes: number('maxmemory'),
  };
}

/** Redis runs these scripts even when its memory is full. */
const WHEN_FULL = '#!lua flags=allow-oom\n';

/**
 * Registers a Lua script; every script must be registered here. All keys of a script share one hash tag, so it also works on a
 * cluster. ioredis sends the text once per connection, and again if Redis has lost it (NOSCRIPT). `whenFull` is for small data
 * that must be written even when caches have filled the memory: accounts, charges, the budget and the list of instances.
 */
export function defineScript<
  Keys extends readonly string[],
  Arguments extends readonly (string | number | Buffer)[],
  Reply,
>(name: string, lua: string, { whenFull = false } = {}) {
  const registered = new WeakSet<RedisConnection>();
  return (connection: RedisConnection, keys: Keys, values: Arguments): Promise<Reply> => {
    if (!registered.has(connection)) connection.defineCommand(name, { lua: (whenFull ? WHEN_FULL : '') + lua });
    registered.add(connection);
    const command = Reflect.get(connection, name) as (...values: unknown[]) => Promise<Reply>;
    return command.call(connection, keys.length, ...keys, ...values);
  };
}

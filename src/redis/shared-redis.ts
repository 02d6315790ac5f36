import { ReplyError } from 'ioredis';
import type { Log } from '../log.ts';
import {
  type AskRedis,
  connectRedis,
  keyOnEachNode,
  lastConnectionError,
  nodeOf,
  type RedisConnection,
  type RedisMemory,
  readMemory,
  UnavailableError,
  whenReady,
  writeTogether,
} from './connection.ts';
import { ANNOUNCE_EVERY_MS, joinInstances } from './instances.ts';
import { createPresence, type Presence } from './presence.ts';
import { MAX_PATIENCE_MS } from './silence-detector.ts';

/** Enough for a Redis at the other end of the world, TLS included. */
const READY_WITHIN_MS = 2000;
const PROBE = 'tis:probe';

/** The Redis that the instances of the service share: one connection for all requests, and one watch on it. */
export interface SharedRedis {
  readonly urls: readonly string[];
  readonly presence: Presence;
  /** Sends a command. Rejects with `UnavailableError` only. */
  send<T>(command: (connection: RedisConnection) => Promise<T>): Promise<T>;
  /** The same, watched: rejects at once while the node of the key is away, and as soon as it counts as away. */
  ask: AskRedis;
  /** A key on each node that takes writes, for probes. */
  probeKeys(): string[];
  memory(): Promise<RedisMemory[]>;
  /** By how much the clock of Redis is ahead of `now`, in milliseconds; 0 while that is less than clocks usually differ. */
  clockAheadMs(): number;
  /** How many instances share this Redis; while it is away, as last known. */
  instances(): number;
  close(): void;
}

/** Opens also while Redis is away. */
export async function openRedis(
  urls: readonly string[],
  log: Log,
  { storeName = 'Redis', now = Date.now, announceEveryMs = ANNOUNCE_EVERY_MS } = {},
): Promise<SharedRedis> {
  const connection = connectRedis(urls, 'fail-fast');
  const presence = createPresence({
    storeName,
    nodeOf: (key) => nodeOf(connection, key),
    probe: (key) => send(() => connection.exists(key)),
    log,
  });

  /** An error as answer means that nothing was done. When no response comes, the command may have been carried out. */
  function send<T>(command: (connection: RedisConnection) => Promise<T>): Promise<T> {
    if (connection.status !== 'ready') {
      const reason = lastConnectionError(connection);
      return Promise.reject(new UnavailableError(`not connected to Redis: ${reason}`, 'not-sent'));
    }
    writeTogether(connection);
    return command(connection).catch((error: Error) => {
      throw new UnavailableError(error.message, error instanceof ReplyError ? 'refused' : 'no-response', error);
    });
  }

  const ask: AskRedis = async (key, command) => {
    if (presence.isAway(key)) throw new UnavailableError('Redis is away', 'not-sent');
    return presence.watch(key, send(command));
  };

  await whenReady(connection, READY_WITHIN_MS);
  const instances = await joinInstances(ask, { now, log, announceEveryMs });
  return {
    urls,
    presence,
    send,
    ask,
    memory: () => readMemory(connection, MAX_PATIENCE_MS),
    clockAheadMs: instances.clockAheadMs,
    probeKeys: () => keyOnEachNode(connection, PROBE),
    instances: instances.count,
    close() {
      instances.close();
      presence.close();
      connection.disconnect();
    },
  };
}

/** What the command answers; `otherwise` while Redis is away or refuses it. */
export async function askOr<Result, Otherwise>(
  redis: Pick<SharedRedis, 'ask'>,
  name: string,
  command: (connection: RedisConnection) => Promise<Result>,
  otherwise: Otherwise,
): Promise<Result | Otherwise> {
  try {
    return await redis.ask(name, command);
  } catch (error) {
    if (error instanceof UnavailableError) return otherwise;
    throw error;
  }
}

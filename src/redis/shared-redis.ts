import { ReplyError } from 'ioredis';
import {
  type AskRedis,
  connectRedis,
  lastConnectionError,
  nodeOf,
  type RedisConnection,
  whenReady,
  writeTogether,
} from './connection.ts';
import { joinInstances } from './instances.ts';
import { createPresence, type Presence, type PresenceLog } from './presence.ts';
import { UnavailableError } from './unavailable-error.ts';

/** Enough for a Redis at the other end of the world, TLS included. */
const READY_WITHIN_MS = 2000;

/** The Redis that the instances of the service share: one connection for all requests, and one watch on it. */
export interface SharedRedis {
  readonly urls: readonly string[];
  readonly presence: Presence;
  /** Sends a command. Rejects with `UnavailableError` only. */
  send<T>(command: (connection: RedisConnection) => Promise<T>): Promise<T>;
  /** The same, watched: rejects at once while the node of the key is away, and as soon as it counts as away. */
  ask: AskRedis;
  /** How many instances share this Redis; while it is away, as last known. */
  instances(): number;
  close(): void;
}

/** Opens also while Redis is away. */
export async function openRedis(urls: readonly string[], log: PresenceLog): Promise<SharedRedis> {
  const connection = connectRedis(urls, 'fail-fast');
  const presence = createPresence({
    storeName: 'Redis',
    nodeOf: (key) => nodeOf(connection, key),
    probe: (key) => send(() => connection.exists(key)),
    log,
  });

  /** An error as answer means that nothing was done. When no answer comes, the command may have been carried out. */
  async function send<T>(command: (connection: RedisConnection) => Promise<T>): Promise<T> {
    if (connection.status !== 'ready') {
      throw new UnavailableError(`not connected to Redis: ${lastConnectionError(connection)}`, 'not-sent');
    }
    writeTogether(connection);
    try {
      return await command(connection);
    } catch (error) {
      const { message } = error as Error;
      throw new UnavailableError(message, error instanceof ReplyError ? 'refused' : 'no-answer', error);
    }
  }

  const ask: AskRedis = async (key, command) => {
    if (presence.isAway(key)) throw new UnavailableError('Redis is away', 'not-sent');
    return presence.watch(key, send(command));
  };

  await whenReady(connection, READY_WITHIN_MS);
  const instances = await joinInstances(ask);
  return {
    urls,
    presence,
    send,
    ask,
    instances: instances.count,
    close() {
      instances.close();
      presence.close();
      connection.disconnect();
    },
  };
}

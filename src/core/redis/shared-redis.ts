import { randomUUID } from 'node:crypto';
import { ReplyError } from 'ioredis';
import { MINUTE_MS } from '../clock.ts';
import type { Log } from '../log.ts';
import {
  connectRedis,
  defineScript,
  fetchMemory,
  keyOnEachNode,
  nodeOf,
  type RedisConnection,
  type RedisMemory,
  UnavailableError,
  whenReady,
  writeTogether,
} from './connection.ts';
import { createPresence, MAX_PATIENCE_MS, type Presence } from './presence.ts';

/** Enough for a Redis on the other side of the world, TLS included. */
const READY_WITHIN_MS = 2000;
const PROBE = 'tis:probe';
const PROBE_KEPT_MS = MINUTE_MS;

/** The Redis shared by all instances: one connection for all requests, and one watch on it. */
export interface SharedRedis {
  readonly urls: readonly string[];
  readonly presence: Presence;
  /** Sends a command. Rejects only with `UnavailableError`. */
  send<T>(command: (connection: RedisConnection) => Promise<T>): Promise<T>;
  /** Runs the task at the end of the current event-loop turn. What it sends leaves in one write with everything sent before. */
  atEndOfTurn(task: () => void): void;
  /** Like `send`, but rejects at once while the key's node is unreachable, and as soon as it counts as unreachable. */
  sendTo<T>(key: string, command: (connection: RedisConnection) => Promise<T>): Promise<T>;
  /** Like `sendTo`, but resolves to `otherwise` if Redis is unreachable or refuses the command. */
  trySendTo<T, Otherwise>(
    key: string,
    command: (connection: RedisConnection) => Promise<T>,
    otherwise: Otherwise,
  ): Promise<T | Otherwise>;
  /** Writes to each writable node. Resolves to the failures. */
  writeProbes(): Promise<UnavailableError[]>;
  memory(): Promise<RedisMemory[]>;
  /** How far the clock of Redis is ahead of `now`, in milliseconds; 0 if the difference is within normal limits. */
  clockAheadMs(): number;
  /** The number of instances on this Redis; while it is unreachable, the last known number. */
  instances(): number;
  close(): void;
}

/**
 * Connects to Redis; resolves even if Redis is unreachable. `whileUnreachable` is logged while Redis is unreachable, to explain
 * the consequences to operators.
 */
export async function openRedis(
  urls: readonly string[],
  log: Log,
  { whileUnreachable = '', now = Date.now, announceEveryMs = ANNOUNCE_EVERY_MS } = {},
): Promise<SharedRedis> {
  const connection = connectRedis(urls, 'fail-fast');
  let lastError = 'not yet';
  connection.on('error', ({ message }: Error) => {
    lastError = message;
  });
  const presence = createPresence({
    storeName: 'Redis',
    whileUnreachable,
    nodeOf: (key) => nodeOf(connection, key),
    probe: (key) => send(() => connection.exists(key)),
    takesWrites: async () => (await writeProbes()).length === 0,
    log,
  });

  /** An error reply means that nothing was done. Without a response, the command may have run. */
  function send<T>(command: (connection: RedisConnection) => Promise<T>): Promise<T> {
    if (connection.status !== 'ready') {
      return Promise.reject(new UnavailableError(`there is no connection: ${lastError}`, 'not-sent'));
    }
    writeTogether(connection);
    return command(connection).catch((error: Error) => {
      if (error instanceof ReplyError) throw new UnavailableError(error.message, 'refused', error);
      throw new UnavailableError(`the connection was lost: ${error.message}`, 'no-response', error);
    });
  }

  const sendTo: SharedRedis['sendTo'] = async (key, command) => {
    if (presence.isUnreachable(key)) throw new UnavailableError('Redis is unreachable', 'not-sent');
    return presence.watch(key, send(command));
  };

  async function writeProbes(): Promise<UnavailableError[]> {
    // Uses a plain command: our scripts may write even when Redis is full.
    const write = (key: string) => sendTo(key, () => connection.set(key, '1', 'PX', PROBE_KEPT_MS));
    const outcomes = await Promise.allSettled(keyOnEachNode(connection, PROBE).map(write));
    return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as UnavailableError] : []));
  }

  await whenReady(connection, READY_WITHIN_MS);
  const instances = await joinInstances(sendTo, { now, log, announceEveryMs });
  return {
    urls,
    presence,
    send,
    atEndOfTurn: (task) => writeTogether(connection, task),
    sendTo,
    trySendTo: (key, command, otherwise) =>
      sendTo(key, command).catch((error) => {
        if (error instanceof UnavailableError) return otherwise;
        throw error;
      }),
    memory: () => fetchMemory(connection, MAX_PATIENCE_MS),
    clockAheadMs: instances.clockAheadMs,
    writeProbes,
    instances: instances.count,
    close() {
      instances.close();
      presence.close();
      connection.disconnect();
    },
  };
}

/** How often each instance announces itself; after three missed announcements it is dropped. */
export const ANNOUNCE_EVERY_MS = 5000;
export const INSTANCE_GONE_MS = 15_000;
const INSTANCES = 'tis:instances';
/** Synchronised clocks differ by less. */
const MAX_CLOCK_DIFFERENCE_MS = 2000;

/** Returns the number of instances, including this one, and the time of Redis. */
const announceInstance = defineScript<
  [instances: string],
  [instance: string, forgetAfterMs: number],
  [instances: number, now: number]
>(
  'announceInstance',
  `
local instances, instance, forgetAfterMs = KEYS[1], ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', instances, now, instance)
redis.call('ZREMRANGEBYSCORE', instances, '-inf', now - forgetAfterMs)
redis.call('PEXPIRE', instances, forgetAfterMs)
return {redis.call('ZCARD', instances), now}`,
  { whenFull: true },
);

/**
 * Announces this instance now and regularly from then on. Resolves when the others are counted or Redis is unreachable; while it
 * is unreachable, the count does not change.
 */
async function joinInstances(
  sendTo: SharedRedis['sendTo'],
  { now, log, announceEveryMs }: { now: () => number; log: Log<'warn'>; announceEveryMs: number },
) {
  const instance = randomUUID();
  let latest = 1;
  let previous = 1;
  let clockAheadMs = 0;

  async function announce(): Promise<void> {
    try {
      const sentAt = now();
      const [count, redisNow] = await sendTo(INSTANCES, (connection) =>
        announceInstance(connection, [INSTANCES], [instance, INSTANCE_GONE_MS]),
      );
      [previous, latest] = [latest, count];
      compareClocks(redisNow, sentAt);
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
    }
  }

  /** Redis created the response at some time between the request and now. */
  function compareClocks(redisNow: number, sentAt: number): void {
    const aheadMs = redisNow - (sentAt + now()) / 2;
    const isSkewed = Math.abs(aheadMs) > MAX_CLOCK_DIFFERENCE_MS + (now() - sentAt) / 2;
    if (isSkewed && clockAheadMs === 0) {
      log.warn(
        { aheadMs: Math.round(aheadMs) },
        'clock of this machine or of Redis is wrong; days follow the clock of Redis',
      );
    }
    clockAheadMs = isSkewed ? Math.round(aheadMs) : 0;
  }

  await announce();
  const timer = setInterval(announce, announceEveryMs).unref();
  return {
    // After a long absence of Redis the instances announce themselves one by one, so a single count may be low.
    count: () => Math.max(previous, latest),
    /** How far the clock of Redis is ahead of this process's; 0 if the difference is within normal limits. */
    clockAheadMs: () => clockAheadMs,
    close() {
      clearInterval(timer);
      sendTo(INSTANCES, (connection) => connection.zrem(INSTANCES, instance)).catch(() => {});
    },
  };
}

/**
 * The expiring lock of the instance that polls feeds. The holder is identified by its token and renews the lock before it
 * expires.
 */

/**
 * Takes the lock if it is free, or extends it if the token already holds it. Returns 1 if the token now holds it. A lock
 * without an expiry gets one, because its holder may be gone.
 */
export const holdLock = defineScript<[lock: string], [token: string, ttlMs: number], number>(
  'holdLock',
  `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
local isOurs = redis.call('GET', KEYS[1]) == ARGV[1]
if isOurs or redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return isOurs and 1 or 0`,
);

/** Releases the lock if the token holds it. */
export const releaseLock = defineScript<[lock: string], [token: string], number>(
  'releaseLock',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`,
);

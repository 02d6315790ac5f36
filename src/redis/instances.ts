import { randomUUID } from 'node:crypto';
import type { Log } from '../log.ts';
import { type AskRedis, defineScript, UnavailableError } from './connection.ts';

/** Each instance tells this often that it is there, what feeds it needs, and its traffic; after three misses it is gone. */
export const ANNOUNCE_EVERY_MS = 5000;
export const INSTANCE_GONE_MS = 15_000;
const INSTANCES = 'tis:instances';
/** Clocks that are kept by a server of time differ by less. */
const MAX_CLOCK_DIFFERENCE_MS = 2000;

/** Returns how many instances there are, this one included, and the time of Redis. */
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

/** Announces this instance now and from time to time. Resolves when the others are counted, or Redis is away. While it is away, the count stays as it was. */
export async function joinInstances(
  ask: AskRedis,
  { now, log, announceEveryMs }: { now: () => number; log: Log<'warn'>; announceEveryMs: number },
) {
  const instance = randomUUID();
  let latest = 1;
  let previous = 1;
  let clockAheadMs = 0;

  async function announce(): Promise<void> {
    try {
      const askedAt = now();
      const [count, redisNow] = await ask(INSTANCES, (connection) =>
        announceInstance(connection, [INSTANCES], [instance, INSTANCE_GONE_MS]),
      );
      [previous, latest] = [latest, count];
      compareClocks(redisNow, askedAt);
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
    }
  }

  /** The response was made at some moment between the request and now. */
  function compareClocks(redisNow: number, askedAt: number): void {
    const aheadMs = redisNow - (askedAt + now()) / 2;
    const isOff = Math.abs(aheadMs) > MAX_CLOCK_DIFFERENCE_MS + (now() - askedAt) / 2;
    if (isOff && clockAheadMs === 0) {
      log.warn(
        { aheadMs: Math.round(aheadMs) },
        'the clock of this machine is wrong, or that of Redis: days go by Redis',
      );
    }
    clockAheadMs = isOff ? Math.round(aheadMs) : 0;
  }

  await announce();
  const timer = setInterval(announce, announceEveryMs).unref();
  return {
    // After Redis was away for long, the instances announce themselves anew one after the other: one count may be low.
    count: () => Math.max(previous, latest),
    /** By how much the clock of Redis is ahead of this process's; 0 while that is less than clocks usually differ. */
    clockAheadMs: () => clockAheadMs,
    close() {
      clearInterval(timer);
      ask(INSTANCES, (connection) => connection.zrem(INSTANCES, instance)).catch(() => {});
    },
  };
}

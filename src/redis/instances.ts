import { randomUUID } from 'node:crypto';
import type { AskRedis } from './connection.ts';
import { defineScript } from './script.ts';
import { UnavailableError } from './unavailable-error.ts';

const ANNOUNCE_EVERY_MS = 5000;
/** An instance that has not announced itself for so long does not count any more. */
const FORGET_AFTER_MS = 15_000;
const INSTANCES = 'tis:instances';

/** Returns how many instances there are, this one included. */
const announceInstance = defineScript<[instances: string], [instance: string, forgetAfterMs: number], number>(
  'announceInstance',
  `
local instances, instance, forgetAfterMs = KEYS[1], ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', instances, now, instance)
redis.call('ZREMRANGEBYSCORE', instances, '-inf', now - forgetAfterMs)
redis.call('PEXPIRE', instances, forgetAfterMs)
return redis.call('ZCARD', instances)`,
);

/** How many instances share this Redis. While Redis is away, the count stays as it was. */
export interface Instances {
  count(): number;
  close(): void;
}

/** Announces this instance now and from time to time. Resolves when the others are counted, or Redis is away. */
export async function joinInstances(ask: AskRedis): Promise<Instances> {
  const instance = randomUUID();
  let latest = 1;
  let previous = 1;

  async function announce(): Promise<void> {
    try {
      const count = await ask(INSTANCES, (connection) =>
        announceInstance(connection, [INSTANCES], [instance, FORGET_AFTER_MS]),
      );
      [previous, latest] = [latest, count];
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
    }
  }

  await announce();
  const timer = setInterval(announce, ANNOUNCE_EVERY_MS).unref();
  return {
    // After Redis was away for long, the instances announce themselves anew one after the other: one count may be low.
    count: () => Math.max(previous, latest),
    close() {
      clearInterval(timer);
      ask(INSTANCES, (connection) => connection.zrem(INSTANCES, instance)).catch(() => {});
    },
  };
}

import type { RedisConnection } from '../../redis/connection.ts';
import { defineScript } from '../../redis/script.ts';
import type { OperatorRecords } from '../store.ts';

/** A hash: the restrictions by name, and `version`, which rises with each change. */
const RESTRICTIONS = 'tis:restrictions';
const VERSION = 'version';

/** An empty value lifts the restriction. */
const setRestriction = defineScript<[restrictions: string], [name: string, value: string], number>(
  'setRestriction',
  `
local restrictions, name, value = KEYS[1], ARGV[1], ARGV[2]
if value == '' then redis.call('HDEL', restrictions, name) else redis.call('HSET', restrictions, name, value) end
return redis.call('HINCRBY', restrictions, 'version', 1)`,
  { whenFull: true },
);

/** What operators have decided, in Redis. */
export function redisOperatorRecords(
  redis: RedisConnection,
  durably: <T>(write: Promise<T>) => Promise<T>,
): OperatorRecords {
  return {
    async readRestrictions(knownVersion) {
      const version = (await redis.hget(RESTRICTIONS, VERSION)) ?? '';
      if (version === knownVersion) return null;
      const { [VERSION]: read = '', ...values } = await redis.hgetall(RESTRICTIONS);
      return { version: read, values };
    },
    async setRestriction(name, value) {
      await durably(setRestriction(redis, [RESTRICTIONS], [name, value ?? '']));
    },
  };
}

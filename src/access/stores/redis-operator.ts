import { defineScript, type RedisConnection } from '../../redis/connection.ts';
import { AUDIT_KEPT, type OperatorRecords } from '../store.ts';

/** A hash: the restrictions by name, and `version`, which rises with each change. */
const RESTRICTIONS = 'tis:restrictions';
const VERSION = 'version';
/** A list, the newest entry first. */
const AUDIT = 'tis:audit';
/** A hash: id of a deleted account to when. */
const DELETED = 'tis:deleted';
/** A hash for each mailing: account id to state. */
const mailingKey = (mailing: string) => `tis:mailing:${mailing}`;
const MAILING_KEPT_SECONDS = 400 * 86_400;

/** An empty value lifts the restriction. */
const setRestriction = defineScript<[restrictions: string], [name: string, value: string], number>(
  'setRestriction',
  `
local restrictions, name, value = KEYS[1], ARGV[1], ARGV[2]
if value == '' then redis.call('HDEL', restrictions, name) else redis.call('HSET', restrictions, name, value) end
return redis.call('HINCRBY', restrictions, 'version', 1)`,
  { whenFull: true },
);

const addToAudit = defineScript<[audit: string], [entry: string, kept: number], number>(
  'addToAudit',
  `
redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ARGV[2] - 1)
return 1`,
  { whenFull: true },
);

const noteDeleted = defineScript<[deleted: string], [accountId: string, at: string], number>(
  'noteDeleted',
  `return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])`,
  { whenFull: true },
);

export const rememberDeleted = (redis: RedisConnection, accountId: string, at: string) =>
  noteDeleted(redis, [DELETED], [accountId, at]);

/** The decisions of operators, in Redis. */
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
    async addToAudit(entry) {
      await durably(addToAudit(redis, [AUDIT], [entry, AUDIT_KEPT]));
    },
    readAudit: (most) => redis.lrange(AUDIT, 0, most - 1),
    readDeleted: () => redis.hgetall(DELETED),
    async setDeleted(accountId, at) {
      await durably(at === null ? redis.hdel(DELETED, accountId) : rememberDeleted(redis, accountId, at));
    },
    async claimMail(mailing, accountId) {
      const isFirst = await durably(redis.hsetnx(mailingKey(mailing), accountId, 'claimed'));
      await redis.expire(mailingKey(mailing), MAILING_KEPT_SECONDS);
      return isFirst === 1;
    },
    async finishMail(mailing, accountId, isSent) {
      const name = mailingKey(mailing);
      await durably<unknown>(isSent ? redis.hset(name, accountId, 'sent') : redis.hdel(name, accountId));
    },
    readMailing: async (mailing) => (await redis.hgetall(mailingKey(mailing))) as Record<string, 'claimed' | 'sent'>,
  };
}

import { defineScript } from '../../core/redis/connection.ts';
import type { SharedRedis } from '../../core/redis/shared-redis.ts';
import { endOfDayText } from '../day.ts';
import { parseGrant } from '../grant.ts';
import { PLANS, planFrom } from '../plan.ts';
import { DAYS_KEPT, type QuotaStore } from '../store.ts';

/**
 * Per-request counts and lookups in Redis. The day is part of a counter's name, so each day starts at zero; the expiry only
 * cleans up, and is restored if missing.
 */
const KEEP = `
local function keep(key)
  if redis.call('TTL', key) >= 0 then return end
  -- Counters of an hour and of tokens, which live for an hour at most.
  local isShort = string.find(key, ':%d%d%d%d%d%d%d%d:[^:]+:')
  redis.call('EXPIRE', key, isShort and ${2 * 3600} or ${DAYS_KEPT * 86_400})
end`;

/** Lua for a plan's daily limit; -1 is unlimited. Unknown plans count as the smallest. */
const LIMIT_OF_PLAN = `(({${Object.entries(PLANS).map(([plan, { dailyLimit }]) => `${plan} = ${dailyLimit ?? -1}`)}})[plan] or ${PLANS[planFrom('')].dailyLimit})`;

/**
 * Looks up the key and plan, compares the count with the limit and charges `count` requests, all or none. Further counters have
 * their own limits; their counts come last in the reply. Constants are part of the script text, which Redis caches.
 */
const admitRequest = defineScript<
  [account: string, keys: string, counter: string, senders: string, ...allowances: string[]],
  [keyHash: string, sender: string, count: number, dayEndsAt: string, ...limits: number[]],
  [
    kind: 'unknown' | 'revoked' | 'admitted' | 'exhausted',
    plan: string,
    email: string,
    used: number,
    usedBySender: number,
    endsAt: string,
    decidedAt: string,
    ...usedOfAllowances: number[],
  ]
>(
  'admitRequest',
  `${KEEP}
local account, keys, counter, senders = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local keyHash, sender, count, dayEndsAt = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local record = redis.call('HGET', keys, keyHash)
local plan, email = unpack(redis.call('HMGET', account, 'plan', 'email'))
if not record or not plan then return {'unknown'} end
local key, day = cjson.decode(record), string.sub(counter, -8)
if key.revokedAt and key.revokedAt < dayEndsAt then return {'revoked'} end
if key.lastUsedOn ~= day then
  key.lastUsedOn = day
  redis.call('HSET', keys, keyHash, cjson.encode(key))
end

local limit = ${LIMIT_OF_PLAN}
local used = tonumber(redis.call('GET', counter) or '0')
local fits = limit < 0 or used + count <= limit
local reply = {'exhausted', plan, email or '', used, 0, key.revokedAt or '', key.revocationDecidedAt or key.revokedAt or ''}
for index = 5, #KEYS do
  local taken = tonumber(redis.call('GET', KEYS[index]) or '0')
  fits = fits and taken + count <= tonumber(ARGV[index])
  reply[index + 3] = taken
end
if not fits then return reply end
-- First, because it is an error when the sender is closed.
local usedBySender = redis.call('HINCRBY', senders, sender, count)
used = redis.call('INCRBY', counter, count)
keep(counter)
keep(senders)
for index = 5, #KEYS do
  reply[index + 3] = redis.call('INCRBY', KEYS[index], count)
  keep(KEYS[index])
end
reply[1], reply[4], reply[5] = 'admitted', used, usedBySender
return reply`,
  { whenFull: true },
);

/** Reads what `admitRequest` uses. Writes nothing, so it works even while Redis refuses writes. */
const loadKey = defineScript<
  [account: string, keys: string, counter: string],
  [keyHash: string, dayEndsAt: string],
  [
    kind: 'unknown' | 'revoked' | 'known',
    plan: string,
    email: string,
    used: number,
    endsAt: string,
    decidedAt: string,
    grant: string,
  ]
>(
  'readKey',
  `
local account, keys, counter, keyHash, dayEndsAt = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local record = redis.call('HGET', keys, keyHash)
local plan, email = unpack(redis.call('HMGET', account, 'plan', 'email'))
if not record or not plan then return {'unknown'} end
local key = cjson.decode(record)
if key.revokedAt and key.revokedAt < dayEndsAt then return {'revoked'} end
local used = tonumber(redis.call('GET', counter) or '0')
return {'known', plan, email or '', used, key.revokedAt or '', key.revocationDecidedAt or key.revokedAt or '', key.grant or ''}`,
);

/** Applies an update exactly once, however often it arrives. Returns `usedBySender`. */
const updateCount = defineScript<
  [account: string, counter: string, senders: string],
  [count: number, unacknowledged: number, usedBySenderBefore: number, sender: string, updateNumber: number],
  number
>(
  'updateCount',
  `${KEEP}
local account, counter, senders = KEYS[1], KEYS[2], KEYS[3]
local count, unacknowledged, usedBySenderBefore = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local sender, updateNumber = ARGV[4], tonumber(ARGV[5])
-- For a closed sender: what earlier updates have not subtracted yet.
local usedBySender = tonumber(string.match(redis.call('HGET', senders, sender) or '', '%d+') or '0')
if redis.call('EXISTS', account) == 0 then return usedBySender end
local lastUpdate = sender .. ':update'
if tonumber(redis.call('HGET', senders, lastUpdate) or '0') >= updateNumber then return usedBySender end
redis.call('HSET', senders, lastUpdate, updateNumber)
keep(senders)
local counted = math.min(unacknowledged, math.max(0, usedBySender - usedBySenderBefore))
if unacknowledged > 0 then redis.call('HSET', senders, sender, 'closed:' .. (usedBySender - counted)) end
if redis.call('INCRBY', counter, count - counted) < 0 then redis.call('SET', counter, '0') end
keep(counter)
return usedBySender`,
  { whenFull: true },
);

/** The braces are a hash tag that keeps all records of an account on one cluster node. */
export const accountKey = (accountId: string) => `tis:{${accountId}}:account`;
export const keysKey = (accountId: string) => `tis:{${accountId}}:keys`;
export const counterKey = (accountId: string, day: string) => `tis:{${accountId}}:used:${day}`;
/**
 * For each sender, the number of requests admitted for it, prefixed with `closed:` once closed; and the number of its last
 * update.
 */
export const sendersKey = (accountId: string, day: string) => `tis:{${accountId}}:senders:${day}`;

/** Counts the requests of all instances. */
export function createRedisQuota({ presence, send, writeProbes, instances }: SharedRedis): QuotaStore {
  return {
    isRemote: true,
    // An account ID and a key with that ID as hash tag are on the same node.
    presence,
    instances,
    async admit({ accountId, keyHash, day, sender, count = 1, allowances = [] }) {
      const counters = allowances.map(({ counter }) => counterKey(accountId, counter));
      const limits = allowances.map(({ limit }) => limit);
      const records = [
        accountKey(accountId),
        keysKey(accountId),
        counterKey(accountId, day),
        sendersKey(accountId, day),
      ] as const;
      const [kind, plan, email, used, usedBySender, endsAt, decidedAt, ...usedOfAllowances] = await send((connection) =>
        admitRequest(connection, [...records, ...counters], [keyHash, sender, count, endOfDayText(day), ...limits]),
      );
      if (kind === 'unknown' || kind === 'revoked') return { kind };
      return {
        kind,
        plan,
        email,
        used,
        usedBySender,
        usedOfAllowances,
        ...(endsAt && { ending: { endsAt, decidedAt } }),
      };
    },
    async loadKey({ accountId, keyHash, day }) {
      const [kind, plan, email, used, endsAt, decidedAt, grant] = await send((connection) =>
        loadKey(
          connection,
          [accountKey(accountId), keysKey(accountId), counterKey(accountId, day)],
          [keyHash, endOfDayText(day)],
        ),
      );
      if (kind === 'unknown' || kind === 'revoked') return { kind };
      return { kind, plan, email, used, grant: parseGrant(grant), ...(endsAt && { ending: { endsAt, decidedAt } }) };
    },
    async check() {
      const failures = await writeProbes();
      if (failures.length === 0) return 'writable';
      return failures.every(({ reason }) => reason === 'refused') ? 'readable' : 'unreachable';
    },
    update({ accountId, day, count, unacknowledged, usedBySenderBefore, sender, number }) {
      return send((connection) =>
        updateCount(
          connection,
          [accountKey(accountId), counterKey(accountId, day), sendersKey(accountId, day)],
          [count, unacknowledged, usedBySenderBefore, sender, number],
        ),
      );
    },
  };
}

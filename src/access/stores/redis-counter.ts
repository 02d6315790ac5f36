import { defineScript } from '../../redis/script.ts';
import type { SharedRedis } from '../../redis/shared-redis.ts';
import { PLANS, type Plan } from '../plan.ts';
import { type Counter, DAYS_KEPT } from '../store.ts';

/*
 * What every request does in Redis. A counter's day is in its name, so a new day begins at zero by itself; the expiry
 * only tidies up, and is set again whenever it is missing.
 */
const KEEP_FOR = `
local function keepFor(key, seconds)
  if redis.call('TTL', key) < 0 then redis.call('EXPIRE', key, seconds) end
end`;

/**
 * Finds the key and the plan, compares the count with the limit and counts `count` requests, all or none. `limits` is a JSON object: plan to requests
 * a day, -1 for unlimited. A revoked key is answered as an unknown one.
 */
const admitRequest = defineScript<
  [account: string, keys: string, counter: string, senders: string],
  [keyHash: string, limits: string, sender: string, secondsKept: number, count: number],
  [kind: string, plan: string, used: number, usedBySender: number, endsAt?: string, decidedAt?: string]
>(
  'admitRequest',
  `${KEEP_FOR}
local account, keys, counter, senders = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local keyHash, limits, sender, secondsKept, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local record = redis.call('HGET', keys, keyHash)
local plan = redis.call('HGET', account, 'plan')
local limit = plan and cjson.decode(limits)[plan]
if not record or not limit then return {'unknown'} end
local key, day = cjson.decode(record), string.sub(counter, -8)
if key.revokedAt and (string.gsub(string.sub(key.revokedAt, 1, 10), '-', '')) <= day then return {'unknown'} end
if key.lastUsedOn ~= day then
  key.lastUsedOn = day
  redis.call('HSET', keys, keyHash, cjson.encode(key))
end

local used = tonumber(redis.call('GET', counter) or '0')
if limit >= 0 and used + count > limit then return {'exhausted', plan, used} end
-- First, because it is an error when the sender is closed.
local usedBySender = redis.call('HINCRBY', senders, sender, count)
used = redis.call('INCRBY', counter, count)
keepFor(counter, secondsKept)
keepFor(senders, secondsKept)
if key.revokedAt then return {'admitted', plan, used, usedBySender, key.revokedAt, key.revocationDecidedAt or key.revokedAt} end
return {'admitted', plan, used, usedBySender}`,
);

/** Applies an update once, however often it arrives. Returns `usedBySender`. */
const updateCount = defineScript<
  [account: string, counter: string, senders: string],
  [
    count: number,
    inDoubt: number,
    usedBySenderBefore: number,
    sender: string,
    updateNumber: number,
    secondsKept: number,
  ],
  number
>(
  'updateCount',
  `${KEEP_FOR}
local account, counter, senders = KEYS[1], KEYS[2], KEYS[3]
local count, inDoubt, usedBySenderBefore = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local sender, updateNumber, secondsKept = ARGV[4], tonumber(ARGV[5]), ARGV[6]
local usedBySender = tonumber(redis.call('HGET', senders, sender) or '0')
if redis.call('EXISTS', account) == 0 then return usedBySender end
local lastUpdate = sender .. ':update'
if tonumber(redis.call('HGET', senders, lastUpdate) or '0') >= updateNumber then return usedBySender end
redis.call('HSET', senders, lastUpdate, updateNumber)
keepFor(senders, secondsKept)
local counted = math.min(inDoubt, math.max(0, usedBySender - usedBySenderBefore))
if inDoubt > 0 then redis.call('HSET', senders, sender, 'closed') end
if redis.call('INCRBY', counter, count - counted) < 0 then redis.call('SET', counter, '0') end
keepFor(counter, secondsKept)
return usedBySender`,
);

const SECONDS_KEPT = DAYS_KEPT * 86_400;

const LIMITS = JSON.stringify(
  Object.fromEntries(Object.entries(PLANS).map(([plan, { dailyLimit }]) => [plan, dailyLimit ?? -1])),
);

/** The braces are a hash tag: they keep all records of an account on one node of a cluster. */
export const accountKey = (accountId: string) => `tis:{${accountId}}:account`;
export const keysKey = (accountId: string) => `tis:{${accountId}}:keys`;
export const counterKey = (accountId: string, day: string) => `tis:{${accountId}}:used:${day}`;
/** For each sender, how many requests were admitted for it, or that it is closed; and the number of its last update. */
export const sendersKey = (accountId: string, day: string) => `tis:{${accountId}}:senders:${day}`;

/** Counts the requests of any number of instances. */
export function createRedisCounter({ presence, send, instances }: SharedRedis): Counter {
  return {
    isRemote: true,
    // An account id and a key with that id as its hash tag are on the same node.
    presence,
    instances,
    async admit({ accountId, keyHash, day, sender, count = 1 }) {
      const [kind, plan, used, usedBySender, endsAt, decidedAt] = await send((connection) =>
        admitRequest(
          connection,
          [accountKey(accountId), keysKey(accountId), counterKey(accountId, day), sendersKey(accountId, day)],
          [keyHash, LIMITS, sender, SECONDS_KEPT, count],
        ),
      );
      if (kind === 'unknown') return { kind };
      if (kind === 'exhausted') return { kind, plan: plan as Plan, used };
      const ending = endsAt && decidedAt ? { endsAt, decidedAt } : null;
      return { kind: 'admitted', plan: plan as Plan, used, usedBySender, ...(ending && { ending }) };
    },
    update({ accountId, day, count, inDoubt, usedBySenderBefore, sender, number }) {
      return send((connection) =>
        updateCount(
          connection,
          [accountKey(accountId), counterKey(accountId, day), sendersKey(accountId, day)],
          [count, inDoubt, usedBySenderBefore, sender, number, SECONDS_KEPT],
        ),
      );
    },
  };
}

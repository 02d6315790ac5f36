import type { Result } from 'ioredis';

/*
 * What has to happen in one piece, as scripts that run inside Redis. All keys of a script belong to one account and
 * share its hash tag, so that the scripts work on a cluster too. A counter's day is in its name; its expiry only
 * tidies up, and is set anew whenever it is found missing.
 */
const EXPIRE_IF_UNSET = `
local function keepFor(key, seconds)
  if redis.call('TTL', key) < 0 then redis.call('EXPIRE', key, seconds) end
end`;

/** Limits are a JSON object, plan to requests a day, -1 for unlimited. A revoked key is answered as an unknown one. */
const ADMIT = `${EXPIRE_IF_UNSET}
local account, keys, counter, senders = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local keyHash, limits, sender, secondsKept = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
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
if limit >= 0 and used >= limit then return {'exhausted', plan, used} end
used = redis.call('INCR', counter)
local bySender = redis.call('HINCRBY', senders, sender, 1)
keepFor(counter, secondsKept)
keepFor(senders, secondsKept)
return {'admitted', plan, used, bySender}`;

const ADD = `${EXPIRE_IF_UNSET}
local account, counter, senders = KEYS[1], KEYS[2], KEYS[3]
local count, sender, number, secondsKept = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if redis.call('EXISTS', account) == 0 then return end
local lastBatch = sender .. ':batch'
if tonumber(redis.call('HGET', senders, lastBatch) or '0') >= tonumber(number) then return end
redis.call('HSET', senders, lastBatch, number)
keepFor(senders, secondsKept)
if redis.call('INCRBY', counter, count) < 0 then redis.call('SET', counter, '0') end
keepFor(counter, secondsKept)`;

/** Returns the address that the account id belongs to. */
const CREATE_ACCOUNT = `
local account, email, plan, createdAt = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local owner = redis.call('HGET', account, 'email')
if owner then return owner end
redis.call('HSET', account, 'email', email, 'plan', plan, 'createdAt', createdAt)
return email`;

const SET_PLAN = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'plan', ARGV[1])
return 1`;

const ADD_KEY = `
local account, keys, keyHash, record, maxLive = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3])
if redis.call('EXISTS', account) == 0 then return 0 end
local live = 0
for _, other in ipairs(redis.call('HVALS', keys)) do
  if not cjson.decode(other).revokedAt then live = live + 1 end
end
if live >= maxLive then return 0 end
redis.call('HSET', keys, keyHash, record)
return 1`;

const REVOKE_KEY = `
local keys, keyHash, at = KEYS[1], ARGV[1], ARGV[2]
local record = redis.call('HGET', keys, keyHash)
if not record then return 0 end
local key = cjson.decode(record)
if not key.revokedAt or key.revokedAt > at then
  key.revokedAt = at
  redis.call('HSET', keys, keyHash, cjson.encode(key))
end
return 1`;

export const SCRIPTS = {
  admitRequest: { numberOfKeys: 4, lua: ADMIT },
  addRequests: { numberOfKeys: 3, lua: ADD },
  createAccount: { numberOfKeys: 1, lua: CREATE_ACCOUNT },
  setPlan: { numberOfKeys: 1, lua: SET_PLAN },
  addKey: { numberOfKeys: 2, lua: ADD_KEY },
  revokeKey: { numberOfKeys: 1, lua: REVOKE_KEY },
} as const satisfies Record<string, { numberOfKeys: number; lua: string }>;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    admitRequest(
      ...args: [
        account: string,
        keys: string,
        counter: string,
        senders: string,
        keyHash: string,
        limits: string,
        sender: string,
        secondsKept: number,
      ]
    ): Result<[kind: string, plan: string, used: number, bySender: number], Context>;
    addRequests(
      ...args: [
        account: string,
        counter: string,
        senders: string,
        count: number,
        sender: string,
        number: number,
        secondsKept: number,
      ]
    ): Result<null, Context>;
    createAccount(account: string, email: string, plan: string, createdAt: string): Result<string, Context>;
    setPlan(account: string, plan: string): Result<number, Context>;
    addKey(account: string, keys: string, keyHash: string, record: string, maxLive: number): Result<number, Context>;
    revokeKey(keys: string, keyHash: string, at: string): Result<number, Context>;
  }
}

import { defineScript, UnavailableError } from '../../core/redis/connection.ts';
import type { SharedRedis } from '../../core/redis/shared-redis.ts';
import { endOfDayText } from '../day.ts';
import { parseGrant } from '../grant.ts';
import { PLANS, planFrom } from '../plan.ts';
import { type AdmissionReply, type AdmissionRequest, DAYS_KEPT, type QuotaStore } from '../store.ts';

/**
 * A Lua function that gives a counter its expiry if it has none. The day is part of a counter's name, so each day starts at zero
 * without it; the expiry only cleans up.
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

/** The number of keys and of arguments of one request, without those of its allowances. */
const KEYS_OF_REQUEST = 4;
const VALUES_OF_REQUEST = 5;

/**
 * For each request: looks up the key and plan, compares the count with the limit and charges `count` requests, all or none. Further
 * counters have their own limits; their counts come last in the reply. An error of one request concerns no other. Constants are
 * part of the script text, which Redis caches.
 */
const admitRequests = defineScript<string[], (string | number)[], AdmissionRow[]>(
  'admitRequests',
  `${KEEP}
local function admit(firstKey, firstValue, allowances)
  local account, keys, counter, senders = KEYS[firstKey], KEYS[firstKey + 1], KEYS[firstKey + 2], KEYS[firstKey + 3]
  local keyHash, sender, count, dayEndsAt = ARGV[firstValue], ARGV[firstValue + 1], tonumber(ARGV[firstValue + 2]), ARGV[firstValue + 3]
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
  for index = 1, allowances do
    local taken = tonumber(redis.call('GET', KEYS[firstKey + ${KEYS_OF_REQUEST - 1} + index]) or '0')
    fits = fits and taken + count <= tonumber(ARGV[firstValue + ${VALUES_OF_REQUEST - 1} + index])
    reply[index + 7] = taken
  end
  if not fits then return reply end
  -- First, because it is an error when the sender is closed.
  local usedBySender = redis.call('HINCRBY', senders, sender, count)
  used = redis.call('INCRBY', counter, count)
  keep(counter)
  keep(senders)
  for index = 1, allowances do
    local name = KEYS[firstKey + ${KEYS_OF_REQUEST - 1} + index]
    reply[index + 7] = redis.call('INCRBY', name, count)
    keep(name)
  end
  reply[1], reply[4], reply[5] = 'admitted', used, usedBySender
  return reply
end

local replies, firstKey, firstValue = {}, 1, 1
while firstKey <= #KEYS do
  local allowances = tonumber(ARGV[firstValue + 4])
  local isDone, reply = pcall(admit, firstKey, firstValue, allowances)
  if not isDone then reply = {'error', type(reply) == 'table' and reply.err or tostring(reply)} end
  replies[#replies + 1] = reply
  firstKey = firstKey + ${KEYS_OF_REQUEST} + allowances
  firstValue = firstValue + ${VALUES_OF_REQUEST} + allowances
end
return replies`,
  { whenFull: true },
);

/** Reads what `admitRequests` uses. Writes nothing, so it works even while Redis refuses writes. */
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

interface WaitingRequest {
  request: AdmissionRequest;
  resolve: (reply: AdmissionReply) => void;
  reject: (error: Error) => void;
}

/** Redis serves nobody else while it runs a script: about a millisecond for this many requests. */
const MAX_TOGETHER = 100;

/**
 * Sends the requests of one event-loop turn as one command: a command of its own would cost more processor time than the rest of
 * the admission. On a cluster there is one command for each account.
 */
function createAdmissions({ urls, send, atEndOfTurn }: SharedRedis): QuotaStore['admit'] {
  let waiting = new Map<string, WaitingRequest[]>();

  function sendWaiting(): void {
    const groups = waiting;
    waiting = new Map();
    for (const group of groups.values())
      for (let start = 0; start < group.length; start += MAX_TOGETHER)
        sendTogether(group.slice(start, start + MAX_TOGETHER));
  }

  function sendTogether(group: WaitingRequest[]): void {
    const keys: string[] = [];
    const values: (string | number)[] = [];
    for (const { request } of group) {
      const { accountId, keyHash, day, sender, count = 1, allowances = [] } = request;
      keys.push(accountKey(accountId), keysKey(accountId), counterKey(accountId, day), sendersKey(accountId, day));
      values.push(keyHash, sender, count, endOfDayText(day), allowances.length);
      for (const { counter, limit } of allowances) {
        keys.push(counterKey(accountId, counter));
        values.push(limit);
      }
    }
    send((connection) => admitRequests(connection, keys, values)).then(
      (rows) => {
        for (const [index, { resolve, reject }] of group.entries()) {
          const reply = toReply(rows[index] as AdmissionRow);
          if (reply instanceof Error) reject(reply);
          else resolve(reply);
        }
      },
      (error) => {
        for (const { reject } of group) reject(error);
      },
    );
  }

  return (request) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) atEndOfTurn(sendWaiting);
      const name = urls.length > 1 ? request.accountId : '';
      const group = waiting.get(name);
      if (group) group.push({ request, resolve, reject });
      else waiting.set(name, [{ request, resolve, reject }]);
    });
}

/** What the script replies about one request. */
type AdmissionRow =
  | ['unknown']
  | ['revoked']
  | ['error', message: string]
  | [
      kind: 'admitted' | 'exhausted',
      plan: string,
      email: string,
      used: number,
      usedBySender: number,
      endsAt: string,
      decidedAt: string,
      ...usedOfAllowances: number[],
    ];

function toReply(row: AdmissionRow): AdmissionReply | UnavailableError {
  if (row[0] === 'error') return new UnavailableError(row[1], 'refused');
  if (row[0] === 'unknown' || row[0] === 'revoked') return { kind: row[0] };
  const [kind, plan, email, used, usedBySender, endsAt, decidedAt, ...usedOfAllowances] = row;
  return { kind, plan, email, used, usedBySender, usedOfAllowances, ...(endsAt && { ending: { endsAt, decidedAt } }) };
}

/** Counts the requests of all instances. */
export function createRedisQuota(redis: SharedRedis): QuotaStore {
  const { presence, send, writeProbes, instances } = redis;
  return {
    isRemote: true,
    // An account ID and a key with that ID as hash tag are on the same node.
    presence,
    instances,
    admit: createAdmissions(redis),
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

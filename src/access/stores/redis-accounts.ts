import { Cluster, ReplyError } from 'ioredis';
import { connectRedis, defineScript, type RedisConnection } from '../../core/redis/connection.ts';
import type { Account, KeyRecord } from '../account.ts';
import { quotaDayFrom } from '../day.ts';
import { eventCounter, keyCounter, LISTED_EVENTS, parseGrant } from '../grant.ts';
import { generateAccountId } from '../keys.ts';
import { planFrom } from '../plan.ts';
import {
  type AccountStore,
  DAYS_KEPT,
  type OperatorRecords,
  type QuotaStore,
  SANDBOX_EMAIL,
  type StoreKind,
} from '../store.ts';
import { accountKey, counterKey, keysKey, sendersKey } from './redis-quota.ts';

const DURABLE_WITHIN_MS = 3000;
/** A hash of all accounts: address to account ID. */
const ACCOUNTS = 'tis:accounts';
/** `real` or `sandbox`. Versions before this mark ignore it. */
const KIND = 'tis:store-kind';

/** Returns the ID of the account with this address; the given ID if it was new. */
const reserveAddress = defineScript<[accounts: string], [email: string, accountId: string], string>(
  'takeAddress',
  `
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])`,
  { whenFull: true },
);

/** Creates the account unless its ID is taken. Returns the address that the ID then belongs to. */
const createAccount = defineScript<
  [account: string],
  [email: string, plan: string, createdAt: string, wantsQuotaMails: number],
  string
>(
  'createAccount',
  `
local account, email, plan, createdAt, wantsQuotaMails = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local owner = redis.call('HGET', account, 'email')
if owner then return owner end
redis.call('HSET', account, 'email', email, 'plan', plan, 'createdAt', createdAt, 'wantsQuotaMails', wantsQuotaMails)
return email`,
  { whenFull: true },
);

/** Returns 0 if there is no such account. */
const setField = defineScript<[account: string], [name: 'plan' | 'wantsQuotaMails', value: string | number], number>(
  'setField',
  `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1`,
  { whenFull: true },
);

const addKey = defineScript<
  [account: string, keys: string],
  [keyHash: string, record: string, maxLive: number],
  number
>(
  'addKey',
  `
local account, keys, keyHash, record, maxLive = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3])
if redis.call('EXISTS', account) == 0 then return 0 end
local live = 0
for _, other in ipairs(redis.call('HVALS', keys)) do
  if not cjson.decode(other).revokedAt then live = live + 1 end
end
if live >= maxLive then return 0 end
redis.call('HSET', keys, keyHash, record)
return 1`,
  { whenFull: true },
);

const revokeKey = defineScript<[keys: string], [keyHash: string, at: string, decidedAt: string], number>(
  'revokeKey',
  `
local keys, keyHash, at, decidedAt = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local record = redis.call('HGET', keys, keyHash)
if not record then return 0 end
local key = cjson.decode(record)
if not key.revokedAt or key.revokedAt > at then
  key.revokedAt = at
  key.revocationDecidedAt = key.revocationDecidedAt or decidedAt
  redis.call('HSET', keys, keyHash, cjson.encode(key))
end
return 1`,
  { whenFull: true },
);

const useLink = defineScript<[account: string], [issuedAt: number], number>(
  'useLink',
  `
local account, issuedAt = KEYS[1], ARGV[1]
if redis.call('EXISTS', account) == 0 then return 0 end
if tonumber(redis.call('HGET', account, 'linkUsedAt') or '0') >= tonumber(issuedAt) then return 0 end
redis.call('HSET', account, 'linkUsedAt', issuedAt)
return 1`,
  { whenFull: true },
);

const claimQuotaMail = defineScript<[account: string, mailed: string], [percent: number, secondsKept: number], number>(
  'claimQuotaMail',
  `
local account, mailed, percent, secondsKept = KEYS[1], KEYS[2], tonumber(ARGV[1]), ARGV[2]
if redis.call('EXISTS', account) == 0 or redis.call('HGET', account, 'wantsQuotaMails') == '0' then return 0 end
if tonumber(redis.call('GET', mailed) or '0') >= percent then return 0 end
redis.call('SET', mailed, percent, 'EX', secondsKept)
return 1`,
  { whenFull: true },
);

const raiseUsage = defineScript<[account: string, counter: string], [count: number, secondsKept: number], number>(
  'raiseUsage',
  `
local account, counter, count, secondsKept = KEYS[1], KEYS[2], tonumber(ARGV[1]), ARGV[2]
if redis.call('EXISTS', account) == 0 or tonumber(redis.call('GET', counter) or '0') >= count then return 0 end
redis.call('SET', counter, count, 'EX', secondsKept)
return 1`,
  { whenFull: true },
);

const KEPT_SECONDS = DAYS_KEPT * 86_400;
/** How long claimed mails are remembered: by then their day, which is part of the name, is over. */
const MAILED_KEPT_SECONDS = 2 * 86_400;
const mailedKey = (accountId: string, day: string) => `tis:{${accountId}}:quota-mailed:${day}`;

/** Accounts and keys on a connection of their own: it waits for the disk, and requests must not queue behind it. */
export function openRedisAccounts(urls: readonly string[]): Omit<AccountStore, keyof QuotaStore> {
  const redis = connectRedis(urls, 'patient');

  async function durably<T>(write: Promise<T>): Promise<T> {
    const result = await write;
    await waitForDisk(redis);
    return result;
  }

  return {
    ...redisOperatorRecords(redis, durably),
    async loadKind() {
      const mark = await redis.get(KIND);
      if (mark !== null) return mark as StoreKind;
      const [accounts, isSandbox] = [await redis.hlen(ACCOUNTS), await redis.hexists(ACCOUNTS, SANDBOX_EMAIL)];
      if (accounts === 0) return null;
      return accounts === isSandbox ? 'sandbox' : 'real';
    },
    async markKind(kind) {
      await durably<unknown>(redis.setnx(KIND, kind));
    },
    async openAccount({ email, plan, createdAt, id: wantedId, wantsQuotaMails = true }) {
      const values: [string, string, string, number] = [email, plan, createdAt, Number(wantsQuotaMails)];
      for (let candidate = wantedId ?? generateAccountId(); ; candidate = generateAccountId()) {
        const id = await reserveAddress(redis, [ACCOUNTS], [email, candidate]);
        const owner = await durably(createAccount(redis, [accountKey(id)], values));
        if (owner === email) return { id, email, plan, createdAt, ...(await loadAccount(redis, id)) };
        // The ID belongs to another account: retry with a new one.
        await redis.hdel(ACCOUNTS, email);
      }
    },
    loadAccount: (id) => loadAccount(redis, id),
    async loadAccountByEmail(email) {
      const id = await redis.hget(ACCOUNTS, email);
      return id === null ? null : loadAccount(redis, id);
    },
    async listAccounts() {
      const ids = Object.values(await redis.hgetall(ACCOUNTS));
      const accounts = await Promise.all(ids.map((id) => loadAccount(redis, id)));
      return accounts.filter((account) => account !== null).sort((a, b) => (a.email < b.email ? -1 : 1));
    },
    setPlan: async (accountId, plan) => (await durably(setField(redis, [accountKey(accountId)], ['plan', plan]))) === 1,
    deleteAccount: (accountId, now) => deleteAccount(redis, accountId, now),
    async addKey({ accountId, hash, revokedAt, grant, ...record }, maxLive) {
      const revocation = revokedAt && { revokedAt, revocationDecidedAt: revokedAt };
      // Sent as text, because Lua encodes an empty list as an object.
      const grantField = grant && { grant: JSON.stringify(grant) };
      const text = JSON.stringify({ ...record, ...revocation, ...grantField });
      const names: [string, string] = [accountKey(accountId), keysKey(accountId)];
      return (await durably(addKey(redis, names, [hash, text, maxLive]))) === 1;
    },
    async listKeys(accountId) {
      const records = Object.entries(await redis.hgetall(keysKey(accountId)));
      return records
        .map(([hash, record]) => toKeyRecord(accountId, hash, record))
        .sort((a, b) => (a.createdAt + a.hash < b.createdAt + b.hash ? -1 : 1));
    },
    async revokeKey(accountId, keyHash, at, decidedAt = at) {
      const values: [string, string, string] = [keyHash, new Date(at).toISOString(), new Date(decidedAt).toISOString()];
      return (await durably(revokeKey(redis, [keysKey(accountId)], values))) === 1;
    },
    useLink: async (accountId, issuedAt) => (await durably(useLink(redis, [accountKey(accountId)], [issuedAt]))) === 1,
    async loadUsage(accountId, days) {
      const counts = days.length > 0 ? await redis.mget(days.map((day) => counterKey(accountId, day))) : [];
      return counts.map((count) => Number(count ?? 0));
    },
    async raiseUsage(accountId, day, count) {
      await durably(raiseUsage(redis, [accountKey(accountId), counterKey(accountId, day)], [count, KEPT_SECONDS]));
    },
    wantsQuotaMails: async (accountId) => (await redis.hget(accountKey(accountId), 'wantsQuotaMails')) !== '0',
    setQuotaMails: async (accountId, isWanted) =>
      (await durably(setField(redis, [accountKey(accountId)], ['wantsQuotaMails', Number(isWanted)]))) === 1,
    async claimQuotaMail(accountId, day, percent) {
      const names: [string, string] = [accountKey(accountId), mailedKey(accountId, day)];
      return (await claimQuotaMail(redis, names, [percent, MAILED_KEPT_SECONDS])) === 1;
    },
    close: async () => redis.disconnect(),
  };
}

async function loadAccount(redis: RedisConnection, id: string): Promise<Account | null> {
  const fields = await redis.hgetall(accountKey(id));
  if (!fields.email) return null;
  return { id, email: fields.email, plan: planFrom(fields.plan ?? ''), createdAt: fields.createdAt ?? '' };
}

async function deleteAccount(redis: RedisConnection, accountId: string, now: number): Promise<boolean> {
  const account = await loadAccount(redis, accountId);
  const days = Array.from({ length: DAYS_KEPT + 2 }, (_, index) => quotaDayFrom(now, 1 - index));
  const hashes = await redis.hkeys(keysKey(accountId));
  const ofKeys = (day: string) =>
    hashes.flatMap((hash) => [keyCounter(hash, day), ...LISTED_EVENTS.map((event) => eventCounter(hash, day, event))]);
  const counters = days.flatMap((day) => [day, ...ofKeys(day)]);
  const counts = counters.flatMap((counter) => [counterKey(accountId, counter), sendersKey(accountId, counter)]);
  // Done first, so that no backup restores an account if its deletion is interrupted.
  if (account) await rememberDeleted(redis, accountId, new Date(now).toISOString());
  const deleted = await redis.del(accountKey(accountId), keysKey(accountId), ...counts);
  if (account) await redis.hdel(ACCOUNTS, account.email);
  await waitForDisk(redis);
  return account !== null && deleted > 0;
}

function toKeyRecord(accountId: string, hash: string, record: string): KeyRecord {
  const { revocationDecidedAt: _, grant, ...fields } = JSON.parse(record);
  return { accountId, hash, revokedAt: null, lastUsedOn: null, ...fields, grant: parseGrant(grant) };
}

/** Resolves when the append-only file on disk contains the write. Needs Redis 7.2; older versions reject WAITAOF. */
async function waitForDisk(connection: RedisConnection): Promise<void> {
  const nodes = connection instanceof Cluster ? connection.nodes('master') : [connection];
  try {
    await Promise.all(nodes.map((node) => node.call('WAITAOF', 1, 0, DURABLE_WITHIN_MS)));
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
  }
}

/** A hash: restrictions by name, and `version`, which increases with each change. */
const RESTRICTIONS = 'tis:restrictions';
const VERSION = 'version';
/** A hash: IDs of deleted accounts to the time of deletion. */
const DELETED = 'tis:deleted';

/** An empty value lifts the restriction. */
const setRestriction = defineScript<[restrictions: string], [name: string, value: string], number>(
  'setRestriction',
  `
local restrictions, name, value = KEYS[1], ARGV[1], ARGV[2]
if value == '' then redis.call('HDEL', restrictions, name) else redis.call('HSET', restrictions, name, value) end
return redis.call('HINCRBY', restrictions, 'version', 1)`,
  { whenFull: true },
);

const recordDeleted = defineScript<[deleted: string], [accountId: string, at: string], number>(
  'noteDeleted',
  `return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])`,
  { whenFull: true },
);

const rememberDeleted = (redis: RedisConnection, accountId: string, at: string) =>
  recordDeleted(redis, [DELETED], [accountId, at]);

/** Operators' decisions, in Redis. */
function redisOperatorRecords(redis: RedisConnection, durably: <T>(write: Promise<T>) => Promise<T>): OperatorRecords {
  return {
    async loadRestrictions(knownVersion) {
      const version = (await redis.hget(RESTRICTIONS, VERSION)) ?? '';
      if (version === knownVersion) return null;
      const { [VERSION]: read = '', ...values } = await redis.hgetall(RESTRICTIONS);
      return { version: read, values };
    },
    async setRestriction(name, value) {
      await durably(setRestriction(redis, [RESTRICTIONS], [name, value ?? '']));
    },
    loadDeleted: () => redis.hgetall(DELETED),
    async setDeleted(accountId, at) {
      await durably(at === null ? redis.hdel(DELETED, accountId) : rememberDeleted(redis, accountId, at));
    },
  };
}

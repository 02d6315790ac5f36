import { LRUCache } from 'lru-cache';
import type { Admission, Caller } from './admission.ts';
import type { UtcDay } from './day.ts';
import type { ApiKey } from './keys.ts';
import { PLANS } from './plan.ts';
import type { AdmissionAnswer } from './store.ts';

/** A remote store is asked again about a Pro key, or an exhausted account, after so long: changes are in force by then. */
const RECORD_TTL_MS = 10_000;
const EXHAUSTED_TTL_MS = 5_000;
const UNKNOWN_TTL_MS = 5_000;
/** While the store is away, keys that it knew so recently are admitted. */
const GRACE_MS = 10 * 60_000;
const MAX_REMEMBERED = 50_000;

/** The account of a key, and when the store has confirmed the key. */
export interface KnownCaller extends Caller {
  verifiedAt: number;
}

/**
 * What happens to requests while the store is away, and which requests are answered without the store at any time. Both
 * go by what this process remembers of the store's latest answers. While the store is away, each instance admits its
 * share of what was left of an account's day when the instance last knew.
 */
export interface LocalAdmission {
  isUnknown(key: ApiKey): boolean;
  /** Null for a key that the store has not confirmed within the last ten minutes. */
  callerOf(key: ApiKey): KnownCaller | null;
  /** Requests of the account counted that day, as far as this process knows. */
  usedOn(day: UtcDay, accountId: string): number;
  /** The answer where the store need not be asked: unlimited plans, and accounts exhausted a moment ago. Else null. */
  recall(caller: KnownCaller, day: UtcDay, count: number): Admission | null;
  /** Null for a key that the store has not confirmed within the last ten minutes, and when the share is used up. */
  admitWhileAway(key: ApiKey, day: UtcDay, count: number): Admission | null;
  /** Takes note of an answer. Null: there is no such key, or it was revoked. */
  learn(key: ApiKey, day: UtcDay, count: number, answer: AdmissionAnswer): Admission | null;
  giveBack(admission: Admission): Admission;
}

interface KnownCount {
  day: UtcDay;
  /** As the store has told. */
  used: number;
  /** Admitted here since then, without the store. */
  admittedSince: number;
}

export function createLocalAdmission(options: { now: () => Date; instances: () => number }): LocalAdmission {
  const { now, instances } = options;
  const clock = { now: () => now().getTime() };
  const remember = <Value extends object | string>(ttl: number) =>
    // With `max` the memory for all of them would be taken at once.
    new LRUCache<string, Value>({
      maxSize: MAX_REMEMBERED,
      sizeCalculation: () => 1,
      ttl,
      ttlResolution: 0,
      perf: clock,
    });
  const known = remember<KnownCaller>(GRACE_MS);
  const unknown = remember<{ at: number }>(UNKNOWN_TTL_MS);
  const exhausted = remember<{ day: UtcDay; at: number }>(EXHAUSTED_TTL_MS);
  const counts = remember<KnownCount>(GRACE_MS);

  /** The clock may be set back: what lies ahead then is not recent. */
  function isRecent(at: number | undefined, withinMs: number): boolean {
    if (at === undefined) return false;
    const present = clock.now();
    return at <= present && present < at + withinMs;
  }

  function countOn(day: UtcDay, accountId: string): KnownCount {
    const last = counts.get(accountId);
    return last?.day === day ? last : { day, used: 0, admittedSince: 0 };
  }

  return {
    isUnknown: ({ hash }) => isRecent(unknown.get(hash)?.at, UNKNOWN_TTL_MS),
    callerOf: ({ hash }) => known.get(hash) ?? null,
    usedOn(day, accountId) {
      const { used, admittedSince } = countOn(day, accountId);
      return used + admittedSince;
    },

    recall(caller, day, count) {
      if (!isRecent(caller.verifiedAt, RECORD_TTL_MS)) return null;
      const { accountId } = caller;
      const limit = PLANS[caller.plan].dailyLimit;
      if (limit === null) return { kind: 'admitted', caller, day, count, used: 0 };
      const spent = exhausted.get(accountId);
      return spent?.day === day && isRecent(spent.at, EXHAUSTED_TTL_MS)
        ? { kind: 'exhausted', caller, day, count, used: limit }
        : null;
    },

    admitWhileAway({ hash, accountId }, day, count) {
      const caller = known.get(hash);
      if (!caller) return null;
      const { used, admittedSince } = countOn(day, accountId);
      const limit = PLANS[caller.plan].dailyLimit ?? Number.POSITIVE_INFINITY;
      const admitted = used + admittedSince + count;
      if (admitted > limit) return { kind: 'exhausted', caller, day, count, used: used + admittedSince };
      // Rounded up, so that the last request of a day is not refused by all instances.
      if (admittedSince + count > Math.ceil((limit - used) / instances())) return null;
      counts.set(accountId, { day, used, admittedSince: admittedSince + count });
      return { kind: 'admitted', caller, day, count, used: admitted };
    },

    learn({ hash, accountId }, day, count, answer) {
      if (answer.kind === 'unknown') {
        known.delete(hash);
        unknown.set(hash, { at: clock.now() });
        return null;
      }
      const { kind, plan, used } = answer;
      const ending = answer.kind === 'admitted' ? answer.ending : undefined;
      const caller: Caller = { accountId, plan, ...(ending && { ending }) };
      known.set(hash, { ...caller, verifiedAt: clock.now() });
      counts.set(accountId, { day, used, admittedSince: 0 });
      // Where several did not fit, one may.
      if (kind === 'exhausted' && used >= (PLANS[plan].dailyLimit ?? 0))
        exhausted.set(accountId, { day, at: clock.now() });
      return { kind, caller, day, count, used };
    },

    giveBack({ caller, day, count, used }) {
      const { accountId } = caller;
      exhausted.delete(accountId);
      const { used: usedBefore, admittedSince } = countOn(day, accountId);
      const ofSince = Math.min(admittedSince, count);
      if (usedBefore + admittedSince > 0) {
        const left = Math.max(0, usedBefore - (count - ofSince));
        counts.set(accountId, { day, used: left, admittedSince: admittedSince - ofSince });
      }
      return { kind: 'given-back', caller, day, count, used: used - count };
    },
  };
}

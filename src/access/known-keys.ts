import type { FastifyBaseLogger } from 'fastify';
import { MINUTE_MS } from '../clock.ts';
import { createBoundedMap } from '../own-memory.ts';
import type { Admission, Caller, KeyEnding } from './admission.ts';
import type { UtcDay } from './day.ts';
import type { ApiKey } from './keys.ts';
import { PLANS, type Plan, planFrom } from './plan.ts';
import type { AdmissionReply, KeyReading } from './store.ts';

/** A remote store is asked again about a Pro key, or an exhausted account, after so long: changes are in force by then. */
const RECORD_TTL_MS = 10_000;
const EXHAUSTED_TTL_MS = 5_000;
const UNKNOWN_TTL_MS = 5_000;
/** While the store is away, keys that it knew so recently are admitted. */
export const GRACE_MS = 10 * MINUTE_MS;
const MAX_REMEMBERED = 50_000;

/** The account of a key, and when the store has confirmed the key. */
export interface KnownCaller extends Caller {
  verifiedAt: number;
}

/** The requests of one account on one day, as far as this process knows. Requests change the object and do not replace it. */
interface KnownDay {
  day: UtcDay;
  /** As the store has told. */
  used: number;
  /** Admitted here since then, without the store. */
  admittedSince: number;
  /** When that was last changed. */
  at: number;
  /** When the store last said that nothing is left of the day. */
  exhaustedAt: number;
}

/**
 * What this process remembers of the store's latest responses: which requests are answered without the store at any time,
 * and what happens to requests while the store is away. Each instance then admits its share of what was left of an
 * account's day when the instance last knew.
 */
export class KnownKeys {
  readonly #now: () => Date;
  readonly #instances: () => number;
  readonly #log: Pick<FastifyBaseLogger, 'warn'>;
  readonly #callers = createBoundedMap<KnownCaller>('known keys', MAX_REMEMBERED);
  readonly #unknown = createBoundedMap<{ at: number }>('unknown keys', MAX_REMEMBERED);
  readonly #days = createBoundedMap<KnownDay>('days of accounts', MAX_REMEMBERED);
  /** Names of plans that were logged. */
  readonly #unknownPlans = new Set<string>();

  constructor(options: { now: () => Date; instances: () => number; log: Pick<FastifyBaseLogger, 'warn'> }) {
    this.#now = options.now;
    this.#instances = options.instances;
    this.#log = options.log;
  }

  isUnknown({ hash }: ApiKey): boolean {
    return this.#isRecent(this.#unknown.get(hash)?.at, UNKNOWN_TTL_MS);
  }

  /** Null for a key that the store has not confirmed within the last ten minutes. */
  callerOf({ hash }: ApiKey): KnownCaller | null {
    const caller = this.#callers.get(hash);
    return caller && this.#isRemembered(caller.verifiedAt) ? caller : null;
  }

  /** Requests of the account counted that day, as far as this process knows. */
  usedOn(day: UtcDay, accountId: string): number {
    const counted = this.#knownDay(day, accountId);
    return counted ? counted.used + counted.admittedSince : 0;
  }

  /** The admission where the store need not be asked: unlimited plans, and accounts exhausted a moment ago. Else null. */
  recall(caller: KnownCaller, day: UtcDay, count: number): Admission | null {
    if (!this.isVerified(caller)) return null;
    const limit = PLANS[caller.plan].dailyLimit;
    if (limit === null) return { kind: 'admitted', caller, day, count, used: 0 };
    const spentAt = this.#knownDay(day, caller.accountId)?.exhaustedAt;
    return this.#isRecent(spentAt, EXHAUSTED_TTL_MS) ? { kind: 'exhausted', caller, day, count, used: limit } : null;
  }

  /** Null for a key that the store has not confirmed within the last ten minutes, and when the share is used up. */
  admitWhileAway(key: ApiKey, day: UtcDay, count: number): Admission | null {
    const caller = this.callerOf(key);
    if (!caller) return null;
    const counted = this.#dayOf(day, key.accountId);
    const { used, admittedSince } = counted;
    const limit = PLANS[caller.plan].dailyLimit ?? Number.POSITIVE_INFINITY;
    const admitted = used + admittedSince + count;
    if (admitted > limit) return { kind: 'exhausted', caller, day, count, used: used + admittedSince };
    // Rounded up, so that the last request of a day is not refused by all instances.
    if (admittedSince + count > Math.ceil((limit - used) / this.#instances())) return null;
    Object.assign(counted, { admittedSince: admittedSince + count, at: this.#now().getTime() });
    return { kind: 'admitted', caller, day, count, used: admitted };
  }

  /** Whether the store has confirmed the key a moment ago. */
  isVerified({ verifiedAt }: KnownCaller): boolean {
    return this.#isRecent(verifiedAt, RECORD_TTL_MS);
  }

  /** Takes note of what was read and not counted. False: there is no such key, or it was revoked. */
  learnReading(key: ApiKey, day: UtcDay, reading: KeyReading): boolean {
    if (reading.kind === 'unknown') return this.#forget(key);
    this.#confirm(key, reading, reading.ending);
    // The count that was read lacks what was admitted here meanwhile.
    Object.assign(this.#dayOf(day, key.accountId), { used: reading.used, at: this.#now().getTime() });
    return true;
  }

  /**
   * Takes note of a response. Null: there is no such key, or it was revoked. `isSettled`: the store knew all that was counted
   * and given back here; else an exhausted account is asked about again at once.
   */
  learn(key: ApiKey, day: UtcDay, count: number, response: AdmissionReply, isSettled: boolean): Admission | null {
    if (response.kind === 'unknown') {
      this.#forget(key);
      return null;
    }
    const { kind, used } = response;
    const caller = this.#confirm(key, response, response.kind === 'admitted' ? response.ending : undefined);
    const counted = this.#dayOf(day, key.accountId);
    counted.used = used;
    counted.admittedSince = 0;
    counted.at = this.#now().getTime();
    // A refused batch of n does not mean that the day is spent.
    const isSpent = used >= (PLANS[caller.plan].dailyLimit ?? 0);
    if (kind === 'exhausted' && isSettled && isSpent) counted.exhaustedAt = counted.at;
    return { kind, caller, day, count, used };
  }

  giveBack({ caller, day, count, used }: Admission): Admission {
    const counted = this.#knownDay(day, caller.accountId);
    if (counted) {
      const ofSince = Math.min(counted.admittedSince, count);
      counted.used = Math.max(0, counted.used - (count - ofSince));
      counted.admittedSince -= ofSince;
      counted.exhaustedAt = Number.NEGATIVE_INFINITY;
    }
    return { kind: 'given-back', caller, day, count, used: used - count };
  }

  /** The clock may be set back: what lies ahead then is not recent. */
  #isRecent(at: number | undefined, withinMs: number): boolean {
    if (at === undefined) return false;
    const present = this.#now().getTime();
    return at <= present && present < at + withinMs;
  }

  #isRemembered(at: number): boolean {
    return this.#now().getTime() <= at + GRACE_MS;
  }

  #knownDay(day: UtcDay, accountId: string): KnownDay | null {
    const last = this.#days.get(accountId);
    return last?.day === day && this.#isRemembered(last.at) ? last : null;
  }

  /** With nothing used unless more is known. */
  #dayOf(day: UtcDay, accountId: string): KnownDay {
    const before = this.#knownDay(day, accountId);
    if (before) return before;
    const created = {
      day,
      used: 0,
      admittedSince: 0,
      at: this.#now().getTime(),
      exhaustedAt: Number.NEGATIVE_INFINITY,
    };
    this.#days.set(accountId, created);
    return created;
  }

  #findPlan(name: string): Plan {
    const plan = planFrom(name);
    if (plan !== name && !this.#unknownPlans.has(name)) {
      this.#unknownPlans.add(name);
      this.#log.warn({ plan: name, countsAs: plan }, 'an account has a plan that this version does not know');
    }
    return plan;
  }

  /** The caller of a key that the store has just confirmed. */
  #confirm(
    { hash, accountId }: ApiKey,
    { plan: planName, email = '' }: { plan: string; email?: string },
    ending: KeyEnding | undefined,
  ): Caller {
    const plan = this.#findPlan(planName);
    const before = this.#callers.get(hash);
    if (before && before.plan === plan && !before.ending && !ending) {
      before.verifiedAt = this.#now().getTime();
      return before;
    }
    const domain = email.slice(email.lastIndexOf('@') + 1);
    const caller = { accountId, plan, domain, ...(ending && { ending }), verifiedAt: this.#now().getTime() };
    this.#callers.set(hash, caller);
    return caller;
  }

  /** The store has said that there is no such key. */
  #forget({ hash }: ApiKey): false {
    this.#callers.delete(hash);
    this.#unknown.set(hash, { at: this.#now().getTime() });
    return false;
  }
}

import type { FastifyBaseLogger } from 'fastify';
import { MINUTE_MS } from '../clock.ts';
import { createBoundedMap } from '../own-memory.ts';
import type { Admission, Caller, Counted, KeyEnding } from './account.ts';
import type { UtcDay } from './day.ts';
import type { Allowance, Grant } from './grant.ts';
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

/**
 * The requests that one counter of an account has counted, as far as this process knows: those of a day, or of an allowance.
 * Requests change the object and do not replace it.
 */
interface KnownCount {
  /** The day, or the name of the allowance's counter. */
  counter: string;
  /** The count that the store has told. */
  used: number;
  /** Admitted here since then, without the store. */
  admittedSince: number;
  /** When that was last changed. */
  at: number;
  /** When the store last said that nothing is left. */
  exhaustedAt: number;
}

/**
 * The store's latest responses, as this process remembers them: which requests are answered without the store at any time,
 * and what happens to requests while the store is away. Each instance then admits its share of what was left of an
 * account's day when the instance last knew.
 */
export class KnownKeys {
  readonly #now: () => Date;
  readonly #instances: () => number;
  readonly #log: Pick<FastifyBaseLogger, 'warn'>;
  readonly #callers = createBoundedMap<KnownCaller>('known keys', MAX_REMEMBERED);
  readonly #unknown = createBoundedMap<{ at: number }>('unknown keys', MAX_REMEMBERED);
  readonly #counts = createBoundedMap<KnownCount>('counts of accounts', MAX_REMEMBERED);
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
    return sumOf(this.#knownCount(day, accountId));
  }

  /** The admission where the store need not be asked: unlimited plans, and accounts exhausted a moment ago. Else null. */
  recall(caller: KnownCaller, day: UtcDay, count: number): Admission | null {
    if (!this.isVerified(caller)) return null;
    const limit = PLANS[caller.plan].dailyLimit;
    if (limit === null) return { kind: 'admitted', caller, day, count, used: 0 };
    const spentAt = this.#knownCount(day, caller.accountId)?.exhaustedAt;
    return this.#isRecent(spentAt, EXHAUSTED_TTL_MS) ? { kind: 'exhausted', caller, day, count, used: limit } : null;
  }

  /** The refusal where an allowance, or the day of the account, was exhausted a moment ago. Else null. */
  recallRefusal(caller: KnownCaller, day: UtcDay, count: number, allowances: readonly Allowance[]): Admission | null {
    const { accountId, plan } = caller;
    const used = this.usedOn(day, accountId);
    const isSpent = (counter: string, name: string) =>
      this.#isRecent(this.#knownCount(counter, name)?.exhaustedAt, EXHAUSTED_TTL_MS);
    const spent = allowances.find(({ counter }) => isSpent(counter, accountId + counter));
    if (!spent && (PLANS[plan].dailyLimit === null || !isSpent(day, accountId))) return null;
    const counted = allowances.map((allowance) => ({
      ...allowance,
      used: sumOf(this.#knownCount(allowance.counter, accountId + allowance.counter)),
    }));
    return { kind: 'exhausted', caller, day, count, used, allowances: counted, refusedBy: spent?.name };
  }

  /** Null for a key that the store has not confirmed within the last ten minutes, and when the share is used up. */
  admitWhileAway(key: ApiKey, { day, count, allowances }: Counted): Admission | null {
    const caller = this.callerOf(key);
    if (!caller) return null;
    const ofDay = this.#countOf(day, key.accountId);
    const further = allowances ?? [];
    const counted = further.map(({ counter }) => this.#countOf(counter, key.accountId + counter));
    const limits = [PLANS[caller.plan].dailyLimit ?? Number.POSITIVE_INFINITY, ...further.map(({ limit }) => limit)];
    const counts = [ofDay, ...counted];
    const full = counts.findIndex((one, index) => sumOf(one) + count > (limits[index] ?? 0));
    const outcome = () => ({ caller, day, count, used: sumOf(ofDay), ...usesOf(allowances, counted.map(sumOf)) });
    if (full >= 0) return { kind: 'exhausted', ...outcome(), refusedBy: further[full - 1]?.name };
    // Rounded up, so that the last request of a day is not refused by all instances.
    const shareOf = (one: KnownCount, limit = 0) => Math.ceil((limit - one.used) / this.#instances());
    if (counts.some((one, index) => one.admittedSince + count > shareOf(one, limits[index]))) return null;
    for (const one of counts)
      Object.assign(one, { admittedSince: one.admittedSince + count, at: this.#now().getTime() });
    return { kind: 'admitted', ...outcome() };
  }

  /** Whether the store has confirmed the key a moment ago. */
  isVerified({ verifiedAt }: KnownCaller): boolean {
    return this.#isRecent(verifiedAt, RECORD_TTL_MS);
  }

  /** Takes note of what was read and not counted. False: there is no such key, or it was revoked. */
  learnReading(key: ApiKey, day: UtcDay, reading: KeyReading): boolean {
    if (reading.kind === 'unknown') return this.#forget(key);
    this.#confirm(key, reading, reading.ending, reading.grant ?? undefined);
    // The count that was read lacks what was admitted here meanwhile.
    Object.assign(this.#countOf(day, key.accountId), { used: reading.used, at: this.#now().getTime() });
    return true;
  }

  /**
   * Takes note of a response. Null: there is no such key, or it was revoked. `isSettled`: the store knew all that was counted
   * and given back here; else an exhausted account is asked about again at once.
   */
  learn(
    key: ApiKey,
    { day, count, allowances }: Counted,
    response: AdmissionReply,
    isSettled: boolean,
  ): Admission | null {
    if (response.kind === 'unknown') {
      this.#forget(key);
      return null;
    }
    const { kind, used } = response;
    const caller = this.#confirm(key, response, response.kind === 'admitted' ? response.ending : undefined, undefined);
    const limit = PLANS[caller.plan].dailyLimit;
    const isExhausted = kind === 'exhausted' && isSettled;
    this.#learnCount(day, key.accountId, used, isExhausted && limit !== null && used >= limit);
    if (!allowances) return { kind, caller, day, count, used };
    const { usedOfAllowances = [] } = response;
    allowances.forEach(({ counter, limit: most }, index) => {
      const taken = usedOfAllowances[index] ?? 0;
      this.#learnCount(counter, key.accountId + counter, taken, isExhausted && taken >= most);
    });
    const full = allowances.find(({ limit: most }, index) => (usedOfAllowances[index] ?? 0) + count > most);
    const refusedBy = kind === 'exhausted' && !(limit !== null && used + count > limit) ? full?.name : undefined;
    return { kind, caller, day, count, used, ...usesOf(allowances, usedOfAllowances), refusedBy };
  }

  giveBack(admission: Admission): Admission {
    const { caller, day, count, used, allowances } = admission;
    this.#uncount(day, caller.accountId, count);
    for (const { counter } of allowances ?? []) this.#uncount(counter, caller.accountId + counter, count);
    const after = allowances?.map((allowance) => ({ ...allowance, used: allowance.used - count }));
    return { kind: 'given-back', caller, day, count, used: used - count, ...(after && { allowances: after }) };
  }

  #uncount(counter: string, name: string, count: number): void {
    const counted = this.#knownCount(counter, name);
    if (!counted) return;
    const ofSince = Math.min(counted.admittedSince, count);
    counted.used = Math.max(0, counted.used - (count - ofSince));
    counted.admittedSince -= ofSince;
    counted.exhaustedAt = Number.NEGATIVE_INFINITY;
  }

  /** A refused batch of n does not mean that the counter is spent. */
  #learnCount(counter: string, name: string, used: number, isSpent: boolean): void {
    const counted = this.#countOf(counter, name);
    counted.used = used;
    counted.admittedSince = 0;
    counted.at = this.#now().getTime();
    if (isSpent) counted.exhaustedAt = counted.at;
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

  /** `name` is the account id, with the name of the counter where it is not that of a day. */
  #knownCount(counter: string, name: string): KnownCount | null {
    const last = this.#counts.get(name);
    return last?.counter === counter && this.#isRemembered(last.at) ? last : null;
  }

  /** The count has nothing used unless more is known. */
  #countOf(counter: string, name: string): KnownCount {
    const before = this.#knownCount(counter, name);
    if (before) return before;
    const created = {
      counter,
      used: 0,
      admittedSince: 0,
      at: this.#now().getTime(),
      exhaustedAt: Number.NEGATIVE_INFINITY,
    };
    this.#counts.set(name, created);
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
    read: Grant | undefined,
  ): Caller {
    const plan = this.#findPlan(planName);
    const before = this.#callers.get(hash);
    const grant = read ?? before?.grant;
    if (before && before.grant === grant && before.plan === plan && !before.ending && !ending) {
      before.verifiedAt = this.#now().getTime();
      return before;
    }
    const domain = email.slice(email.lastIndexOf('@') + 1);
    const caller = {
      accountId,
      plan,
      domain,
      ...(ending && { ending }),
      ...(grant && { grant }),
      verifiedAt: this.#now().getTime(),
    };
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

function sumOf(counted: KnownCount | null): number {
  return counted ? counted.used + counted.admittedSince : 0;
}

function usesOf(allowances: readonly Allowance[] | undefined, used: readonly number[]): Pick<Admission, 'allowances'> {
  return allowances
    ? { allowances: allowances.map((allowance, index) => ({ ...allowance, used: used[index] ?? 0 })) }
    : {};
}

import { MINUTE_MS } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { createBoundedMap } from '../core/own-memory.ts';
import type { Admission, Caller, Charge } from './account.ts';
import { type AccountCounts, createAccountCounts, NOTHING_KNOWN } from './account-counts.ts';
import type { QuotaDay } from './day.ts';
import type { Allowance, CounterLimit, Grant } from './grant.ts';
import type { ApiKey } from './keys.ts';
import { PLANS, type PlanName, planFrom } from './plan.ts';
import type { AdmissionReply, KeyReading } from './store.ts';

/**
 * How long a remote store's response about an unlimited key or an exhausted account is reused; changes take effect after that.
 */
const RECORD_TTL_MS = 10_000;
const EXHAUSTED_TTL_MS = 5_000;
const UNKNOWN_TTL_MS = 5_000;
/** While the store is unreachable, keys that it confirmed within this time are admitted. */
export const GRACE_MS = 10 * MINUTE_MS;
const MAX_KEYS = 60_000;

/** The account of a key, and when the store confirmed the key. */
export interface KnownCaller extends Caller {
  verifiedAt: number;
}

/** A key that the store last reported as unknown or revoked. */
interface UnknownKey {
  unknownAt: number;
  isRevoked: boolean;
}

/**
 * The store's latest responses, cached in this process. They decide which requests are answered without the store, and what
 * happens while it is unreachable: each instance then admits its share of the account's last known remaining quota.
 */
export class KnownKeys {
  readonly #now: () => number;
  readonly #instances: () => number;
  readonly #log: Log<'warn'>;
  readonly #keys = createBoundedMap<KnownCaller | UnknownKey>('known keys', MAX_KEYS);
  readonly #counts: AccountCounts;
  /** Unknown plans that were already logged. */
  readonly #unknownPlans = new Set<string>();

  constructor(options: {
    now: () => number;
    instances: () => number;
    log: Log<'warn'>;
    counts?: AccountCounts;
  }) {
    this.#counts = options.counts ?? createAccountCounts();
    this.#now = options.now;
    this.#instances = options.instances;
    this.#log = options.log;
  }

  isUnknown({ hash }: ApiKey): boolean {
    const key = this.#keys.get(hash);
    return key !== undefined && 'unknownAt' in key && this.#isRecent(key.unknownAt, UNKNOWN_TTL_MS);
  }

  isRevoked({ hash }: ApiKey): boolean {
    const key = this.#keys.get(hash);
    return key !== undefined && 'unknownAt' in key && key.isRevoked;
  }

  /** Null for a key that the store has not confirmed within the last ten minutes. */
  callerOf({ hash }: ApiKey): KnownCaller | null {
    const caller = this.#confirmed(hash);
    return caller && this.#isRemembered(caller.verifiedAt) ? caller : null;
  }

  /** Whether the store has confirmed the key within ten seconds. `callerOf` accepts ten minutes. */
  isVerified({ verifiedAt }: KnownCaller): boolean {
    return this.#isRecent(verifiedAt, RECORD_TTL_MS);
  }

  /** The admission if no lookup is needed: unlimited plans, and counters exhausted a moment ago. Otherwise null. */
  recall(caller: KnownCaller, charge: Charge): Admission | null {
    if (!this.isVerified(caller)) return null;
    const { day, count, allowances } = charge;
    const isUnlimited = PLANS[caller.plan].dailyLimit === null && allowances.length === 0;
    if (isUnlimited) return { kind: 'admitted', caller, day, count, used: 0, allowances: [] };
    const spent = limitsOf(caller, charge).find(({ counter }) =>
      this.#isRecent(this.#countOf(caller.accountId, counter).exhaustedAt, EXHAUSTED_TTL_MS),
    );
    return spent ? this.toAdmission('exhausted', caller, charge, spent.name) : null;
  }

  /** Null for a key that the store has not confirmed within the last ten minutes, or if the share is used up. */
  admitWhileUnreachable(key: ApiKey, charge: Charge): Admission | null {
    const caller = this.callerOf(key);
    if (!caller) return null;
    const { count } = charge;
    const limits = limitsOf(caller, charge);
    const full = limits.find(({ counter, limit }) => this.#usedOf(caller, counter) + count > limit);
    if (full) return this.toAdmission('exhausted', caller, charge, full.name);
    const limitCounts = limits.map(({ counter, limit }) => ({
      limit,
      counts: this.#countOf(caller.accountId, counter),
    }));
    // Rounded up, so that not all instances refuse the last request of a day.
    const hasShare = limitCounts.every(
      ({ limit, counts: { used, admittedSince } }) =>
        admittedSince + count <= Math.ceil((limit - used) / this.#instances()),
    );
    if (!hasShare) return null;
    for (const { counts } of limitCounts) {
      counts.admittedSince += count;
      counts.at = this.#now();
    }
    return this.toAdmission('admitted', caller, charge);
  }

  /** Records a reading that charged nothing. Returns false if the key is unknown or revoked. */
  storeReading(key: ApiKey, day: QuotaDay, reading: KeyReading): boolean {
    if (reading.kind === 'unknown' || reading.kind === 'revoked') {
      this.#forget(key, reading.kind);
      return false;
    }
    this.#confirm(key, reading, reading.grant ?? undefined);
    // `admittedSince` stays: the store does not know these requests yet.
    Object.assign(this.#countOf(key.accountId, day), { used: reading.used, at: this.#now() });
    return true;
  }

  /**
   * Records a response. Returns null if the key is unknown or revoked. `isReconciled`: the store already knew all charges and
   * refunds from here; otherwise an exhausted account is looked up again at once.
   */
  store(key: ApiKey, charge: Charge, response: AdmissionReply, isReconciled: boolean): Admission | null {
    if (response.kind === 'unknown' || response.kind === 'revoked') {
      this.#forget(key, response.kind);
      return null;
    }
    const { kind, used, usedOfAllowances = [] } = response;
    const caller = this.#confirm(key, response);
    const limits = limitsOf(caller, charge).map((limit, index) => ({
      ...limit,
      used: [used, ...usedOfAllowances][index] ?? 0,
    }));
    for (const { counter, limit, used } of limits) {
      const counts = this.#countOf(key.accountId, counter);
      Object.assign(counts, { used, admittedSince: 0, at: this.#now() });
      // Refusing a batch of n does not mean that the counter is exhausted.
      if (kind === 'exhausted' && isReconciled && used >= limit) counts.exhaustedAt = counts.at;
    }
    const full = kind === 'exhausted' ? limits.find(({ limit, used }) => used + charge.count > limit) : undefined;
    const { day, count } = charge;
    const allowances = charge.allowances.map((allowance, index) => ({
      ...allowance,
      used: usedOfAllowances[index] ?? 0,
    }));
    return { kind, caller, day, count, used, allowances, refusedBy: full?.name };
  }

  refund(admission: Admission): Admission {
    const { caller, count, used, allowances } = admission;
    for (const { counter } of limitsOf(caller, admission)) {
      const counts = this.#countOf(caller.accountId, counter);
      const ofSince = Math.min(counts.admittedSince, count);
      counts.used = Math.max(0, counts.used - (count - ofSince));
      counts.admittedSince -= ofSince;
      counts.exhaustedAt = Number.NEGATIVE_INFINITY;
    }
    const after = allowances.map((allowance) => ({ ...allowance, used: allowance.used - count }));
    return { ...admission, kind: 'given-back', used: used - count, allowances: after };
  }

  /** The outcome of a request, with its counts as known now. */
  toAdmission(
    kind: Admission['kind'],
    caller: Caller,
    { day, count, allowances }: Charge,
    refusedBy?: Allowance['name'],
  ): Admission {
    const counts = allowances.map((allowance) => ({ ...allowance, used: this.#usedOf(caller, allowance.counter) }));
    return { kind, caller, day, count, used: this.#usedOf(caller, day), allowances: counts, refusedBy };
  }

  #confirmed(hash: string): KnownCaller | null {
    const key = this.#keys.get(hash);
    return key && 'verifiedAt' in key ? key : null;
  }

  #usedOf({ accountId }: Caller, counter: string): number {
    const { used, admittedSince } = this.#countOf(accountId, counter);
    return used + admittedSince;
  }

  /** A time in the future, after the clock was set back, does not count as recent. */
  #isRecent(at: number, withinMs: number): boolean {
    const present = this.#now();
    return at <= present && present < at + withinMs;
  }

  #isRemembered(at: number): boolean {
    return this.#now() <= at + GRACE_MS;
  }

  /** A counter unconfirmed for ten minutes counts as zero. */
  #countOf(accountId: string, counter: string) {
    const before = this.#counts.get(accountId + counter);
    if (before && this.#isRemembered(before.at)) return before;
    const { sender = null } = before ?? {};
    const created = { ...NOTHING_KNOWN, at: this.#now(), sender };
    this.#counts.set(accountId + counter, created);
    return created;
  }

  #planOf(name: string): PlanName {
    const plan = planFrom(name);
    if (plan !== name && !this.#unknownPlans.has(name)) {
      this.#unknownPlans.add(name);
      this.#log.warn({ plan: name, countsAs: plan }, 'unknown plan of an account');
    }
    return plan;
  }

  /** Records the caller of a key that the store just confirmed. `loaded` is the grant loaded with it; a key's grant never changes. */
  #confirm(
    { hash, accountId }: ApiKey,
    reply: Exclude<AdmissionReply | KeyReading, { kind: 'unknown' | 'revoked' }>,
    loaded?: Grant,
  ): Caller {
    const { email = '', ending } = reply;
    const plan = this.#planOf(reply.plan);
    const verifiedAt = this.#now();
    const before = this.#confirmed(hash);
    const grant = loaded ?? before?.grant;
    if (before && before.grant === grant && before.plan === plan && !before.ending && !ending) {
      before.verifiedAt = verifiedAt;
      return before;
    }
    const domain = email.slice(email.lastIndexOf('@') + 1);
    const caller = { accountId, plan, domain, ...(ending && { ending }), ...(grant && { grant }), verifiedAt };
    this.#keys.set(hash, caller);
    return caller;
  }

  /** Records that the store reported the key as unknown or revoked. */
  #forget({ hash }: ApiKey, kind: 'unknown' | 'revoked'): void {
    this.#keys.set(hash, { unknownAt: this.#now(), isRevoked: kind === 'revoked' });
  }
}

/** The counters that a request must fit into: the account's day, which has no name, and its allowances. */
function limitsOf({ plan }: Caller, { day, allowances }: Charge): (CounterLimit & { name?: Allowance['name'] })[] {
  return [{ counter: day, limit: PLANS[plan].dailyLimit ?? Number.POSITIVE_INFINITY }, ...allowances];
}

import type { FastifyBaseLogger } from 'fastify';
import { MINUTE_MS } from '../core/clock.ts';
import { createBoundedMap } from '../core/own-memory.ts';
import type { Admission, Caller, Counted } from './account.ts';
import { type AccountCounts, createAccountCounts, NOTHING_KNOWN } from './account-counts.ts';
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
const MAX_KEYS = 60_000;

/** The account of a key, and when the store has confirmed the key. */
export interface KnownCaller extends Caller {
  verifiedAt: number;
}

/** A key that the store did not know when it was last asked, or that it knew as revoked. */
interface UnknownKey {
  unknownAt: number;
  isRevoked: boolean;
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
  readonly #keys = createBoundedMap<KnownCaller | UnknownKey>('known keys', MAX_KEYS);
  readonly #counts: AccountCounts;
  /** Names of plans that were logged. */
  readonly #unknownPlans = new Set<string>();

  constructor(options: {
    now: () => Date;
    instances: () => number;
    log: Pick<FastifyBaseLogger, 'warn'>;
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

  /** Whether the store has confirmed the key a moment ago. */
  isVerified({ verifiedAt }: KnownCaller): boolean {
    return this.#isRecent(verifiedAt, RECORD_TTL_MS);
  }

  /** The admission where the store need not be asked: unlimited plans, and counts exhausted a moment ago. Else null. */
  recall(caller: KnownCaller, counted: Counted): Admission | null {
    if (!this.isVerified(caller)) return null;
    const { day, count, allowances } = counted;
    const isUnlimited = PLANS[caller.plan].dailyLimit === null && allowances.length === 0;
    if (isUnlimited) return { kind: 'admitted', caller, day, count, used: 0, allowances: [] };
    const spent = limitsOf(caller, counted).find(({ counter }) =>
      this.#isRecent(this.#countOf(caller.accountId, counter).exhaustedAt, EXHAUSTED_TTL_MS),
    );
    return spent ? this.toAdmission('exhausted', caller, counted, spent.name) : null;
  }

  /** Null for a key that the store has not confirmed within the last ten minutes, and when the share is used up. */
  admitWhileAway(key: ApiKey, counted: Counted): Admission | null {
    const caller = this.callerOf(key);
    if (!caller) return null;
    const { count } = counted;
    const limits = limitsOf(caller, counted);
    const full = limits.find(({ counter, limit }) => this.#usedOf(caller, counter) + count > limit);
    if (full) return this.toAdmission('exhausted', caller, counted, full.name);
    const known = limits.map(({ counter, limit }) => ({ limit, counts: this.#countOf(caller.accountId, counter) }));
    // Rounded up, so that the last request of a day is not refused by all instances.
    const hasShare = known.every(
      ({ limit, counts: { used, admittedSince } }) =>
        admittedSince + count <= Math.ceil((limit - used) / this.#instances()),
    );
    if (!hasShare) return null;
    for (const { counts } of known) {
      counts.admittedSince += count;
      counts.at = this.#now().getTime();
    }
    return this.toAdmission('admitted', caller, counted);
  }

  /** Takes note of what was read and not counted. False: there is no such key, or it was revoked. */
  learnReading(key: ApiKey, day: UtcDay, reading: KeyReading): boolean {
    if (reading.kind === 'unknown' || reading.kind === 'revoked') {
      this.#forget(key, reading.kind);
      return false;
    }
    this.#confirm(key, reading, reading.grant ?? undefined);
    // The count that was read lacks what was admitted here meanwhile.
    Object.assign(this.#countOf(key.accountId, day), { used: reading.used, at: this.#now().getTime() });
    return true;
  }

  /**
   * Takes note of a response. Null: there is no such key, or it was revoked. `isSettled`: the store knew all that was counted
   * and given back here; else an exhausted account is asked about again at once.
   */
  learn(key: ApiKey, counted: Counted, response: AdmissionReply, isSettled: boolean): Admission | null {
    if (response.kind === 'unknown' || response.kind === 'revoked') {
      this.#forget(key, response.kind);
      return null;
    }
    const { kind, used, usedOfAllowances = [] } = response;
    const caller = this.#confirm(key, response);
    const limits = limitsOf(caller, counted).map((one, index) => ({
      ...one,
      used: [used, ...usedOfAllowances][index] ?? 0,
    }));
    for (const { counter, limit, used } of limits) {
      const counts = this.#countOf(key.accountId, counter);
      Object.assign(counts, { used, admittedSince: 0, at: this.#now().getTime() });
      // A refused batch of n does not mean that the counter is spent.
      if (kind === 'exhausted' && isSettled && used >= limit) counts.exhaustedAt = counts.at;
    }
    const full = kind === 'exhausted' ? limits.find(({ limit, used }) => used + counted.count > limit) : undefined;
    return this.toAdmission(kind, caller, counted, full?.name);
  }

  giveBack(admission: Admission): Admission {
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

  /** The outcome of a request, with its counts as they are known by now. */
  toAdmission(
    kind: Admission['kind'],
    caller: Caller,
    { day, count, allowances }: Counted,
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

  /** The clock may be set back: what lies ahead then is not recent. */
  #isRecent(at: number | undefined, withinMs: number): boolean {
    if (at === undefined) return false;
    const present = this.#now().getTime();
    return at <= present && present < at + withinMs;
  }

  #isRemembered(at: number): boolean {
    return this.#now().getTime() <= at + GRACE_MS;
  }

  /** Nothing is used of a counter of which nothing was heard for ten minutes. */
  #countOf(accountId: string, counter: string) {
    const before = this.#counts.get(accountId + counter);
    if (before && this.#isRemembered(before.at)) return before;
    const { sender = null } = before ?? {};
    const created = { ...NOTHING_KNOWN, at: this.#now().getTime(), sender };
    this.#counts.set(accountId + counter, created);
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

  /** The caller of a key that the store has just confirmed. `read` is a grant that was read with it: it never changes. */
  #confirm(
    { hash, accountId }: ApiKey,
    reply: Exclude<AdmissionReply | KeyReading, { kind: 'unknown' | 'revoked' }>,
    read?: Grant,
  ): Caller {
    const { email = '', ending } = reply;
    const plan = this.#findPlan(reply.plan);
    const verifiedAt = this.#now().getTime();
    const before = this.#confirmed(hash);
    const grant = read ?? before?.grant;
    if (before && before.grant === grant && before.plan === plan && !before.ending && !ending) {
      before.verifiedAt = verifiedAt;
      return before;
    }
    const domain = email.slice(email.lastIndexOf('@') + 1);
    const caller = { accountId, plan, domain, ...(ending && { ending }), ...(grant && { grant }), verifiedAt };
    this.#keys.set(hash, caller);
    return caller;
  }

  /** The store has said that there is no such key, or that it is revoked. */
  #forget({ hash }: ApiKey, kind: 'unknown' | 'revoked'): void {
    this.#keys.set(hash, { unknownAt: this.#now().getTime(), isRevoked: kind === 'revoked' });
  }
}

/** The counters that a request has to fit into: that of the account's day, which has no name, and those of its allowances. */
function limitsOf(
  { plan }: Caller,
  { day, allowances }: Pick<Counted, 'day' | 'allowances'>,
): { counter: string; limit: number; name?: Allowance['name'] }[] {
  return [{ counter: day, limit: PLANS[plan].dailyLimit ?? Number.POSITIVE_INFINITY }, ...allowances];
}

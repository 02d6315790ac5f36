import type { ApiError } from '../errors/api-error.ts';
import { tooManyInShortTime, tooManyUnknownKeys, visitorTooFast } from '../errors/messages.ts';
import type { Caller } from './account.ts';
import type { ApiKey } from './keys.ts';
import type { KnownCaller } from './known-keys.ts';
import type { BurstLimits } from './limits/burst-limits.ts';
import { clientNetwork } from './limits/client-network.ts';
import { createTokenBuckets, NETWORK_RATE, type TokenBuckets } from './limits/token-buckets.ts';
import { forEachPlan, PLANS, type Plan } from './plan.ts';
import type { Quota } from './quota.ts';
import type { Restrictions } from './restrictions.ts';

/** The rate of one visitor of a page: a map that is opened asks for a dozen things at once. */
const VISITOR_RATE = { perSecond: 5, burst: 30 };

/**
 * The limits that hold in this process alone, and are applied before the store is asked: of requests in a short time, and of look-ups
 * of unknown keys.
 */
export class ProcessLimits {
  readonly #quota: Quota;
  readonly #restrictions: Restrictions | null;
  readonly #burstLimits: BurstLimits;
  readonly #bursts: Record<Plan, TokenBuckets | null>;
  readonly #refunds: Record<Plan, TokenBuckets>;
  readonly #visits: TokenBuckets;
  /** Of each client network, for keys that turn out not to be valid. */
  readonly #lookUps: TokenBuckets;
  /** Requests of each account that are counted and have no response yet. */
  readonly #inFlight = new Map<string, number>();
  /** The look-ups under way by the hash of the key: equal keys are looked up once at a time. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(options: {
    quota: Quota;
    burstLimits: BurstLimits;
    restrictions: Restrictions | null;
    now: () => Date;
  }) {
    const { quota, burstLimits, restrictions, now } = options;
    this.#quota = quota;
    this.#restrictions = restrictions;
    this.#burstLimits = burstLimits;
    this.#bursts = forEachPlan((plan) => burstLimits[plan] && createTokenBuckets(burstLimits[plan], now));
    this.#refunds = forEachPlan((plan) => {
      const { refundsAnHour } = PLANS[plan];
      return createTokenBuckets({ perSecond: refundsAnHour / 3600, burst: refundsAnHour }, now);
    });
    this.#visits = createTokenBuckets(VISITOR_RATE, now);
    this.#lookUps = createTokenBuckets(NETWORK_RATE, now);
  }

  /**
   * The account of a key. Null: there is no such key, or it was revoked. Throws `TOO_MANY_REQUESTS` when too many unknown keys
   * were looked up.
   */
  async find(key: ApiKey, request: { ip: string }): Promise<KnownCaller | null> {
    const isLookUp = !this.#quota.callerOf(key) && !this.#quota.isUnknown(key);
    const other = this.#underWay.get(key.hash);
    // The address is read only here: behind a proxy that takes time.
    if (isLookUp && !other) return this.#lookUp(key, request.ip);
    await other;
    return this.#quota.find(key);
  }

  async #lookUp(key: ApiKey, ip: string): Promise<KnownCaller | null> {
    const network = clientNetwork(ip);
    if (!this.#lookUps.take(network)) throw tooManyUnknownKeys(this.#lookUps.waitSeconds(network));
    const lookedUp = this.#quota.find(key);
    this.#underWay.set(key.hash, lookedUp);
    let isUnknown = false;
    try {
      const found = await lookedUp;
      isUnknown = found === null;
      return found;
    } finally {
      // Only keys that turn out not to be valid count.
      if (!isUnknown) this.#lookUps.putBack(network);
      this.#underWay.delete(key.hash);
    }
  }

  /**
   * Why a request is refused that is not counted then; null when it is not. `visitor` is given where others may read the key, or
   * have a token: they leave a quarter of the account's burst to its secret keys.
   */
  refusalOf(caller: Caller, visitor?: string): ApiError | null {
    const { plan, accountId } = caller;
    const restricted = this.#restrictions?.ofCaller(caller);
    if (restricted) return restricted;
    if (visitor !== undefined && !this.#visits.take(visitor)) {
      return visitorTooFast(VISITOR_RATE.perSecond, VISITOR_RATE.burst, this.#visits.waitSeconds(visitor));
    }
    const rate = this.#burstLimits[plan];
    const bursts = this.#bursts[plan];
    const kept = visitor !== undefined && rate ? Math.floor(rate.burst / 4) : 0;
    if (!rate || !bursts || bursts.take(accountId, kept)) return null;
    return tooManyInShortTime({ plan: PLANS[plan].title, ...rate, waitSeconds: bursts.waitSeconds(accountId) });
  }

  /** A request that an allowance was too small for takes nothing of what the account may do in a short time. */
  putBack({ plan, accountId }: Caller): void {
    this.#bursts[plan]?.putBack(accountId);
  }

  /** Counts requests that are charged and have no response yet; fewer when negative. */
  noteInFlight({ accountId }: Caller, count: number): void {
    const inFlight = this.#inFlight.get(accountId) ?? 0;
    if (inFlight + count > 0) this.#inFlight.set(accountId, inFlight + count);
    else this.#inFlight.delete(accountId);
  }

  inFlightOf({ accountId }: Caller): number {
    return this.#inFlight.get(accountId) ?? 0;
  }

  /** How many of so many failed requests are given back. Failing calls cost as much as others, so there is a bound. */
  refund({ plan, accountId }: Caller, count: number): number {
    let givenBack = 0;
    while (givenBack < count && this.#refunds[plan].take(accountId)) givenBack++;
    return givenBack;
  }
}

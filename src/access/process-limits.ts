import type { ApiError } from '../errors/api-error.ts';
import { tooManyFailed, tooManyInShortTime, tooManyUnknownKeys, visitorTooFast } from '../errors/messages.ts';
import type { Caller } from './account.ts';
import type { ApiKey } from './keys.ts';
import type { KnownCaller } from './known-keys.ts';
import type { BurstLimits } from './limits/burst-limits.ts';
import { clientNetwork } from './limits/client-network.ts';
import { createTokenBuckets, type TokenBuckets } from './limits/token-buckets.ts';
import { forEachPlan, PLANS, type Plan } from './plan.ts';
import type { Quota } from './quota.ts';
import type { Restrictions } from './restrictions.ts';

/** The rate of one visitor of a page: a map that is opened asks for a dozen things at once. */
const VISITOR_RATE = { perSecond: 5, burst: 30 };

/**
 * The limits that hold in this process alone, and are applied before the store is asked: of requests in a short time, of
 * failed requests, which cost as much work as others, and of look-ups of unknown keys.
 */
export class ProcessLimits {
  readonly #quota: Quota;
  readonly #restrictions: Restrictions | null;
  readonly #burstLimits: BurstLimits;
  readonly #bursts: Record<Plan, TokenBuckets | null>;
  readonly #failures: Record<Plan, TokenBuckets>;
  readonly #refunds: Record<Plan, TokenBuckets>;
  readonly #visits: TokenBuckets;
  readonly #lookUps: LookUpLimit;
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
    const bucketsOf = (perPeriod: (plan: Plan) => number, seconds: number) =>
      forEachPlan((plan) => createTokenBuckets({ perSecond: perPeriod(plan) / seconds, burst: perPeriod(plan) }, now));
    this.#quota = quota;
    this.#restrictions = restrictions;
    this.#burstLimits = burstLimits;
    this.#bursts = forEachPlan((plan) => burstLimits[plan] && createTokenBuckets(burstLimits[plan], now));
    this.#failures = bucketsOf((plan) => PLANS[plan].failuresAMinute, 60);
    this.#refunds = bucketsOf((plan) => PLANS[plan].refundsAnHour, 3600);
    this.#visits = createTokenBuckets(VISITOR_RATE, now);
    this.#lookUps = new LookUpLimit(now);
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
    const putBack = this.#lookUps.take(ip);
    if (!putBack) throw tooManyUnknownKeys(this.#lookUps.waitSeconds(ip));
    const lookedUp = this.#quota.find(key);
    this.#underWay.set(key.hash, lookedUp);
    try {
      const found = await lookedUp;
      if (found) putBack();
      return found;
    } catch (error) {
      putBack();
      throw error;
    } finally {
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
    const { title, failuresAMinute } = PLANS[plan];
    const rate = this.#burstLimits[plan];
    const bursts = this.#bursts[plan];
    const kept = visitor !== undefined && rate ? Math.floor(rate.burst / 4) : 0;
    const isTooFast = bursts !== null && !bursts.take(accountId, kept);
    if (this.#failures[plan].isEmpty(accountId)) {
      return tooManyFailed(title, failuresAMinute, this.#failures[plan].waitSeconds(accountId));
    }
    if (!isTooFast || !rate) return null;
    return tooManyInShortTime({ plan: title, ...rate, waitSeconds: bursts.waitSeconds(accountId) });
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

  /** Counts a failed request, and tells how many of the requests that it counted as are given back. */
  noteFailed({ plan, accountId }: Caller, count: number): number {
    this.#failures[plan].take(accountId);
    let givenBack = 0;
    while (givenBack < count && this.#refunds[plan].take(accountId)) givenBack++;
    return givenBack;
  }
}

/** One client network may have so much looked up that turns out to be no valid key. */
const LOOK_UPS_OF_NETWORK = { perSecond: 20, burst: 40 };
/** A network is quiet as long as it has less looked up than this, and does not flood. */
const LOOK_UPS_OF_QUIET = { perSecond: 1, burst: 5 };
/** All networks together may use the one half of what this process looks up; the other half is for quiet networks. */
const LOOK_UPS_FOR_ALL = { perSecond: 100, burst: 100 };
const LOOK_UPS_FOR_QUIET = { perSecond: 100, burst: 100 };
const ONLY_BUCKET = '';

/**
 * Bounds how often the store is asked about keys that this process does not know: for each client network, and in all.
 * Only keys that turn out not to be valid count.
 */
export class LookUpLimit {
  readonly #networks: TokenBuckets;
  readonly #quietNetworks: TokenBuckets;
  readonly #forAll: TokenBuckets;
  readonly #forQuiet: TokenBuckets;

  constructor(now: () => Date) {
    this.#networks = createTokenBuckets(LOOK_UPS_OF_NETWORK, now);
    this.#quietNetworks = createTokenBuckets(LOOK_UPS_OF_QUIET, now);
    this.#forAll = createTokenBuckets(LOOK_UPS_FOR_ALL, now);
    this.#forQuiet = createTokenBuckets(LOOK_UPS_FOR_QUIET, now);
  }

  /**
   * Null when the limit is reached. Else the key may be looked up, and the function that is returned puts the look-up back:
   * for one that found a valid key, or did not take place.
   */
  take(ip: string): (() => void) | null {
    const network = clientNetwork(ip);
    if (!this.#networks.take(network)) return null;
    // A network's tries count, also when it is refused below: otherwise all networks of a flood would stay quiet.
    const isQuiet = this.#networks.isHalfFull(network) && this.#quietNetworks.take(network);
    const share = isQuiet && this.#forQuiet.take(ONLY_BUCKET) ? this.#forQuiet : this.#forAll;
    if (share === this.#forAll && !share.take(ONLY_BUCKET)) return null;
    return () => {
      this.#networks.putBack(network);
      if (isQuiet) this.#quietNetworks.putBack(network);
      share.putBack(ONLY_BUCKET);
    };
  }

  waitSeconds(ip: string): number {
    return this.#networks.waitSeconds(clientNetwork(ip));
  }
}

import { tooManyUnknownKeys } from '../errors/messages.ts';
import type { Admission } from './account.ts';
import type { Allowance } from './grant.ts';
import type { ApiKey } from './keys.ts';
import type { KnownCaller } from './known-keys.ts';
import type { BurstLimit, FailureLimit } from './limits/account-limits.ts';
import { clientNetwork } from './limits/client-network.ts';
import { createTokenBuckets, type TokenBuckets } from './limits/token-buckets.ts';
import type { Quota } from './quota.ts';
import type { Restrictions } from './restrictions.ts';

/** The rate of one visitor of a page, in each process: a map that is opened asks for a dozen things at once. */
export const VISITOR_RATE = { perSecond: 5, burst: 30 };

/**
 * Admits requests within the limits that hold in this process: `throttled` when the account has made too many requests in
 * a short time, or too many that failed, or is suspended. Such a request is not counted.
 */
export class ProcessLimits {
  readonly #quota: Quota;
  readonly #bursts: BurstLimit;
  readonly #failures: FailureLimit;
  readonly #restrictions: Restrictions | null;
  readonly #lookUps: LookUpLimit;
  /** The look-ups under way by the hash of the key: equal keys are looked up once at a time. */
  readonly #underWay = new Map<string, Promise<unknown>>();
  readonly #visits: TokenBuckets;

  constructor(options: {
    quota: Quota;
    bursts: BurstLimit;
    failures: FailureLimit;
    restrictions: Restrictions | null;
    now: () => Date;
  }) {
    this.#quota = options.quota;
    this.#bursts = options.bursts;
    this.#failures = options.failures;
    this.#restrictions = options.restrictions;
    this.#lookUps = new LookUpLimit(options.now);
    this.#visits = createTokenBuckets(VISITOR_RATE, options.now);
  }

  /**
   * Most requests of busy callers: what can be said without the store. Null: call `admit`, which goes on from here.
   */
  admitAtOnce(key: ApiKey): Admission | null {
    const caller = this.#quota.callerOf(key);
    if (!caller) return null;
    if (this.#restrictions?.ofCaller(caller)) return this.#quota.throttled(caller);
    if (!this.#bursts.take(caller) || this.#failures.isReached(caller)) return this.#quota.throttled(caller);
    return this.#quota.recall(caller);
  }

  /**
   * Null: there is no such key, or it was revoked. Throws `TOO_MANY_REQUESTS` when too many unknown keys were looked up.
   */
  async admit(key: ApiKey, request: { ip: string }): Promise<Admission | null> {
    if (this.#quota.callerOf(key) || this.#quota.isUnknown(key)) return this.#quota.admit(key);
    const other = this.#underWay.get(key.hash);
    // The address is read only here: behind a proxy that takes time.
    if (!other) return this.#admitFirst(key, request.ip);
    await other;
    return this.admitAtOnce(key) ?? this.#quota.admit(key);
  }

  /**
   * The account of a publishable key, or of a token. Null: there is no such key, or it was revoked. Throws as `admit` does.
   */
  async find(key: ApiKey, request: { ip: string }): Promise<KnownCaller | null> {
    if (this.#quota.callerOf(key) || this.#quota.isUnknown(key)) return this.#quota.find(key);
    const other = this.#underWay.get(key.hash);
    if (!other) return this.#lookUp(key, request.ip, () => this.#quota.find(key));
    await other;
    return this.#quota.find(key);
  }

  /**
   * Admits a request with a publishable key or a token. Whoever goes too fast, or has used up the hour or the share, takes
   * nothing of what the account may do in a short time.
   */
  async admitGranted(
    key: ApiKey,
    caller: KnownCaller,
    allowances: Allowance[],
    visitor: string,
  ): Promise<Admission | null> {
    if (this.#restrictions?.ofCaller(caller)) return this.#quota.throttled(caller);
    const refused = this.#quota.recallRefusal(caller, allowances);
    if (refused) return refused;
    if (!this.#visits.take(visitor)) return { ...this.#quota.throttled(caller), refusedBy: 'visitor' };
    if (!this.#bursts.takeGranted(caller) || this.#failures.isReached(caller)) return this.#quota.throttled(caller);
    const admission = await this.#quota.admit(key, { allowances });
    if (admission?.refusedBy) this.#bursts.putBack(caller);
    return admission;
  }

  visitorWaitSeconds(visitor: string): number {
    return this.#visits.waitSeconds(visitor);
  }

  /** The plan is known only with the response of the store, which has then counted the request. */
  async #admitFirst(key: ApiKey, ip: string): Promise<Admission | null> {
    const admission = await this.#lookUp(key, ip, () => this.#quota.admit(key));
    if (!admission) return null;
    const isSuspended = Boolean(this.#restrictions?.ofCaller(admission.caller));
    if (!isSuspended && this.#bursts.take(admission.caller)) return admission;
    if (admission.kind === 'admitted') await this.#quota.giveBack(admission);
    return this.#quota.throttled(admission.caller);
  }

  async #lookUp<Found>(key: ApiKey, ip: string, ask: () => Promise<Found | null>): Promise<Found | null> {
    const putBack = this.#lookUps.take(ip);
    if (!putBack) throw tooManyUnknownKeys(this.#lookUps.waitSeconds(ip));
    const lookedUp = ask();
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

import { tooManyUnknownKeys } from '../errors/messages.ts';
import type { Admission } from './admission.ts';
import type { ApiKey } from './keys.ts';
import type { BurstLimit, FailureLimit } from './limits/account-limits.ts';
import { LookUpLimit } from './limits/look-up-limit.ts';
import type { Quota } from './quota.ts';
import type { Restrictions } from './restrictions.ts';

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
  /** By hash. Equal keys are looked up once at a time. */
  readonly #underWay = new Map<string, Promise<Admission | null>>();

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

  /** The plan is known only with the response of the store, which has then counted the request. */
  async #admitFirst(key: ApiKey, ip: string): Promise<Admission | null> {
    const admission = await this.#lookUp(key, ip);
    if (!admission) return null;
    const isSuspended = Boolean(this.#restrictions?.ofCaller(admission.caller));
    if (!isSuspended && this.#bursts.take(admission.caller)) return admission;
    if (admission.kind === 'admitted') await this.#quota.giveBack(admission);
    return this.#quota.throttled(admission.caller);
  }

  async #lookUp(key: ApiKey, ip: string): Promise<Admission | null> {
    const putBack = this.#lookUps.take(ip);
    if (!putBack) throw tooManyUnknownKeys(this.#lookUps.waitSeconds(ip));
    const lookedUp = this.#quota.admit(key);
    this.#underWay.set(key.hash, lookedUp);
    try {
      const admission = await lookedUp;
      if (admission) putBack();
      return admission;
    } catch (error) {
      putBack();
      throw error;
    } finally {
      this.#underWay.delete(key.hash);
    }
  }
}

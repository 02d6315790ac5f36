import { tooManyUnknownKeys } from '../errors/messages.ts';
import type { Admission } from './admission.ts';
import type { AdmissionControl } from './admission-control.ts';
import type { ApiKey } from './keys.ts';
import type { BurstLimit } from './limits/burst-limit.ts';
import type { FailureLimit } from './limits/failure-limit.ts';
import type { LookUpLimit } from './limits/look-up-limit.ts';
import type { KnownCaller } from './local-admission.ts';

/** Admits requests within the limits that hold in this process, before the store is asked where that is possible. */
export interface Entrance {
  /**
   * `throttled` when the account has made too many requests in a short time, or too many that failed; such a request is not counted. Null: there is
   * no such key, or it was revoked. Throws `TOO_MANY_REQUESTS` when too many unknown keys were looked up. Not a promise
   * where the store need not be asked: most requests of busy callers then wait for nothing.
   */
  enter(key: ApiKey, request: { ip: string }): Admission | null | Promise<Admission | null>;
}

export function createEntrance(options: {
  admissions: AdmissionControl;
  bursts: BurstLimit;
  failures: Pick<FailureLimit, 'isReached'>;
  lookUps: LookUpLimit;
}): Entrance {
  const { admissions, bursts, failures, lookUps } = options;
  /** By hash. Equal keys are looked up once at a time. */
  const underWay = new Map<string, Promise<Admission | null>>();

  function enterAgain(key: ApiKey, caller: KnownCaller | null): Admission | null | Promise<Admission | null> {
    if (caller && (!bursts.take(caller) || failures.isReached(caller))) return admissions.throttled(caller);
    const recalled = admissions.recall(key, caller);
    return recalled === undefined ? admissions.ask(key) : recalled;
  }

  /** The plan is known only with the response of the store, which has then counted the request. */
  async function enterFirst(key: ApiKey, ip: string): Promise<Admission | null> {
    const admission = await lookUp(key, ip);
    if (!admission || bursts.take(admission.caller)) return admission;
    if (admission.kind === 'admitted') await admissions.giveBack(admission);
    return admissions.throttled(admission.caller);
  }

  async function lookUp(key: ApiKey, ip: string): Promise<Admission | null> {
    const permit = lookUps.take(ip);
    if (!permit) throw tooManyUnknownKeys(lookUps.waitSeconds(ip));
    const lookedUp = admissions.admit(key);
    underWay.set(key.hash, lookedUp);
    try {
      const admission = await lookedUp;
      if (admission) permit.putBack();
      return admission;
    } catch (error) {
      permit.putBack();
      throw error;
    } finally {
      underWay.delete(key.hash);
    }
  }

  return {
    enter(key, request) {
      const caller = admissions.callerOf(key);
      if (caller || admissions.isUnknown(key)) return enterAgain(key, caller);
      const other = underWay.get(key.hash);
      // The address is read only here: behind a proxy that takes time.
      return other ? other.then(() => enterAgain(key, admissions.callerOf(key))) : enterFirst(key, request.ip);
    },
  };
}

import type { FastifyBaseLogger } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { UnavailableError } from '../redis/unavailable-error.ts';
import type { Admission, Caller } from './admission.ts';
import { type UtcDay, utcDay } from './day.ts';
import type { ApiKey } from './keys.ts';
import { createLocalAdmission, type KnownCaller } from './local-admission.ts';
import { createPendingCounts, noteUsed, type Sender } from './pending-counts.ts';
import { PLANS } from './plan.ts';
import { createSettlement } from './settlement.ts';
import type { AdmissionReply, Counter } from './store.ts';

export interface AdmissionControl {
  /**
   * Null: there is no such key, or it was revoked. Throws `SERVICE_UNAVAILABLE` when that cannot be known now. A request
   * that counts as several is admitted when all of them fit into the day.
   */
  admit(key: ApiKey, options?: { count?: number; day?: UtcDay }): Promise<Admission | null>;
  /** The same, where that can be said without asking the store; else undefined. `caller` as `callerOf` says. */
  recall(key: ApiKey, caller: KnownCaller | null): Admission | null | undefined;
  /** As `admit`, for a key of which `recall` has said nothing. */
  ask(key: ApiKey): Admission | Promise<Admission | null>;
  /** Whether the store has said in the last seconds that there is no such key. */
  isUnknown(key: ApiKey): boolean;
  /** The account of a key that the store has confirmed in the last ten minutes; null for any other key. */
  callerOf(key: ApiKey): KnownCaller | null;
  /** A request that is refused without being counted. */
  throttled(caller: Caller): Admission;
  /**
   * Takes back the count of an admitted request; while the store is away, as soon as it is back. Where there is a limit,
   * resolves when the store has been told.
   */
  giveBack(admission: Admission): Admission | Promise<Admission>;
  /** Counts so many requests more, whatever is left of the day. */
  charge(admission: Admission, count: number): Admission;
  /** Sends the store the counts that it does not know yet. */
  close(): Promise<void>;
}

/**
 * Admits requests and counts them. Where there is a limit, the store counts before the request is admitted, so the limit
 * is exact. Where there is none, requests do not wait for the store.
 */
export function createAdmissionControl(options: {
  store: Counter;
  now: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}): AdmissionControl {
  const { store, now, log } = options;
  const { presence } = store;
  const local = createLocalAdmission({ now, instances: store.instances, log });
  const pending = createPendingCounts({
    update: (update) => presence.watch(update.accountId, store.update(update)),
  });
  const settlement = createSettlement(pending, presence);

  async function admit(
    key: ApiKey,
    { count = 1, day = utcDay(now()) }: { count?: number; day?: UtcDay } = {},
  ): Promise<Admission | null> {
    const recalled = recall(key, local.callerOf(key), day, count);
    return recalled === undefined ? ask(key, day, count) : recalled;
  }

  function ask(key: ApiKey, day = utcDay(now()), count = 1): Admission | Promise<Admission | null> {
    if (!presence.isAway(key.accountId)) return askStore(key, day, count);
    return store.isRemote ? admitWhileAway(key, day, count) : admitUncounted(key, day, count);
  }

  function recall(
    key: ApiKey,
    caller: KnownCaller | null,
    day = utcDay(now()),
    count = 1,
  ): Admission | null | undefined {
    if (local.isUnknown(key)) return null;
    const recalled = caller && store.isRemote ? local.recall(caller, day, count) : null;
    if (recalled?.kind === 'admitted') countLater(key.accountId, day, count);
    return recalled ?? undefined;
  }

  /** Before the store is asked about an account, it learns all that was counted here without it. */
  async function askStore(key: ApiKey, day: UtcDay, count: number): Promise<Admission | null> {
    const { accountId, hash: keyHash } = key;
    if (pending.has(accountId) && !(await settlement.settle(accountId))) return admitUncounted(key, day, count);
    const sender = pending.senderOf(accountId, day);
    const request = { accountId, keyHash, day, count, sender: sender.name };
    const call = store.admit(request);
    try {
      const response = await presence.watch(accountId, call);
      if (response.kind === 'admitted') noteUsed(sender, response.usedBySender);
      // The store does not know yet of counts that are being given back.
      return local.learn(key, day, count, response, !pending.has(accountId));
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      // Nothing was done: what cannot be written may still be read.
      if (error.reason === 'refused' || !store.isRemote) return admitUncounted(key, day, count);
      return admitWithoutAnswer(key, { day, count, sender }, call);
    }
  }

  /**
   * The store takes no writes: its keys and counts are read, and the request is counted here until it does. A file can be
   * read while it counts as away.
   */
  async function admitUncounted(key: ApiKey, day: UtcDay, count: number): Promise<Admission | null> {
    const { accountId, hash: keyHash } = key;
    const caller = local.callerOf(key);
    const canRead = !store.isRemote || !presence.isAway(accountId);
    if (canRead && !(caller && local.isVerified(caller))) {
      try {
        const reading = await presence.watch(accountId, store.readKey({ accountId, keyHash, day }));
        if (!local.learnReading(key, day, reading)) return null;
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
      }
    }
    return admitWhileAway(key, day, count);
  }

  function admitWhileAway(key: ApiKey, day: UtcDay, count: number): Admission {
    const admission = local.admitWhileAway(key, day, count) ?? refuse();
    if (admission.kind === 'admitted') countLater(key.accountId, day, count);
    return admission;
  }

  /** The store may have counted the request although its response does not come: it must count once in the end. */
  function admitWithoutAnswer(
    key: ApiKey,
    { day, count, sender }: { day: UtcDay; count: number; sender: Sender },
    call: Promise<AdmissionReply>,
  ): Admission {
    const { accountId } = key;
    const admission = local.admitWhileAway(key, day, count);
    const isServed = admission?.kind === 'admitted';
    call.then(
      (response) => {
        if (response.kind === 'admitted') noteUsed(sender, response.usedBySender);
        countLater(accountId, day, count * (Number(isServed) - Number(response.kind === 'admitted')));
      },
      (error: UnavailableError) => {
        if (error.reason === 'no-answer') pending.addInDoubt(accountId, day, isServed, count);
        else countLater(accountId, day, count * Number(isServed));
        settlement.schedule();
      },
    );
    return admission ?? refuse();
  }

  function countLater(accountId: string, day: UtcDay, count: number): void {
    if (count === 0) return;
    pending.add(accountId, day, count);
    settlement.schedule();
  }

  return {
    admit,
    recall: (key, caller) => recall(key, caller),
    ask: (key) => ask(key),
    isUnknown: local.isUnknown,
    callerOf: local.callerOf,
    throttled(caller) {
      const day = utcDay(now());
      return { kind: 'throttled', caller, day, count: 0, used: local.usedOn(day, caller.accountId) };
    },
    giveBack(admission) {
      const { accountId, plan } = admission.caller;
      countLater(accountId, admission.day, -admission.count);
      const givenBack = local.giveBack(admission);
      if (PLANS[plan].dailyLimit === null) return givenBack;
      return settlement.settle(accountId).then(() => givenBack);
    },
    charge(admission, count) {
      countLater(admission.caller.accountId, admission.day, count);
      return { ...admission, used: admission.used + count };
    },
    async close() {
      const accounts = await settlement.close();
      if (accounts > 0)
        log.warn({ accounts }, 'stopped while the account store was away: some requests are not counted');
    },
  };
}

function refuse(): never {
  throw new ApiError(
    'SERVICE_UNAVAILABLE',
    'Your key and its daily count cannot be checked right now. Try again in a few seconds.',
    {
      headers: { 'retry-after': '5' },
    },
  );
}

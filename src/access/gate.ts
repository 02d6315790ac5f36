import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors.ts';
import { type UtcDay, utcDay } from './day.ts';
import { createDoubts } from './doubt.ts';
import type { ApiKey } from './keys.ts';
import { watchStore } from './outage.ts';
import { PLANS, type Plan } from './plan.ts';
import { type Counter, type StoreAnswer, StoreAwayError } from './store.ts';
import { createTally } from './tally.ts';

/** Who is calling. */
interface Caller {
  accountId: string;
  plan: Plan;
}

/** A request that was counted, refused because the day's limit is used up, or whose count was given back. */
export interface Admission {
  kind: 'admitted' | 'exhausted' | 'given-back';
  caller: Caller;
  day: UtcDay;
  /** Requests of the account counted that day, this one included; of no meaning for unlimited plans. */
  used: number;
}

export interface Gate {
  /** Null: no such key, or revoked. Throws `SERVICE_UNAVAILABLE` when that cannot be known at present. */
  admit(key: ApiKey): Promise<Admission | null>;
  /** Takes back the count of an admitted request. Resolves when it is done, or will be once the store is back. */
  giveBack(admission: Admission): Promise<Admission>;
  /** Tells the store what it does not know yet. */
  close(): Promise<void>;
}

/** A remote store is not asked again about a Pro key or a spent account for so long: changes take effect within it. */
const RECORD_TTL_MS = 10_000;
const EXHAUSTED_TTL_MS = 5_000;
const UNKNOWN_TTL_MS = 5_000;
/** While the store is away, keys that it knew so recently go on. */
const GRACE_MS = 10 * 60_000;
const FLUSH_EVERY_MS = 100;
const MAX_REMEMBERED = 50_000;

interface KnownKey extends Caller {
  verifiedAt: number;
}

/** Lets requests in and counts them: exact where there is a limit, without waiting where there is none. */
export function createGate(options: {
  store: Counter;
  now: () => Date;
  log: FastifyBaseLogger;
  silenceMs?: number;
}): Gate {
  const { store, now, log } = options;
  const remember = <Value extends object | string>(ttl: number) =>
    new LRUCache<string, Value>({
      max: MAX_REMEMBERED,
      ttl,
      ttlResolution: 0,
      perf: { now: () => now().getTime() },
    });
  const known = remember<KnownKey>(GRACE_MS);
  const unknown = remember<UtcDay>(UNKNOWN_TTL_MS);
  const exhausted = remember<UtcDay>(EXHAUSTED_TTL_MS);
  /** The last count that is known of an account, for the time when nobody can be asked. */
  const counts = remember<{ day: UtcDay; used: number }>(GRACE_MS);
  const sender = randomUUID();
  const tally = createTally(store, sender);
  const doubts = createDoubts(store, sender);
  const outage = watchStore({
    store,
    log,
    beforeBack: catchUp,
    ...(options.silenceMs !== undefined && { silenceMs: options.silenceMs }),
  });
  let flushing: NodeJS.Timeout | null = null;
  let isClosed = false;

  async function admit(key: ApiKey): Promise<Admission | null> {
    const day = utcDay(now());
    if (unknown.has(key.hash)) return null;
    return admitFromMemory(key, day) ?? (outage.isAway(key.accountId) ? admitWhileAway(key, day) : askStore(key, day));
  }

  /** What needs no question: unlimited plans, and accounts that have used up their day a moment ago. */
  function admitFromMemory({ hash, accountId }: ApiKey, day: UtcDay): Admission | null {
    const caller = known.get(hash);
    if (!caller || !store.isRemote || now().getTime() - caller.verifiedAt >= RECORD_TTL_MS) return null;
    const limit = PLANS[caller.plan].dailyLimit;
    if (limit === null) {
      countLater(accountId, day, 1);
      return { kind: 'admitted', caller, day, used: 0 };
    }
    return exhausted.get(accountId) === day ? { kind: 'exhausted', caller, day, used: limit } : null;
  }

  async function askStore(key: ApiKey, day: UtcDay): Promise<Admission | null> {
    const { accountId, hash: keyHash } = key;
    const call = store.admit({ accountId, keyHash, day, sender });
    try {
      return learn(key, day, await outage.wait(accountId, call));
    } catch (error) {
      if (!(error instanceof StoreAwayError)) throw error;
      return admitInDoubt(key, day, call);
    }
  }

  /** The store was asked and did not answer in time. What it did nevertheless must count once: not twice, not never. */
  function admitInDoubt(key: ApiKey, day: UtcDay, call: Promise<StoreAnswer>): Admission {
    const admission = admitAlone(key, day);
    const isServed = admission?.kind === 'admitted';
    call.then(
      (answer) => {
        if (answer.kind === 'admitted') doubts.hear(key.accountId, day, answer.bySender);
        countLater(key.accountId, day, Number(isServed) - Number(answer.kind === 'admitted'));
      },
      (error: StoreAwayError) => {
        if (error.isInDoubt) doubts.lose(key.accountId, day, isServed);
        else countLater(key.accountId, day, Number(isServed));
      },
    );
    return admission ?? refuse();
  }

  function admitWhileAway(key: ApiKey, day: UtcDay): Admission {
    const admission = admitAlone(key, day);
    if (admission?.kind === 'admitted') countLater(key.accountId, day, 1);
    return admission ?? refuse();
  }

  /** By what this process knows itself, which is nothing of most keys. Does not tell the store. */
  function admitAlone({ hash, accountId }: ApiKey, day: UtcDay): Admission | null {
    const caller = known.get(hash);
    if (!caller) return null;
    const last = counts.get(accountId);
    const used = last?.day === day ? last.used : 0;
    const limit = PLANS[caller.plan].dailyLimit;
    if (limit !== null && used >= limit) return { kind: 'exhausted', caller, day, used };
    counts.set(accountId, { day, used: used + 1 });
    return { kind: 'admitted', caller, day, used: used + 1 };
  }

  function learn({ hash, accountId }: ApiKey, day: UtcDay, answer: StoreAnswer): Admission | null {
    if (answer.kind === 'unknown') {
      known.delete(hash);
      unknown.set(hash, day);
      return null;
    }
    const caller = { accountId, plan: answer.plan };
    known.set(hash, { ...caller, verifiedAt: now().getTime() });
    counts.set(accountId, { day, used: answer.used });
    if (answer.kind === 'exhausted') exhausted.set(accountId, day);
    else doubts.hear(accountId, day, answer.bySender);
    return { kind: answer.kind, caller, day, used: answer.used };
  }

  function countLater(accountId: string, day: UtcDay, count: number): void {
    if (count === 0) return;
    tally.add(accountId, day, count);
    flushing ??= setTimeout(flush, FLUSH_EVERY_MS).unref();
  }

  /** Before a part of the store is asked again, it knows of all that happened while it was away. */
  async function catchUp(part: string): Promise<void> {
    const isOfPart = (accountId: string) => store.partOf(accountId) === part;
    for (const { accountId, day, count } of await doubts.resolve(isOfPart)) tally.add(accountId, day, count);
    await tally.settle(isOfPart);
  }

  async function flush(): Promise<void> {
    flushing = null;
    await Promise.all(tally.unsettled().map(settle));
    if (tally.unsettled().length > 0 && !isClosed) flushing ??= setTimeout(flush, FLUSH_EVERY_MS).unref();
  }

  /** What cannot be told now is told when the store is back. */
  async function settle(accountId: string): Promise<void> {
    if (outage.isAway(accountId)) return;
    await outage
      .wait(
        accountId,
        tally.settle((other) => other === accountId),
      )
      .catch(() => {});
  }

  return {
    admit,
    async giveBack(admission) {
      const { caller, day, used } = admission;
      const { accountId } = caller;
      exhausted.delete(accountId);
      const last = counts.get(accountId);
      if (last?.day === day) counts.set(accountId, { day, used: Math.max(0, last.used - 1) });
      countLater(accountId, day, -1);
      await settle(accountId);
      return { kind: 'given-back', caller, day, used: used - 1 };
    },
    async close() {
      isClosed = true;
      if (flushing) clearTimeout(flushing);
      await flush();
      outage.close();
      if (tally.unsettled().length > 0)
        log.warn('stopped while the account store was away: some requests stay uncounted');
    },
  };
}

function refuse(): never {
  throw new ApiError('SERVICE_UNAVAILABLE', 'Your key cannot be checked right now. Try again in a few seconds.', {
    headers: { 'retry-after': '5' },
  });
}

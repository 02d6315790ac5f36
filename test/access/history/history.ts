import { PLANS, type PlanName } from '#src/access/plan.ts';
import type { AccountLedger, Ledger } from './ledger.ts';

/** The outcome of one request as its client knows it. `unknown`: it may have been sent, and no response came. */
export interface Told {
  instance: string;
  /** When the response came. */
  at: number;
  /** The number of requests that it is charged when served. */
  count: number;
  outcome: 'ok' | 'refused' | 'unknown';
}

/** The end of an instance, and its knowledge of the counts in Redis at that time. */
export interface Ending {
  instance: string;
  /** True if it was killed, or stopped while it was without Redis: counts that were only in its memory are lost. */
  isSudden: boolean;
  ledger: Ledger;
}

export interface Bounds {
  ok: number;
  refused: number;
  unknown: number;
  /** Requests served, then lost with an instance that ended suddenly. */
  lost: number;
  /** The part of `lost` that the instance could have sent to Redis. */
  lostWithoutReason: number;
  /** Requests served beyond the daily limit, minus those served without Redis. */
  beyondLimit: number;
  least: number;
  most: number;
}

const NOTHING: AccountLedger = { counted: 0, perhapsMore: 0, perhapsLess: 0, requestedAt: 0, settledAt: 0 };
/** The longest time after Redis is back that a response decided without Redis may arrive. */
const ON_ITS_WAY_MS = 1000;

const sum = (entries: readonly Told[]) => entries.reduce((total, { count }) => total + count, 0);

/** The bounds of the counter after these responses: at least `ok` minus `lost`, at most `ok` plus the unknown ones. */
export function boundsOf(
  { plan, accountId }: { plan: PlanName; accountId: string },
  history: readonly Told[],
  endings: readonly Ending[],
): Bounds {
  const of = (outcome: Told['outcome'], told = history) => sum(told.filter((one) => one.outcome === outcome));
  const [ok, refused, unknown] = [of('ok'), of('refused'), of('unknown')];
  const bounds = { ok, refused, unknown, lost: 0, lostWithoutReason: 0, beyondLimit: 0, least: ok, most: ok + unknown };
  let servedWithoutRedis = 0;

  for (const { instance, isSudden, ledger } of endings) {
    const told = history.filter((one) => one.instance === instance);
    const served = told.filter(({ outcome }) => outcome === 'ok');
    servedWithoutRedis += sum(
      served.filter(({ at }) => ledger.away.some(({ from, to }) => at >= from && at <= to + ON_ITS_WAY_MS)),
    );
    if (!isSudden) continue;
    const account = ledger.accounts[accountId] ?? NOTHING;
    const since = unsettledSince(plan, account, ledger);
    const lost = Math.max(0, sum(served) - (account.counted - account.perhapsLess));
    // A request refused after Redis had counted it is refunded, and that refund can also be lost with the instance.
    const notGivenBack = Math.max(0, account.counted + account.perhapsMore - sum(served) - of('unknown', told));
    bounds.lost += lost;
    bounds.lostWithoutReason += Math.max(0, lost - sum(served.filter(({ at }) => at >= since)));
    bounds.least -= lost;
    bounds.most += notGivenBack;
  }
  bounds.beyondLimit = Math.max(0, ok - (PLANS[plan].dailyLimit ?? Number.POSITIVE_INFINITY) - servedWithoutRedis);
  return bounds;
}

/**
 * Returns the time since which the instance may have served requests that Redis does not know of. Requests of an unlimited plan
 * are counted in the background; all others are counted before they are served, unless the instance is without Redis.
 */
function unsettledSince(plan: PlanName, { requestedAt, settledAt }: AccountLedger, { away }: Ledger): number {
  if (PLANS[plan].dailyLimit === null) return settledAt;
  return away.find(({ from }) => from >= requestedAt)?.from ?? Number.POSITIVE_INFINITY;
}

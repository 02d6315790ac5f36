import { PLANS, type Plan } from '#src/access/plan.ts';
import type { AccountLedger, Ledger } from './ledger.ts';

/** The fate of one request as its client knows it. `unknown`: it may have been sent, and no response came. */
export interface Told {
  instance: string;
  /** When the response came. */
  at: number;
  /** The number of requests that it counts as when it is served. */
  count: number;
  outcome: 'ok' | 'refused' | 'unknown';
}

/** The end of an instance, and what it knew of the counts in Redis then. */
export interface Ending {
  instance: string;
  /** It was killed, or stopped while it was without Redis: what only its memory knew is lost. */
  isSudden: boolean;
  ledger: Ledger;
}

export interface Bounds {
  ok: number;
  refused: number;
  unknown: number;
  /** Served, and lost with an instance that ended suddenly. */
  lost: number;
  /** Those of them that the instance had been able to tell Redis. */
  lostWithoutReason: number;
  /** Served beyond the limit of the day, less what was served without Redis. */
  beyondLimit: number;
  least: number;
  most: number;
}

const NOTHING: AccountLedger = { counted: 0, perhapsMore: 0, perhapsLess: 0, askedAt: 0, settledAt: 0 };
/** A response that was decided without Redis arrives at most so long after Redis is back. */
const ON_ITS_WAY_MS = 1000;

const sum = (entries: readonly Told[]) => entries.reduce((total, { count }) => total + count, 0);

/** The bounds of the counter after these responses: at least `ok` without `lost`, at most `ok` and what nobody knows of. */
export function boundsOf(
  { plan, accountId }: { plan: Plan; accountId: string },
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
    // A request that was refused after Redis had counted it is given back; that, too, can be lost with the instance.
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
 * Since when the instance may have served requests of which Redis does not know. Those of an unlimited plan are counted
 * in the background; any other request is counted before it is served, unless the instance is without Redis.
 */
function unsettledSince(plan: Plan, { askedAt, settledAt }: AccountLedger, { away }: Ledger): number {
  if (PLANS[plan].dailyLimit === null) return settledAt;
  return away.find(({ from }) => from >= askedAt)?.from ?? Number.POSITIVE_INFINITY;
}

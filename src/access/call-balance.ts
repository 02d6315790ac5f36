import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '../clock.ts';
import type { Log } from '../log.ts';
import { createBoundedMap } from '../own-memory.ts';

/** Calls of upstream that an account may cause in a day beyond what its requests pay for, on each instance. */
const FREE_CALLS_A_DAY = 100;
/** Calls of upstream that one counted request pays for. */
const CALLS_PER_REQUEST = 1.2;
const MAX_ACCOUNTS = 50_000;

export type CallBalance = ReturnType<typeof createCallBalance>;

/**
 * The calls of upstream that each account caused, and the requests it was charged, of one UTC day and in this process. A
 * request may cost several calls; an account that causes many more than it is charged owes the difference in requests. The
 * account that asked least recently is forgotten first.
 */
export function createCallBalance({ now }: { now: () => number }) {
  const balances = createBoundedMap<Record<'day' | 'calls' | 'charged' | 'underWay', number>>(
    'call balances',
    MAX_ACCOUNTS,
  );

  function balanceOf(account: string) {
    const day = Math.floor(now() / DAY_MS);
    const known = balances.get(account);
    if (known?.day === day) return known;
    const created = { day, calls: 0, charged: 0, underWay: known?.underWay ?? 0 };
    balances.set(account, created);
    return created;
  }

  return {
    /** Counts a call that was made for the account. */
    noteCall(account: string): void {
      balanceOf(account).calls += 1;
    },
    /** Counts requests that were charged; given back when negative. */
    noteCharged(account: string, count: number): void {
      balanceOf(account).charged += count;
    },
    /** Counts requests that are charged and not answered yet; answered, or given back, when negative. */
    noteUnderWay(account: string, count: number): void {
      const balance = balanceOf(account);
      // The account may have been forgotten meanwhile.
      balance.underWay = Math.max(0, balance.underWay + count);
    },
    /** How many of the charged requests are not answered yet. */
    underWayOf: (account: string) => balances.get(account)?.underWay ?? 0,
    /** How many requests the account owes; 0 when none. */
    owedBy(account: string): number {
      const { calls, charged } = balanceOf(account);
      return Math.max(0, Math.ceil((calls - FREE_CALLS_A_DAY) / CALLS_PER_REQUEST - charged));
    },
    /** The accounts with most calls and with most charged requests today; null where there was none. */
    heaviest() {
      const today = Math.floor(now() / DAY_MS);
      const used = [...balances]
        .filter(([, { day }]) => day === today)
        .map(([account, { calls, charged }]) => ({ account, calls, requests: charged }));
      const most = (field: 'calls' | 'requests') =>
        used.reduce((most, one) => (one[field] > most[field] ? one : most), { account: '', calls: 0, requests: 0 });
      return used.length > 0 ? { byCalls: most('calls'), byRequests: most('requests') } : null;
    },
  };
}

const LOOK_EVERY_MS = MINUTE_MS;
const LOG_EVERY_MS = HOUR_MS;

/**
 * Logs every hour, and when calls run short, which account used most. It is no label of metrics: there are too many
 * accounts.
 */
export function logHeaviestAccount(options: {
  balance: Pick<CallBalance, 'heaviest'>;
  shortage: () => string | null;
  log: Log<'info'>;
  clock: Clock;
}): void {
  const { balance, shortage, log, clock } = options;
  let wasShort = false;
  let loggedAt = clock.now();

  function look(): void {
    const isShort = shortage() !== null;
    if ((isShort && !wasShort) || clock.now() - loggedAt >= LOG_EVERY_MS) {
      loggedAt = clock.now();
      const heaviest = balance.heaviest();
      if (heaviest)
        log.info({ ...heaviest, shortage: shortage() }, 'the accounts that used most today, on this instance');
    }
    wasShort = isShort;
    clock.after(LOOK_EVERY_MS, look);
  }

  clock.after(LOOK_EVERY_MS, look);
}

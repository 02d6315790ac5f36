import { type Clock, sleep } from '../../clock.ts';
import type { Priority, Shortage } from '../../efa/ask.ts';
import { ApiError } from '../../errors/api-error.ts';
import { AccountLoad } from './account-load.ts';
import { claimOf } from './claim.ts';
import { createKeyPool } from './key-pool.ts';
import type { Meter } from './meter.ts';
import { pollStretchFor, stretchFor } from './pace.ts';
import { accountsOf, NO_ACCOUNT, type Ticket } from './ticket.ts';
import { createWaitingLine, type Waiting } from './waiting-line.ts';

export interface Budget {
  /** Waits in line for a call; the index of the upstream key to make it with. Throws `BudgetExhaustedError`. */
  take(ticket: Ticket): Promise<number>;
  /** To be called when upstream wants no calls with this key for so long. */
  closeKey(key: number, ms: number): void;
  /** To be called when a call with this key, begun at that moment, has succeeded. */
  noteSuccess(key: number, startedAt: number): void;
  /** By how much freshness is stretched at present for requests of that priority, 1 to 4. */
  stretch(priority: Priority): number;
  /** By how much the time between two polls of a feed is stretched at present, 1 to 4. */
  pollStretch(): number;
  state(): { reserveFill: number; waiting: number; shortage: Shortage | null };
}

/** The budget has no call for this ticket at present. It says nothing about upstream's health. */
export class BudgetExhaustedError extends ApiError {
  constructor(waitMs: number, message = SCARCE) {
    const seconds = Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, Math.ceil(waitMs / 1000)));
    super('UPSTREAM_UNAVAILABLE', message, {
      cause: new Error('the budget of upstream calls is used up'),
      headers: { 'retry-after': String(seconds) },
    });
  }
}

const SCARCE = 'The service may not ask the transport authority more often for now. Try later.';
const TOO_MANY_AT_ONCE =
  'Several of your requests wait for the transport authority already. Send fewer at the same time, or try later.';
const MAX_WAIT_MS = 2000;
/** A longer line refuses tickets even before the meters have told whether there are calls for them. */
const MAX_LINE = 1000;
const MAX_RETRY_AFTER_SECONDS = 3600;

/** One line for the calls of all upstream keys, as long as what can be served within two seconds. */
export function createBudget(options: {
  meters: readonly Meter[];
  rps: number;
  clock: Clock;
  /** Is told of each call, by the account for which it is made; of those of no account it is not told. */
  noteCall?: ((account: string) => void) | undefined;
}): Budget {
  const { meters, rps, clock, noteCall } = options;
  const longest = rps * meters.length * (MAX_WAIT_MS / 1000);
  const keys = createKeyPool({ meters, clock });
  const load = new AccountLoad(clock);
  const line = createWaitingLine(longest, load.shareOf);
  let isServing = false;
  /** True while the line waits for the rate to allow the next call. */
  let isBlocked = false;

  function take(ticket: Ticket): Promise<number> {
    return new Promise((resolve, reject) => {
      const waiting = { ticket, until: clock.now() + MAX_WAIT_MS, resolve, reject };
      line.join(waiting);
      if (line.all().length > MAX_LINE) refuse(waiting, MAX_WAIT_MS);
      if (isBlocked) refuseSurplus();
      if (!isServing) serve();
    });
  }

  async function serve(): Promise<void> {
    isServing = true;
    for (let next = line.first(); next; next = line.first()) {
      const [key, taking] = await keys.take(claimOf(next.ticket, load), next.ticket.refusedBy);
      if (taking.isTaken) {
        grant(next, key);
      } else if (taking.why === 'rate' && clock.now() < next.until) {
        await waitForRate(taking.waitMs);
      } else {
        refuse(next, taking.waitMs);
      }
      for (const late of line.all().filter(({ until }) => until <= clock.now())) refuse(late, MAX_WAIT_MS);
    }
    isServing = false;
  }

  async function waitForRate(waitMs: number): Promise<void> {
    isBlocked = true;
    refuseSurplus();
    const untilLate = line.all().map(({ until }) => until - clock.now());
    await sleep(clock, Math.max(1, Math.min(waitMs, ...untilLate)));
    isBlocked = false;
  }

  function grant(waiting: Waiting, key: number): void {
    const [causer = ''] = accountsOf(waiting.ticket);
    load.note(causer);
    if (causer !== NO_ACCOUNT) noteCall?.(causer);
    line.noteServed(waiting.ticket);
    line.leave(waiting);
    waiting.resolve(key);
  }

  function refuse(waiting: Waiting, waitMs: number, message?: string): void {
    line.leave(waiting);
    waiting.reject(new BudgetExhaustedError(waitMs, message));
  }

  function refuseSurplus(): void {
    const { ofAccounts, ofLine } = line.surplus();
    for (const waiting of ofAccounts) refuse(waiting, MAX_WAIT_MS, TOO_MANY_AT_ONCE);
    for (const waiting of ofLine) refuse(waiting, MAX_WAIT_MS);
  }

  return {
    take,
    closeKey: keys.close,
    noteSuccess: keys.noteSuccess,
    stretch: (priority) => stretchFor(priority, keys.reserveFill(), line.lengthFor(priority) / longest),
    pollStretch: () => pollStretchFor(keys.reserveFill()),
    state: () => ({
      reserveFill: Math.max(0, keys.reserveFill()),
      waiting: line.all().length,
      shortage: keys.shortage(),
    }),
  };
}

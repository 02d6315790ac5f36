import { PRIORITIES, type Priority } from '../../efa/ask.ts';
import { ApiError } from '../../errors.ts';
import { type Clock, sleep } from '../clock.ts';
import type { Meter, Taking } from './meter.ts';
import { stretchFor } from './pace.ts';
import { type CallPurpose, RESERVE_FLOORS } from './reserve-floor.ts';

/** A place in the line for a call. Its priority rises when a request of higher priority joins the same call. */
export interface Ticket {
  priority: Priority;
  purpose: CallPurpose;
}

export interface Budget {
  /** Waits in line for a call; the index of the upstream key to make it with. Throws `BudgetExhaustedError`. */
  take(ticket: Ticket): Promise<number>;
  pauseKey(key: number, ms: number): void;
  /** By how much freshness stretches at present, 1 to 4. */
  stretch(): number;
  state(): { reserveFill: number; waiting: number };
}

/** The budget has no call for this ticket at present; nothing is wrong with the authority. */
export class BudgetExhaustedError extends ApiError {
  constructor(waitMs: number) {
    const seconds = Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, Math.ceil(waitMs / 1000)));
    super('UPSTREAM_UNAVAILABLE', 'The service may not ask the transport authority more often for now. Try later.', {
      cause: new Error('the budget of upstream calls is used up'),
      headers: { 'retry-after': String(seconds) },
    });
  }
}

const MAX_WAIT_MS = 2000;
/** Background checks do not join a line that is longer than this part of the longest. */
const BACKGROUND_SHARE = 0.6;
const MAX_RETRY_AFTER_SECONDS = 3600;

interface Waiting {
  ticket: Ticket;
  until: number;
  resolve(key: number): void;
  reject(error: BudgetExhaustedError): void;
}

/** One line before all upstream keys: by priority, then by arrival, at most two seconds long. */
export function createBudget({ meters, rps, clock }: { meters: readonly Meter[]; rps: number; clock: Clock }): Budget {
  const longest = rps * meters.length * (MAX_WAIT_MS / 1000);
  let line: Waiting[] = [];
  let isServing = false;

  function take(ticket: Ticket): Promise<number> {
    return new Promise((resolve, reject) => {
      line.push({ ticket, until: clock.now() + MAX_WAIT_MS, resolve, reject });
      const background = line.filter(({ ticket }) => ticket.priority === 'background');
      if (background.length > 0 && line.length > longest * BACKGROUND_SHARE) refuse(last(background), MAX_WAIT_MS);
      else if (line.length > longest) refuse(last(line), MAX_WAIT_MS);
      if (!isServing) serve();
    });
  }

  async function serve(): Promise<void> {
    isServing = true;
    while (line.length > 0) {
      const next = first(line);
      const [key, taking] = await takeFromAny(next.ticket);
      if (taking.isTaken) {
        line = line.filter((one) => one !== next);
        next.resolve(key);
      } else if (taking.why === 'rate' && clock.now() < next.until) {
        await sleep(clock, Math.max(1, Math.min(taking.waitMs, ...line.map(({ until }) => until - clock.now()))));
      } else {
        refuse(next, taking.waitMs);
      }
      for (const late of line.filter(({ until }) => until <= clock.now())) refuse(late, MAX_WAIT_MS);
    }
    isServing = false;
  }

  /** From the key with most in reserve, else from the next; the shortest wait when no key has a call to give. */
  async function takeFromAny({ priority, purpose }: Ticket): Promise<[key: number, Taking]> {
    const floor = RESERVE_FLOORS[priority][purpose];
    const byReserve = meters.map((_, key) => key).sort((one, other) => fillOf(other) - fillOf(one));
    const refused: [number, Taking & { isTaken: false }][] = [];
    for (const key of byReserve) {
      const taking = await (meters[key] as Meter).take(floor);
      if (taking.isTaken) return [key, taking];
      refused.push([key, taking]);
    }
    // Waiting in line helps against the rate only.
    const byRate = refused.filter(([, { why }]) => why === 'rate');
    const worthWaiting = byRate.length > 0 ? byRate : refused;
    return worthWaiting.reduce((best, one) => (one[1].waitMs < best[1].waitMs ? one : best));
  }

  function refuse(waiting: Waiting, waitMs: number): void {
    line = line.filter((one) => one !== waiting);
    waiting.reject(new BudgetExhaustedError(waitMs));
  }

  const fillOf = (key: number) => (meters[key] as Meter).reserveFill();
  const reserveFill = () => Math.max(...meters.map((meter) => meter.reserveFill()));
  return {
    take,
    pauseKey: (key, ms) => meters[key]?.pause(ms),
    stretch: () => stretchFor(reserveFill(), line.length / longest),
    state: () => ({ reserveFill: reserveFill(), waiting: line.length }),
  };
}

/** The highest priority, and of those the first to come. */
function first(line: readonly Waiting[]): Waiting {
  return line.reduce((best, one) => (rankOf(one) > rankOf(best) ? one : best));
}

/** The lowest priority, and of those the last to come. */
function last(line: readonly Waiting[]): Waiting {
  return line.reduce((worst, one) => (rankOf(one) <= rankOf(worst) ? one : worst));
}

function rankOf({ ticket }: Waiting): number {
  return PRIORITIES.indexOf(ticket.priority);
}

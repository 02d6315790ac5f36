import { HOUR_MS } from '../../clock.ts';
import { DecayingCount } from '../../decaying-count.ts';
import { type CallPurpose, isHigher, type Priority } from '../../efa/ask.ts';
import { createBoundedMap } from '../../own-memory.ts';
import type { ReserveLimits } from './pace.ts';

/** A place in the line for a call. Requests that join the same call change it while it waits. */
export interface Ticket {
  /** The highest priority of the requests that wait for the call. */
  priority: Priority;
  purpose: CallPurpose;
  /** The accounts that wait for the call, one set for each finding that asked for it. */
  accounts: ReadonlySet<string>[];
  /** The upstream key with which upstream has refused the request; another one is taken. */
  refusedBy?: number;
}

/** Further sets are ignored; they would hardly change the place in line. */
const MAX_ACCOUNT_SETS = 32;

export function joinTicket(ticket: Ticket, { priority, accounts }: Ticket): void {
  if (isHigher(priority, ticket.priority)) ticket.priority = priority;
  if (ticket.accounts.length < MAX_ACCOUNT_SETS) ticket.accounts.push(...accounts);
}

/** Stands for all requests without an account, such as those of the service's own pages. */
export const NO_ACCOUNT = '';

export function accountsOf({ accounts }: Pick<Ticket, 'accounts'>): string[] {
  const names = accounts.flatMap((set) => (set.size > 0 ? [...set] : [NO_ACCOUNT]));
  return names.length > 0 ? names : [NO_ACCOUNT];
}

/** After an hour a call counts about a third, after three hours a twentieth. */
const HALF_LIFE_MS = Math.LN2 * HOUR_MS;
const MAX_ACCOUNTS = 10_000;

/** How many recent calls of upstream each account caused, in the memory of this process. */
export class AccountLoad {
  readonly #now: () => number;
  readonly #counts = createBoundedMap<DecayingCount>('calls of accounts', MAX_ACCOUNTS);
  readonly #all = new DecayingCount(HALF_LIFE_MS);

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts a call for the account. */
  note(account: string): void {
    this.#all.add(1, this.#now());
    if (account === NO_ACCOUNT) return;
    const count = this.#counts.get(account) ?? new DecayingCount(HALF_LIFE_MS);
    count.add(1, this.#now());
    this.#counts.set(account, count);
  }

  /** The account's share of all recent calls, 0 to 1. */
  shareOf(account: string): number {
    const count = this.#counts.peek(account);
    return count ? count.read(this.#now()) / this.#all.read(this.#now()) : 0;
  }

  /** The least share of the accounts that wait with the ticket. */
  shareOfTicket(ticket: Pick<Ticket, 'accounts'>): number {
    return Math.min(...accountsOf(ticket).map((account) => this.shareOf(account)));
  }
}

/**
 * Decides what is dropped first when calls are scarce. A floor is the part of the reserve (`pace.ts`) that has to be left
 * after a call: the higher the floor, the earlier the call is refused. Refreshes go before new requests, and rare requests
 * before popular ones, whose responses serve more requests. All of these of a plan go before any of the next plan, so that
 * nothing a plan asks for makes the responses of a higher one old. Polls of feeds go last: each serves hundreds of requests.
 */
const FLOORS = {
  background: { refresh: 0.85, askRare: 0.85, askPopular: 0.85, feed: 0 },
  low: { refresh: 0.4, askRare: 0.38, askPopular: 0.36, feed: 0 },
  normal: { refresh: 0.32, askRare: 0.3, askPopular: 0.28, feed: 0 },
  high: { refresh: 0.2, askRare: 0.18, askPopular: 0.165, feed: 0 },
} as const satisfies Record<Priority, Record<Exclude<CallPurpose, 'positions'>, number>>;
/** A moving map gives way before any response that a caller waits for. */
const POSITIONS_FLOOR = 0.5;

/** How many reserves polls may use in advance: other requests then wait until the day has caught up. */
const FEED_ADVANCE = 4.2;

/** Added to the floor of an account that caused all recent calls. It is less than any step between two floors. */
const FLOOR_OF_LOAD = 0.015;

/** Near this part of the reserve no plan has its responses refreshed, and next to no new request is sent. */
export const LOWEST_REFRESH_FLOOR = FLOORS.high.refresh + FLOOR_OF_LOAD;

/** Refuses, among tickets with the same priority and purpose, those of the account with most recent calls first. */
export function reserveLimitsOf(ticket: Ticket, load: AccountLoad): ReserveLimits {
  const floors: Record<CallPurpose, number> = { ...FLOORS[ticket.priority], positions: POSITIONS_FLOOR };
  const share = load.shareOfTicket(ticket);
  return {
    floor: floors[ticket.purpose] + FLOOR_OF_LOAD * share,
    advance: ticket.purpose === 'feed' ? FEED_ADVANCE : 0,
  };
}

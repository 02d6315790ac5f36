import type { Priority } from '../../efa/ask.ts';
import type { AccountLoad } from './account-load.ts';
import { accountsOf, type Ticket } from './ticket.ts';

/**
 * What gives way first when calls are scarce. Each floor is a part of the day's reserve (`pace.ts`) that a call must
 * leave untouched: the higher the floor, the earlier the call is refused. A refresh gives way before a new question, and
 * a question that few ask before one that many ask, because the same call answers more requests.
 */
const RESERVE_FLOORS = {
  background: { refresh: 0.85, askRare: 0.85, askPopular: 0.85 },
  low: { refresh: 0.4, askRare: 0.3, askPopular: 0.25 },
  normal: { refresh: 0.38, askRare: 0.2, askPopular: 0.15 },
  high: { refresh: 0.36, askRare: 0.1, askPopular: 0 },
} as const satisfies Record<Priority, Record<Ticket['purpose'], number>>;

/** Added for an account that caused all calls of late. Less than any step between two floors. */
const FLOOR_OF_LOAD = 0.015;

/** Among tickets of the same priority and purpose, the account that caused most calls of late gives way first. */
export function floorFor(ticket: Ticket, { shareOf }: AccountLoad): number {
  const lightest = Math.min(...accountsOf(ticket).map(shareOf));
  return RESERVE_FLOORS[ticket.priority][ticket.purpose] + FLOOR_OF_LOAD * lightest;
}

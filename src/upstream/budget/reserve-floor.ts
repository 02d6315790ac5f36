import type { Priority } from '../../efa/ask.ts';
import type { AccountLoad } from './account-load.ts';
import { accountsOf, type Ticket } from './ticket.ts';

/**
 * What gives way first when calls are scarce. A floor is the part of the reserve (`pace.ts`) that has to be left after
 * a call: the higher the floor, the earlier the call is refused. Refreshes are refused before new questions, rare
 * questions before popular ones, and pages of timetables last, because they serve more and more requests.
 */
const RESERVE_FLOORS = {
  background: { refresh: 0.85, askRare: 0.85, askPopular: 0.85, timetable: 0.85 },
  low: { refresh: 0.4, askRare: 0.3, askPopular: 0.25, timetable: 0.06 },
  normal: { refresh: 0.38, askRare: 0.2, askPopular: 0.15, timetable: 0.04 },
  high: { refresh: 0.36, askRare: 0.12, askPopular: 0.09, timetable: 0.02 },
} as const satisfies Record<Priority, Record<Exclude<Ticket['purpose'], 'feed'>, number>>;

/** A poll of a feed is refused last, because it spares hundreds of questions. */
const FEED_FLOOR = 0;

/** Added to the floor of an account that caused all recent calls. It is less than any step between two floors. */
const FLOOR_OF_LOAD = 0.015;

/** Among tickets of the same priority and purpose, those of the account with most recent calls are refused first. */
export function floorFor(ticket: Ticket, { shareOf }: AccountLoad): number {
  if (ticket.purpose === 'feed') return FEED_FLOOR;
  const lightest = Math.min(...accountsOf(ticket).map(shareOf));
  return RESERVE_FLOORS[ticket.priority][ticket.purpose] + FLOOR_OF_LOAD * lightest;
}

import type { CallPurpose, Priority } from '../../efa/ask.ts';
import type { AccountLoad } from './account-load.ts';
import type { Claim } from './pace.ts';
import { accountsOf, type Ticket } from './ticket.ts';

/**
 * What gives way first when calls are scarce. A floor is the part of the reserve (`pace.ts`) that has to be left after
 * a call: the higher the floor, the earlier the call is refused. Refreshes are refused before new questions, and rare
 * questions before popular ones, because the answer to a popular question serves more requests. Where realtime feeds
 * are in use, boards are refused after journeys, and a page that would only make a board longer before them. Pages without
 * which a board would be empty and polls of feeds are refused last: each spares hundreds of questions. Pages may use what
 * polls leave when they are stretched (`pollStretchFor`), or the last minutes of a scarce day would refuse boards.
 */
const FLOORS = {
  background: { refresh: 0.85, askRare: 0.85, askPopular: 0.85, readOn: 0.85, board: 0.85, timetable: 0.85, feed: 0 },
  low: { refresh: 0.4, askRare: 0.34, askPopular: 0.32, readOn: 0.2, board: 0.14, timetable: 0.04, feed: 0 },
  normal: { refresh: 0.38, askRare: 0.3, askPopular: 0.28, readOn: 0.18, board: 0.12, timetable: 0.02, feed: 0 },
  high: { refresh: 0.36, askRare: 0.26, askPopular: 0.24, readOn: 0.16, board: 0.1, timetable: 0, feed: 0 },
} as const satisfies Record<Priority, Record<CallPurpose, number>>;

/**
 * How many reserves may be used in advance. In the morning the pages of all stops are asked for within few hours, more
 * than the day hands out meanwhile; other questions then wait until the day has caught up. Polls go on longest.
 */
const ADVANCES: Partial<Record<CallPurpose, number>> = { timetable: 4, feed: 4.2 };

/** Added to the floor of an account that caused all recent calls. It is less than any step between two floors. */
const FLOOR_OF_LOAD = 0.015;

/**
 * Among tickets of the same priority and purpose, those of the account with most recent calls are refused first. An
 * account that caused all recent calls gets nothing in advance, so that it cannot take the calls of hours from others.
 */
export function claimOf({ priority, purpose, ...ticket }: Ticket, { shareOf }: AccountLoad): Claim {
  const floor = FLOORS[priority][purpose];
  const advance = ADVANCES[purpose] ?? 0;
  const lightest = Math.min(...accountsOf(ticket).map(shareOf));
  return { floor: floor + FLOOR_OF_LOAD * lightest, advance: advance * (1 - lightest) };
}

import type { CallPurpose, Priority } from '../../efa/ask.ts';
import type { AccountLoad } from './account-load.ts';
import type { Claim } from './pace.ts';
import { accountsOf, type Ticket } from './ticket.ts';

/**
 * The order in which calls are refused when they are scarce. A floor is the part of the reserve (`pace.ts`) that has to be left after
 * a call: the higher the floor, the earlier the call is refused. Refreshes are refused before new requests, and rare
 * requests before popular ones, because the response to a popular request serves more requests. All of these of a plan
 * are refused before any of the next plan, so that nothing a plan asks for makes the answers of a higher one old. Where realtime feeds
 * are in use, boards are refused after journeys, and a page that would only make a board longer before them. Pages without
 * which a board would be empty and polls of feeds are refused last: each spares hundreds of requests. Pages may use what
 * polls leave when they are stretched (`pollStretchFor`), or the last minutes of a scarce day would refuse boards.
 */
const FLOORS = {
  background: { refresh: 0.85, askRare: 0.85, askPopular: 0.85, readOn: 0.85, board: 0.85, timetable: 0.85, feed: 0 },
  low: { refresh: 0.4, askRare: 0.38, askPopular: 0.36, readOn: 0.34, board: 0.14, timetable: 0.04, feed: 0 },
  normal: { refresh: 0.32, askRare: 0.3, askPopular: 0.28, readOn: 0.26, board: 0.12, timetable: 0.02, feed: 0 },
  high: { refresh: 0.2, askRare: 0.18, askPopular: 0.165, readOn: 0.15, board: 0.1, timetable: 0, feed: 0 },
} as const satisfies Record<Priority, Record<CallPurpose, number>>;

/**
 * How many reserves may be used in advance. In the morning the pages of all stops are asked for within few hours, more
 * than the day hands out meanwhile; other requests then wait until the day has caught up. Polls go on longest.
 */
const ADVANCES: Partial<Record<CallPurpose, number>> = { timetable: 4, feed: 4.2 };

/** Added to the floor of an account that caused all recent calls. It is less than any step between two floors. */
const FLOOR_OF_LOAD = 0.015;

/** Near this part of the reserve no plan has its responses refreshed, and next to no new request is asked. */
export const LOWEST_REFRESH_FLOOR = FLOORS.high.refresh + FLOOR_OF_LOAD;

/**
 * An account that caused a larger share of recent calls has no boards or pages later than its other requests, and none in
 * advance: it would take the calls with which the answers of higher plans are kept fresh. There is no plan above Pro.
 */
const HEAVY_SHARE = 0.1;

/**
 * Among tickets of the same priority and purpose, those of the account with most recent calls are refused first. An
 * account that caused all recent calls gets nothing in advance, so that it cannot take the calls of hours from others.
 */
export function claimOf({ priority, purpose, ...ticket }: Ticket, { shareOf }: AccountLoad): Claim {
  const lightest = Math.min(...accountsOf(ticket).map(shareOf));
  const isHeavy = lightest > HEAVY_SHARE && priority !== 'high';
  const floor = isHeavy ? Math.max(FLOORS[priority][purpose], FLOORS[priority].readOn) : FLOORS[priority][purpose];
  const advance = isHeavy ? 0 : (ADVANCES[purpose] ?? 0);
  return { floor: floor + FLOOR_OF_LOAD * lightest, advance: advance * (1 - lightest) };
}

import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import type { SandboxService } from '#sandbox/network/network.ts';

/*
 * Two towns and an island, small enough to predict every result. The GTFS folder `small-network` has the
 * timetable.
 *
 *   Alder ──T1── Birch ──T1── Cedar ~walk~ Dogwood St ──bus 10── Elm      Fern Wharf ──F1── Gull Wharf (an island)
 *                  └──coach 165 (weekdays, one a day)── Heath
 *
 * Nothing stops at Old Mill Rd.
 */
export const SMALL_NETWORK = loadNetwork(new URL('./small-network/', import.meta.url));

/** A service that runs every day. */
export function daily(firstMinute: number, lastMinute: number, everyMinutes: number): SandboxService {
  const calendar = { weekdays: Array.from({ length: 7 }, () => true), firstDay: 0, lastDay: 1_000_000 };
  return { calendar, firstMinute, lastMinute, everyMinutes };
}

import { MAY_BOARD } from '../call-flags.ts';
import type { ScheduleCalls } from './schedule-file.ts';

/*
 * Detects trains without passengers: those of the routes RTTA_REV and RTTA_DEF ("Non revenue", "Out Of Service"), and those with
 * the headsign "Empty Train". On 2026-09-05 these were 13,254 trips, 6,555 of them on RTTA_REV. 3,880 have a call that allows
 * boarding, so boarding proves nothing. A separate headsign at such a call does prove a passenger train: platforms display it,
 * and a public client shows these trips. On the two routes it is ignored. The files do not mark charters; charters on the two
 * routes are left out too.
 */

const EMPTY_ROUTE = 'RTTA_';
const EMPTY_HEADSIGN = 'empty train';

export function isEmptyRoute(routeId: string | null): boolean {
  return routeId?.startsWith(EMPTY_ROUTE) ?? false;
}

/**
 * Returns the headsign that riders see: the trip's own, unless it marks an empty train; then that of a call that allows
 * boarding. Null for a train without passengers.
 */
export function toRiderHeadsign(headsign: string, calls: ScheduleCalls, headsigns: readonly string[]): string | null {
  if (!isEmptyHeadsign(headsign)) return headsign;
  for (let call = 0; call < calls.count; call++) {
    const callHeadsign = headsigns[calls.headsign.valueAt(call)];
    const mayBoard = (calls.flags.valueAt(call) & MAY_BOARD) !== 0;
    if (mayBoard && callHeadsign !== undefined && !isEmptyHeadsign(callHeadsign)) return callHeadsign;
  }
  return null;
}

function isEmptyHeadsign(headsign: string): boolean {
  return headsign.toLowerCase() === EMPTY_HEADSIGN;
}

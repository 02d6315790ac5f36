import { MAY_BOARD, type ScheduleCalls } from './schedule-file.ts';

/*
 * Trains that carry nobody. Their routes are RTTA_REV and RTTA_DEF ("Non revenue", "Out Of Service"), or their headsign is "Empty Train":
 * 13,254 trips on 2026-09-05, 6,555 of them on RTTA_REV, 3,880 with a call at which one may board. So boarding proves nothing.
 * What does is a headsign of its own at such a call: a platform shows it, and a public client takes these trains for passenger
 * trains. It counts on passenger routes only. Charters have no mark in the files; those on the two routes are left out with them.
 */

const EMPTY_ROUTE = 'RTTA_';
const EMPTY_HEADSIGN = 'empty train';

export function isEmptyRoute(routeId: string): boolean {
  return routeId.startsWith(EMPTY_ROUTE);
}

/**
 * The headsign of a trip for riders: its own, unless that says that the train is empty; then that of a call where one may board.
 * Null for a train that carries nobody.
 */
export function findRiderHeadsign(
  headsign: string,
  { firstCall, callCount }: { firstCall: number; callCount: number },
  { calls, headsigns }: { calls: ScheduleCalls; headsigns: readonly string[] },
): string | null {
  if (!isEmptyHeadsign(headsign)) return headsign;
  for (let call = firstCall; call < firstCall + callCount; call++) {
    const shown = headsigns[calls.headsign[call] as number];
    const mayBoard = ((calls.flags[call] as number) & MAY_BOARD) !== 0;
    if (mayBoard && shown !== undefined && !isEmptyHeadsign(shown)) return shown;
  }
  return null;
}

function isEmptyHeadsign(headsign: string): boolean {
  return headsign.toLowerCase() === EMPTY_HEADSIGN;
}

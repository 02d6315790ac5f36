import type { Board, BoardRequest } from '../../boards/pager.ts';
import type { BoardOrigin } from '../../boards/source.ts';
import { ApiError } from '../../errors/api-error.ts';
import { isCallAt, type RunCall } from '../../transit/call.ts';
import type { FindContext, Notice } from '../operation.ts';

/** Fetches a board of departures that call at `to` later. Throws if the stops of all of them are unknown. */
export async function fetchGoingTo(
  requested: BoardRequest,
  to: string,
  boards: FindContext['boards'],
): Promise<{ board: Board & { origin: BoardOrigin }; notices: Notice[] }> {
  const unknown = new Set<string>();
  let isAnyKnown = false;
  const board = await boards.fetch({
    ...requested,
    withCalls: true,
    only: { ...requested.only, to },
    isWanted(departure, calls) {
      if (!requested.isWanted(departure, calls)) return false;
      const known = calls();
      if (known) isAnyKnown = true;
      else unknown.add(departure.key);
      return findCallAt(known, to) !== undefined;
    },
  });
  if (board.departures.length === 0 && unknown.size > 0 && !isAnyKnown) {
    throw new ApiError('UPSTREAM_ERROR', '`to`: Transport for NSW does not list the stops of these services.');
  }
  return { board, notices: noticesOf(to, board, { unknown: unknown.size, isFurther: requested.page !== undefined }) };
}

/** Finds the call at `to`. `calls` begin with the boarding stop: if that one is cancelled, so may be the others. */
export function findCallAt(calls: readonly RunCall[] | null, to: string): RunCall | undefined {
  const [boarding, ...later] = calls ?? [];
  return later.find((call) => (boarding?.isCancelled || !call.isCancelled) && isCallAt(call, to));
}

/** A further page never reports that nothing was found, because earlier pages may have listed some. */
function noticesOf(
  to: string,
  { departures }: Board,
  { unknown, isFurther }: { unknown: number; isFurther: boolean },
): Notice[] {
  const leftOut = { text: `Departures left out because their stops are unknown: ${unknown}.` };
  const noneFound = { text: `None of these departures stops at ${to} later.` };
  return [...(departures.length > 0 || isFurther ? [] : [noneFound]), ...(unknown > 0 ? [leftOut] : [])];
}

import type { Board, BoardRequest } from '../../boards/pager.ts';
import { ApiError } from '../../errors/api-error.ts';
import { isCallAt, type RunCall } from '../../transit/call.ts';
import type { FindContext, Notice } from '../operation.ts';

/** Finds a board of departures that call at `to` afterwards. Throws where it is known of none of them where it stops. */
export async function findGoingTo(
  asked: BoardRequest,
  to: string,
  boards: FindContext['boards'],
): Promise<{ board: Awaited<ReturnType<FindContext['boards']['find']>>; notices: Notice[] }> {
  const unknown = new Set<string>();
  let isAnyKnown = false;
  const board = await boards.find({
    ...asked,
    withCalls: true,
    only: { ...asked.only, to },
    isWanted(departure, calls) {
      if (!asked.isWanted(departure, calls)) return false;
      const known = calls();
      if (known) isAnyKnown = true;
      else unknown.add(departure.key);
      return findCallAt(known, to) !== undefined;
    },
  });
  if (board.departures.length === 0 && unknown.size > 0 && !isAnyKnown) {
    throw new ApiError('UPSTREAM_ERROR', 'to: the transport authority does not say where these services stop.');
  }
  return { board, notices: noticesOf(to, board, { unknown: unknown.size, isFurther: asked.page !== undefined }) };
}

/** Finds the call at `to` of calls that begin where one gets on. */
export function findCallAt(calls: readonly RunCall[] | null, to: string): RunCall | undefined {
  return calls?.slice(1).find((call) => !call.isCancelled && isCallAt(call, to));
}

/** A further page does not say that none was found: those before may have listed some. */
function noticesOf(
  to: string,
  { departures }: Pick<Board, 'departures'>,
  { unknown, isFurther }: { unknown: number; isFurther: boolean },
): Notice[] {
  const leftOut = { text: `Left out, because it is not known where they stop: ${unknown}.` };
  const noneFound = { text: `None of the departures found stops at ${to} afterwards.` };
  return [...(departures.length > 0 || isFurther ? [] : [noneFound]), ...(unknown > 0 ? [leftOut] : [])];
}

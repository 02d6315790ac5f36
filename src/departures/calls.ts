import { isCallAt, type RunCall } from '../efa/calls.ts';
import { ApiError } from '../errors/api-error.ts';
import type { FindContext, Notice } from '../operation.ts';
import type { Departure } from '../transit/departure.ts';

type Asked = Parameters<FindContext['boards']['find']>[0];
type Board = Awaited<ReturnType<FindContext['boards']['find']>>;

/** One board requests at most this many pages for calls alone. */
const MAX_PAGES = 3;

/**
 * Finds a board with the calls of its departures, and with `to` only those that call there afterwards. Without `to` calls never
 * cost the board: they are null where they are not known. With `to` such departures are left out. Throws where it is
 * known of none of them where it stops.
 */
export async function findWithCalls(
  asked: Asked,
  to: string | undefined,
  { boards, calls }: Pick<FindContext, 'boards' | 'calls'>,
): Promise<{
  board: Board;
  callsOf(departure: Departure): { calls: RunCall[]; arrivesAt?: RunCall } | null;
  notices: Notice[];
}> {
  const opened = await calls.open(asked.request);
  const ask = opened.asking(asked.ask);
  const unknown = new Set<string>();
  let isAnyKnown = false;

  const look = (departure: Departure, stopName: string) => {
    const found = opened.callsOf(departure, stopName);
    const arrivesAt = to && found?.calls.slice(1).find((call) => !call.isCancelled && isCallAt(call, to));
    return found && { ...found, ...(arrivesAt && { arrivesAt }) };
  };
  /** Unless `onlyKnown`, a departure of which it is not known yet where it stops stays in its place until it is. */
  const goesThere = (departure: Departure, onlyKnown: boolean) => {
    const isMissing = opened.listMissing([departure]).length > 0;
    if (isMissing && !onlyKnown) return true;
    // The name is that of the stop itself, which is not looked at here.
    const found = look(departure, '');
    if (found) isAnyKnown = true;
    else unknown.add(departure.key);
    return found?.arrivesAt !== undefined;
  };
  const find = ({ onlyKnown }: { onlyKnown: boolean }) =>
    boards.find({
      ...asked,
      ask,
      isWanted: (departure) => asked.isWanted(departure) && (to === undefined || goesThere(departure, onlyKnown)),
    });

  let board = await find({ onlyKnown: false });
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const missing = opened.listMissing(board.departures);
    if (missing.length === 0 || !(await opened.read(asked.ask, missing, { isPatient: to !== undefined }))) break;
    if (to !== undefined) board = await find({ onlyKnown: false });
  }
  const left = to === undefined ? [] : opened.listMissing(board.departures);
  if (left.length > 0) {
    if (opened.error && left.length === board.departures.length) throw opened.error;
    board = await find({ onlyKnown: true });
  }
  if (board.departures.length === 0 && unknown.size > 0 && !isAnyKnown) {
    throw (
      opened.error ??
      new ApiError('UPSTREAM_ERROR', 'to: the transport authority does not say where these services stop.')
    );
  }
  const found = new Map(board.departures.map((departure) => [departure, look(departure, board.stopName)]));
  const moments = [...found.values()].flatMap((one) => one?.asOf ?? []);
  const retrievedAt = Math.min(board.freshness.retrievedAt, ...moments);
  return {
    board: { ...board, freshness: { ...board.freshness, retrievedAt } },
    callsOf: (departure) => found.get(departure) ?? null,
    notices:
      to === undefined ? [] : noticesOf(to, board, { unknown: unknown.size, isFurther: asked.page !== undefined }),
  };
}

/** A further page does not say that none was found: those before may have listed some. */
function noticesOf(
  to: string,
  { departures }: Board,
  { unknown, isFurther }: { unknown: number; isFurther: boolean },
): Notice[] {
  const leftOut = { text: `Left out, because it is not known where they stop: ${unknown}.` };
  const noneFound = { text: `None of the departures found stops at ${to} afterwards.` };
  return [...(departures.length > 0 || isFurther ? [] : [noneFound]), ...(unknown > 0 ? [leftOut] : [])];
}

import type { Board, BoardRequest } from '../../boards/pager.ts';
import { routeOf } from '../../boards/pager.ts';
import { HOUR_MS } from '../../core/clock.ts';
import type { IdSigner } from '../../core/signer.ts';
import { type Departure, isCancelled } from '../../transit/departure.ts';
import { wallClockFrom } from '../../transit/time.ts';
import {
  type Cursor,
  type Cut,
  cutAfter,
  cutBefore,
  firstCut,
  isAfterCut,
  type Marked,
  markOf,
  writeCursor,
} from '../cursor.ts';
import type { Pages } from '../operation.ts';

/*
 * A board is cut by planned times, although it is shown by the best-known ones: an estimate may change between two requests,
 * and a departure would then be shown twice or never.
 */

type Found = Pick<Board, 'departures' | 'others' | 'knownUntil'>;

/** The request for the page that a cursor names. */
export function toPageRequest(asked: BoardRequest, cursor: Cursor, now: Date): BoardRequest {
  const { counts, direction } = cursor;
  const isNext = direction === 'next';
  const from = cursor.late.size > 0 ? cursor.lateFrom : cursor.at;
  const isLiveSoon = isNext && Math.abs(from - now.getTime()) < HOUR_MS;
  const request = { ...asked.request, at: wallClockFrom(new Date(from), now), ...(isLiveSoon && { isForNow: true }) };
  const isOnPage = (departure: Departure) =>
    isAfterCut(cursor, departure.plannedAt, markOfDeparture(departure)) === isNext;
  return {
    ...asked,
    request,
    isWanted: (departure, calls) => isOnPage(departure) && asked.isWanted(departure, calls),
    page: {
      now,
      from,
      countShown: (departure) => counts.get(markOf(routeOf(departure))) ?? 0,
      // Departures that were shown although they are planned after the cut lie before it.
      ...(!isNext && { before: cursor.shown.size > 0 ? cursor.shownUntil + 1 : cursor.at }),
    },
  };
}

/**
 * The cursors of a board. `base` is the moment asked for, by which it is bounded how far the list goes. With `hasPrev` false there is
 * nothing before the board.
 */
export function pagesOfBoard(
  found: Found,
  cursor: Cursor | null,
  about: { binding: string; base: number; ids: IdSigner; perRoute: number | undefined; hasPrev: boolean },
): Pages {
  const { binding, base, ids, perRoute } = about;
  const part = { ...found, shown: found.departures.map(withMark), left: found.others.map(withMark) };
  const counts = perRoute === undefined ? new Map<string, number>() : countRoutes(found.departures, cursor?.counts);
  const write = (direction: Cursor['direction'], cut: Cut | null, counted = counts) =>
    cut ? writeCursor({ ...cut, direction, binding, counts: counted }, base, ids) : undefined;
  if (!cursor) {
    const start = firstCut(part, base);
    const next = write('next', cutAfter(part, start));
    return { next, ...(about.hasPrev && { prev: write('prev', start, new Map()) }) };
  }
  const isEmpty = found.departures.length === 0;
  const { direction } = cursor;
  // With `per_route` the list is counted from where it began, and is over when nothing is left of any route.
  const isOver = isEmpty && perRoute !== undefined;
  const further = isOver ? null : direction === 'next' ? cutAfter(part, cursor) : cutBefore(part, cursor);
  const back = perRoute === undefined ? cursor : null;
  return direction === 'next'
    ? { prev: write('prev', back), next: write('next', further) }
    : { prev: isEmpty && !about.hasPrev ? undefined : write('prev', further), next: write('next', back) };
}

/** The mark is a hash, and most are never read. */
function withMark(departure: Departure): Marked {
  return {
    plannedAt: departure.plannedAt,
    get mark() {
      return markOfDeparture(departure);
    },
  };
}

/** The run and its planned time; the platform may change. */
function markOfDeparture({ runId, plannedAt, key }: Departure): string {
  return markOf(runId === null ? key : `${runId} ${plannedAt} ${key.slice(key.lastIndexOf(' '))}`);
}

function countRoutes(departures: readonly Departure[], before: ReadonlyMap<string, number> = new Map()) {
  const counts = new Map(before);
  for (const departure of departures) {
    const mark = markOf(routeOf(departure));
    if (!isCancelled(departure)) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  }
  return counts;
}

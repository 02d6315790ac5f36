import { type BoardRequest, routeOf, type Selection } from '../../boards/pager.ts';
import { HOUR_MS } from '../../core/clock.ts';
import type { IdSigner } from '../../core/signer.ts';
import { type Departure, isCancelled } from '../../transit/departure.ts';
import { withoutDate } from '../../transit/run-id.ts';
import { wallClockFrom } from '../../transit/time.ts';
import {
  boundaryAfter,
  boundaryBefore,
  type Cursor,
  firstBoundary,
  isAfterBoundary,
  type PageBoundary,
  type PageRow,
  rowIdOf,
  writeCursor,
} from '../cursor.ts';
import type { Pages } from '../operation.ts';

/**
 * Boards are shown by best-known times but paged by planned times: an estimate may change between two requests, and a departure
 * would then appear twice or never.
 */

/** Builds the request for the page that a cursor describes. */
export function toPageRequest(requested: BoardRequest, cursor: Cursor, now: number): BoardRequest {
  const { counts, direction } = cursor;
  const isNext = direction === 'next';
  const from = cursor.late.size > 0 ? cursor.lateFrom : cursor.at;
  const isLiveSoon = isNext && Math.abs(from - now) < HOUR_MS;
  const request = {
    ...requested.request,
    at: wallClockFrom(from, now),
    ...(isLiveSoon && { isForNow: true }),
  };
  const isOnPage = (departure: Departure) =>
    isAfterBoundary(cursor, departure.plannedAt, rowIdOfDeparture(departure)) === isNext;
  return {
    ...requested,
    request,
    isWanted: (departure, calls) => isOnPage(departure) && requested.isWanted(departure, calls),
    page: {
      now,
      from,
      countShown: (departure) => counts.get(rowIdOf(routeOf(departure))) ?? 0,
      // An earlier page may already have shown departures that are planned after the boundary.
      ...(!isNext && { before: cursor.shown.size > 0 ? cursor.shownUntil + 1 : cursor.at }),
    },
  };
}

/**
 * Writes the cursors of a board. `base` is the requested time; it limits how far the list goes. If `hasPrev` is false, nothing
 * comes before the board.
 */
export function pagesOfBoard(
  found: Selection,
  cursor: Cursor | null,
  about: { binding: string; base: number; ids: IdSigner; perRoute: number | undefined; hasPrev: boolean },
): Pages {
  const { binding, base, ids, perRoute } = about;
  const part = { ...found, shown: found.departures.map(toRow), left: found.others.map(toRow) };
  const counts = perRoute === undefined ? new Map<string, number>() : countRoutes(found.departures, cursor?.counts);
  const write = (direction: Cursor['direction'], boundary: PageBoundary | null, counted = counts) =>
    boundary ? writeCursor({ ...boundary, direction, binding, counts: counted }, base, ids) : undefined;
  if (!cursor) {
    const start = firstBoundary(part, base);
    const next = write('next', boundaryAfter(part, start));
    return { next, ...(about.hasPrev && { prev: write('prev', start, new Map()) }) };
  }
  const isEmpty = found.departures.length === 0;
  const { direction } = cursor;
  // With `per_route`, counts start on the first page, and the list ends when no route has departures left.
  const isOver = isEmpty && perRoute !== undefined;
  const further = isOver ? null : direction === 'next' ? boundaryAfter(part, cursor) : boundaryBefore(part, cursor);
  const back = perRoute === undefined ? cursor : null;
  return direction === 'next'
    ? { prev: write('prev', back), next: write('next', further) }
    : { prev: isEmpty && !about.hasPrev ? undefined : write('prev', further), next: write('next', back) };
}

/** Row IDs are hashes and most are never read, so each is computed on demand. */
function toRow(departure: Departure): PageRow {
  return {
    plannedAt: departure.plannedAt,
    get rowId() {
      return rowIdOfDeparture(departure);
    },
  };
}

/** Identifies the run and its planned time. The platform and the date of publication may change, so they are left out. */
function rowIdOfDeparture({ runId, plannedAt, key }: Departure): string {
  return rowIdOf(runId === null ? key : `${withoutDate(runId)} ${plannedAt} ${key.slice(key.lastIndexOf(' '))}`);
}

function countRoutes(departures: readonly Departure[], before: ReadonlyMap<string, number> = new Map()) {
  const counts = new Map(before);
  for (const departure of departures) {
    const rowId = rowIdOf(routeOf(departure));
    if (!isCancelled(departure)) counts.set(rowId, (counts.get(rowId) ?? 0) + 1);
  }
  return counts;
}

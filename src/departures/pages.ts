import { HOUR_MS, SECOND_MS } from '../clock.ts';
import { type Cursor, type Cut, isAfterCut, markOf, NO_MARKS, writeCursor } from '../cursor.ts';
import type { Board, BoardRequest } from '../live/boards/pager.ts';
import { routeOf } from '../live/boards/pager.ts';
import type { Pages } from '../operation.ts';
import { type Departure, isCancelled } from '../transit/departure.ts';
import { afterDoubleHour, startOfMinute, wallClockFrom } from '../transit/time.ts';

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
    isWanted: (departure) => isOnPage(departure) && asked.isWanted(departure),
    page: {
      now,
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
  about: { binding: string; base: number; perRoute: number | undefined; hasPrev: boolean },
): Pages {
  const { binding, base, perRoute } = about;
  const counts = perRoute === undefined ? new Map<string, number>() : countRoutes(found.departures, cursor?.counts);
  const write = (direction: Cursor['direction'], cut: Cut | null, counted = counts) =>
    cut ? writeCursor({ ...cut, direction, binding, counts: counted }, base) : undefined;
  if (!cursor) {
    const start = firstCut(found, base);
    const next = write('next', cutAfter(found, start));
    return { next, ...(about.hasPrev && { prev: write('prev', start, new Map()) }) };
  }
  const isEmpty = found.departures.length === 0;
  const { direction } = cursor;
  // With `per_route` the list is counted from where it began, and is over when nothing is left of any route.
  const isOver = isEmpty && perRoute !== undefined;
  const further = isOver ? null : direction === 'next' ? cutAfter(found, cursor) : cutBefore(found, cursor);
  const back = perRoute === undefined ? cursor : null;
  return direction === 'next'
    ? { prev: write('prev', back), next: write('next', further) }
    : { prev: isEmpty && !about.hasPrev ? undefined : write('prev', further), next: write('next', back) };
}

/** The cut after a board. Null where nothing would become known by going on. */
function cutAfter({ departures, others, knownUntil }: Found, before: Cut): Cut | null {
  const shown = departures.map(withMark);
  const left = others.map(withMark);
  const isLate = ({ mark, plannedAt }: Marked) => plannedAt < before.at && before.late.has(mark);
  const at = Math.max(
    before.at,
    Math.min(knownUntil, ...left.filter((one) => !isLate(one)).map(({ plannedAt }) => plannedAt)),
  );
  if (!Number.isFinite(at)) return null;
  const late = left.filter(isLate);
  const beyond = shown.filter(({ plannedAt }) => plannedAt >= at);
  const isStillShown = before.shown.size > 0 && before.shownUntil >= at;
  const cut = {
    at,
    shown: new Set([...(isStillShown ? before.shown : []), ...beyond.map(({ mark }) => mark)]),
    shownUntil: Math.max(isStillShown ? before.shownUntil : at, ...beyond.map(({ plannedAt }) => plannedAt)),
    late: new Set(late.map(({ mark }) => mark)),
    lateFrom: Math.min(at, ...late.map(({ plannedAt }) => plannedAt)),
  };
  if (shown.length > 0 || at > before.at) return cut;
  // Upstream lists no more of an hour that comes twice.
  const later = afterDoubleHour(new Date(at)).getTime();
  return later > at ? cutAt(later) : null;
}

/** The cut before a board that looks back. */
function cutBefore({ departures, others, knownUntil }: Found, after: Cut): Cut | null {
  const shown = departures.map(withMark);
  const left = others.map(withMark);
  const isAhead = ({ mark, plannedAt }: Marked) => plannedAt >= after.at && after.shown.has(mark);
  const at = Math.min(
    after.at,
    Math.max(knownUntil, ...left.filter((one) => !isAhead(one)).map(({ plannedAt }) => plannedAt + SECOND_MS)),
  );
  if (shown.length === 0 && at >= after.at) return null;
  const ahead = left.filter(isAhead);
  const behind = shown.filter(({ plannedAt }) => plannedAt < at);
  const isStillLate = after.late.size > 0 && after.lateFrom < at;
  return {
    at,
    shown: new Set(ahead.map(({ mark }) => mark)),
    shownUntil: Math.max(at, ...ahead.map(({ plannedAt }) => plannedAt)),
    late: new Set([...(isStillLate ? after.late : []), ...behind.map(({ mark }) => mark)]),
    lateFrom: Math.min(isStillLate ? after.lateFrom : at, ...behind.map(({ plannedAt }) => plannedAt)),
  };
}

/** The cut before the first board, on which late departures are planned earlier than it begins. */
function firstCut({ departures, others }: Found, base: number): Cut {
  const known = [...departures, ...others].map(withMark);
  const minute = startOfMinute(new Date(base)).getTime();
  const ahead = known.filter(({ plannedAt }) => plannedAt >= minute).map(({ plannedAt }) => plannedAt);
  const at = ahead.length > 0 ? Math.min(...ahead) : minute;
  const late = known.filter(({ plannedAt }) => plannedAt < at);
  return {
    ...cutAt(at),
    late: new Set(late.map(({ mark }) => mark)),
    lateFrom: Math.min(at, ...late.map(({ plannedAt }) => plannedAt)),
  };
}

function cutAt(at: number): Cut {
  return { at, shown: NO_MARKS, shownUntil: at, late: NO_MARKS, lateFrom: at };
}

interface Marked {
  mark: string;
  plannedAt: number;
}

function withMark(departure: Departure): Marked {
  return { mark: markOfDeparture(departure), plannedAt: departure.plannedAt };
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

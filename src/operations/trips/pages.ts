import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import type { IdSigner } from '../../core/signer.ts';
import { compareJourneys, hasLeft, type SelectedJourneys } from '../../journeys/selection.ts';
import {
  destinationOf,
  isCancelled,
  isOnDemand,
  isPossible,
  type Journey,
  latestStart,
} from '../../transit/journey.ts';
import { toMinute, wallClockFrom, wallClockUntil } from '../../transit/time.ts';
import {
  boundaryAfter,
  boundaryAt,
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
import type { toTripRequest } from './query.ts';

/**
 * All journeys between two places form one list, paged by planned departure, even if the first page was requested by arrival
 * time. Journeys after a boundary are requested by departure and those before it by arrival, because upstream lists a few
 * journeys from a time on, or the latest ones that arrive by a time. A journey on foot is on the first page only.
 */

type Request = ReturnType<typeof toTripRequest>;

/** The trip planner's response to one request: all journeys, and those that match the query. */
interface Planned {
  journeys: readonly Journey[];
  fitting: readonly Journey[];
}

/** Maximum number of requests for one page, if they find no new journeys. */
const MAX_CALLS = 3;
/** How far paging moves on after a response without journeys. The trip planner has searched farther than this. */
const NOTHING_MS = 6 * HOUR_MS;

/** Writes the cursors of the first page. `base` is the requested time. */
export function pagesOfFirst(
  known: readonly Journey[],
  { journeys: shown, others, tooLate }: SelectedJourneys,
  { isArrival, binding, base, ids }: { isArrival: boolean; binding: string; base: number; ids: IdSigner },
): Pages {
  if (known.flatMap(toRows).length === 0) return {};
  const part = { shown: shown.flatMap(toRows), left: others.flatMap(toRows) };
  const write = (direction: Cursor['direction'], boundary: PageBoundary | null, arrivesBy: number) =>
    boundary ? writeCursor({ ...boundary, direction, binding, counts: new Map(), arrivesBy }, base, ids) : undefined;
  const latest = lastArrival(shown);
  if (isArrival) {
    const end = boundaryAt(edgeOf(known, 'next') + SECOND_MS);
    const before = [...others, ...tooLate];
    const earlier = { ...part, left: before.flatMap(toRows), knownUntil: edgeOf(known, 'prev') };
    const start = boundaryBefore(earlier, end);
    return { prev: write('prev', start, earliestArrival(shown, before)), next: write('next', end, latest) };
  }
  const left = part.left.filter(({ plannedAt }) => plannedAt >= toMinute(base));
  const later = { ...part, left, knownUntil: edgeOf(known, 'next') };
  const start = firstBoundary(later, base);
  return {
    prev: write('prev', start, earliestArrival(shown)),
    next: write('next', boundaryAfter(later, start) ?? start, latest),
  };
}

/**
 * Fetches the journeys of the page that a cursor describes, and its cursors. Continues while a request finds nothing new.
 * Journeys are selected by planned times. Those that have left are listed only on pages that look back, and in lists that begin
 * at a given time.
 */
export async function fetchPage<Found extends Planned>(
  cursor: Cursor,
  options: { request: Request; limit: number; base: number; now: () => number; ids: IdSigner },
  fetch: (request: Request) => Promise<Found>,
  callsLeft = MAX_CALLS,
): Promise<Found & { shown: Journey[]; pages: Pages }> {
  const { request, limit, base, now, ids } = options;
  const { direction, at, arrivesBy = at } = cursor;
  const isNext = direction === 'next';
  const wallClock = isNext ? wallClockFrom(at, now()) : wallClockUntil(arrivesBy, now());
  const planned = await fetch({ ...request, at: wallClock, isArrival: !isNext });
  const isOnPage = ({ plannedAt, rowId }: PageRow) => isAfterBoundary(cursor, plannedAt, rowId) === isNext;
  const fitting = planned.fitting
    .filter((journey) => toRows(journey).some(isOnPage) && isPossible(journey))
    .filter((journey) => !isNext || request.at !== null || !hasLeft(journey, now()))
    .sort((one, other) => (startOf(one) - startOf(other)) * (isNext ? 1 : -1));
  const running = fitting.filter((journey) => !isCancelled(journey));
  const shown = [running.slice(0, limit), fitting.filter(isCancelled)].flatMap((part) => part.sort(compareJourneys));
  const left = running.slice(limit);
  const part = {
    shown: shown.flatMap(toRows),
    left: left.flatMap(toRows),
    knownUntil: edgeOf(planned.journeys, direction),
  };
  const isNothing = planned.journeys.flatMap(toRows).length === 0;
  const stepMs = shown.length > 0 ? 0 : isNothing ? NOTHING_MS : MINUTE_MS * 10 ** (MAX_CALLS - callsLeft);
  const further: Cursor = isNext
    ? {
        ...cursor,
        ...boundaryAfter({ ...part, knownUntil: Math.max(part.knownUntil, at + stepMs) }, cursor),
        arrivesBy: shown.length > 0 ? lastArrival(shown) : arrivesBy,
      }
    : {
        ...cursor,
        ...boundaryBefore(part, cursor),
        arrivesBy: Math.min(arrivesBy - stepMs, earliestArrival(shown.length > 0 ? shown : planned.journeys, left)),
      };
  const written = writeCursor(further, base, ids);
  if (shown.length === 0 && written !== undefined && callsLeft > 1)
    return fetchPage(further, options, fetch, callsLeft - 1);
  const back = writeCursor({ ...cursor, arrivesBy, direction: isNext ? 'prev' : 'next' }, base, ids);
  return { ...planned, shown, pages: isNext ? { prev: back, next: written } : { prev: written, next: back } };
}

/**
 * The planned departure that limits what is known: the latest one on pages of later journeys, the earliest one on pages of
 * earlier journeys. Journeys listed as extras do not count.
 */
function edgeOf(journeys: readonly Journey[], direction: Cursor['direction']): number {
  const inRow = journeys.filter((journey) => !journey.isAdditional && !isOnDemand(journey));
  const starts = (inRow.length > 0 ? inRow : journeys).flatMap(toRows).map(({ plannedAt }) => plannedAt);
  return direction === 'next' ? Math.max(...starts) : Math.min(...starts);
}

/** A time by which every earlier journey arrives, including the `left` ones. */
function earliestArrival(journeys: readonly Journey[], left: readonly Journey[] = []): number {
  return Math.max(Math.min(...journeys.map(arrivalOf)), ...left.map(arrivalOf));
}

/** The arrival of the journey that departs last. */
function lastArrival(journeys: readonly Journey[]): number {
  return arrivalOf([...journeys].sort((one, other) => startOf(other) - startOf(one))[0] as Journey);
}

function arrivalOf(journey: Journey): number {
  return destinationOf(journey).plannedAt;
}

function startOf(journey: Journey): number {
  return latestStart(journey, ({ plannedAt }) => plannedAt) ?? Number.NEGATIVE_INFINITY;
}

/**
 * Identifies the journey by its rides and their planned times, which are the same in every request. Empty for a journey on
 * foot.
 */
function toRows(journey: Journey): PageRow[] {
  const rides = journey.legs.filter(({ mode }) => mode !== 'walk');
  const names = rides.map(({ mode, runId, route, origin, destination }) =>
    [runId ?? `${mode} ${route}`, origin.plannedAt, destination.plannedAt].join(' '),
  );
  return rides.length > 0 ? [{ rowId: rowIdOf(names.join(' ')), plannedAt: startOf(journey) }] : [];
}

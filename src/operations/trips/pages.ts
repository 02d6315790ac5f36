import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import type { IdSigner } from '../../core/signer.ts';
import {
  destinationOf,
  isCancelled,
  isOnDemand,
  isPossible,
  type Journey,
  latestStart,
} from '../../journeys/journey.ts';
import { compareJourneys, hasLeft, type selectJourneys } from '../../journeys/selection.ts';
import { startOfMinute, wallClockFrom, wallClockUntil } from '../../transit/time.ts';
import {
  type Cursor,
  type Cut,
  cutAfter,
  cutAt,
  cutBefore,
  firstCut,
  isAfterCut,
  type Marked,
  markOf,
  writeCursor,
} from '../cursor.ts';
import type { Pages } from '../operation.ts';
import type { toTripRequest } from './query.ts';

/*
 * All journeys between two places are one list, cut by their planned departures, also where the first page was asked for by its
 * arrival. What comes after a cut is requested by departure, what comes before it by arrival: the authority lists a few
 * journeys from a moment on, and only the latest that arrive by one. A way on foot is on the first page only.
 */

type Request = ReturnType<typeof toTripRequest>;

/** The authority's response to one request: all journeys, and those that fit the query. */
interface Planned {
  journeys: readonly Journey[];
  fitting: readonly Journey[];
}

/** A page requests journeys at most so often, while there are none that were not shown. */
const MAX_CALLS = 3;
/** The authority looks farther than this before it says that there are no journeys. */
const NOTHING_MS = 6 * HOUR_MS;

/** The cursors of the first page. `base` is the moment asked for. */
export function pagesOfFirst(
  known: readonly Journey[],
  { journeys: shown, others, tooLate }: ReturnType<typeof selectJourneys>,
  { isArrival, binding, base, ids }: { isArrival: boolean; binding: string; base: number; ids: IdSigner },
): Pages {
  if (known.flatMap(toMarked).length === 0) return {};
  const part = { shown: shown.flatMap(toMarked), left: others.flatMap(toMarked) };
  const write = (direction: Cursor['direction'], cut: Cut | null, arrivesBy: number) =>
    cut ? writeCursor({ ...cut, direction, binding, counts: new Map(), arrivesBy }, base, ids) : undefined;
  const latest = lastArrival(shown);
  if (isArrival) {
    const end = cutAt(edgeOf(known, 'next') + SECOND_MS);
    const before = [...others, ...tooLate];
    const earlier = { ...part, left: before.flatMap(toMarked), knownUntil: edgeOf(known, 'prev') };
    const start = cutBefore(earlier, end);
    return { prev: write('prev', start, earliestArrival(shown, before)), next: write('next', end, latest) };
  }
  const left = part.left.filter(({ plannedAt }) => plannedAt >= startOfMinute(new Date(base)).getTime());
  const later = { ...part, left, knownUntil: edgeOf(known, 'next') };
  const start = firstCut(later, base);
  return {
    prev: write('prev', start, earliestArrival(shown)),
    next: write('next', cutAfter(later, start) ?? start, latest),
  };
}

/**
 * The journeys of the page that a cursor names, and its cursors; where a request finds none that are new, it goes on. Journeys are
 * chosen by their planned times. What has left is shown on pages that look back, and on those of a list that begins at a given time.
 */
export async function findPage<Found extends Planned>(
  cursor: Cursor,
  options: { request: Request; limit: number; base: number; now: () => Date; ids: IdSigner },
  read: (request: Request) => Promise<Found>,
  callsLeft = MAX_CALLS,
): Promise<Found & { shown: Journey[]; pages: Pages }> {
  const { request, limit, base, now, ids } = options;
  const { direction, at, arrivesBy = at } = cursor;
  const isNext = direction === 'next';
  const wallClock = isNext ? wallClockFrom(new Date(at), now()) : wallClockUntil(new Date(arrivesBy), now());
  const planned = await read({ ...request, at: wallClock, isArrival: !isNext });
  const isOnPage = ({ plannedAt, mark }: Marked) => isAfterCut(cursor, plannedAt, mark) === isNext;
  const fitting = planned.fitting
    .filter((journey) => toMarked(journey).some(isOnPage) && isPossible(journey))
    .filter((journey) => !isNext || request.at !== null || !hasLeft(journey, now()))
    .sort((one, other) => (startOf(one) - startOf(other)) * (isNext ? 1 : -1));
  const running = fitting.filter((journey) => !isCancelled(journey));
  const shown = [running.slice(0, limit), fitting.filter(isCancelled)].flatMap((part) => part.sort(compareJourneys));
  const left = running.slice(limit);
  const part = {
    shown: shown.flatMap(toMarked),
    left: left.flatMap(toMarked),
    knownUntil: edgeOf(planned.journeys, direction),
  };
  const isNothing = planned.journeys.flatMap(toMarked).length === 0;
  const stepMs = shown.length > 0 ? 0 : isNothing ? NOTHING_MS : MINUTE_MS * 10 ** (MAX_CALLS - callsLeft);
  const further: Cursor = isNext
    ? {
        ...cursor,
        ...cutAfter({ ...part, knownUntil: Math.max(part.knownUntil, at + stepMs) }, cursor),
        arrivesBy: shown.length > 0 ? lastArrival(shown) : arrivesBy,
      }
    : {
        ...cursor,
        ...cutBefore(part, cursor),
        arrivesBy: Math.min(arrivesBy - stepMs, earliestArrival(shown.length > 0 ? shown : planned.journeys, left)),
      };
  const written = writeCursor(further, base, ids);
  if (shown.length === 0 && written !== undefined && callsLeft > 1)
    return findPage(further, options, read, callsLeft - 1);
  const back = writeCursor({ ...cursor, arrivesBy, direction: isNext ? 'prev' : 'next' }, base, ids);
  return { ...planned, shown, pages: isNext ? { prev: back, next: written } : { prev: written, next: back } };
}

/** The planned departure up to which journeys are known, or from which on. Those that are listed beside the others do not count. */
function edgeOf(journeys: readonly Journey[], direction: Cursor['direction']): number {
  const inRow = journeys.filter((journey) => !journey.isAdditional && !isOnDemand(journey));
  const starts = (inRow.length > 0 ? inRow : journeys).flatMap(toMarked).map(({ plannedAt }) => plannedAt);
  return direction === 'next' ? Math.max(...starts) : Math.min(...starts);
}

/** The arrival by which everything before these journeys arrives, and also what was left of the earlier ones. */
function earliestArrival(journeys: readonly Journey[], left: readonly Journey[] = []): number {
  return Math.max(Math.min(...journeys.map(arrivalOf)), ...left.map(arrivalOf));
}

/** The arrival of the journey that departs last. */
function lastArrival(journeys: readonly Journey[]): number {
  return arrivalOf([...journeys].sort((one, other) => startOf(other) - startOf(one))[0] as Journey);
}

function arrivalOf(journey: Journey): number {
  return destinationOf(journey).planned.getTime();
}

function startOf(journey: Journey): number {
  return latestStart(journey, ({ planned }) => planned)?.getTime() ?? Number.NEGATIVE_INFINITY;
}

/** The journey by its rides and their planned times, which do not change with the request; nothing for a way on foot. */
function toMarked(journey: Journey): Marked[] {
  const rides = journey.legs.filter(({ mode }) => mode !== 'walk');
  const names = rides.map(({ mode, runId, route, origin, destination }) =>
    [runId ?? `${mode} ${route}`, origin.planned.getTime(), destination.planned.getTime()].join(' '),
  );
  return rides.length > 0 ? [{ mark: markOf(names.join(' ')), plannedAt: startOf(journey) }] : [];
}

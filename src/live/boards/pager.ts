import type { Ask } from '../../efa/ask.ts';
import { type DeparturePage, type DeparturesRequest, readPage } from '../../efa/departure-page.ts';
import { type LeftOutCounts, sumLeftOut } from '../../efa/response/record.ts';
import { ApiError } from '../../errors/api-error.ts';
import { compareDepartures, type Departure, isCancelled, leavesAt } from '../../transit/departure.ts';
import { type Freshness, oldestOf } from '../../transit/freshness.ts';
import { type Mode, sortModes } from '../../transit/mode.ts';
import { toSydneyWallClock } from '../../transit/time.ts';

/** A request for the board of one stop. */
export interface BoardRequest {
  ask: Ask;
  request: DeparturesRequest;
  limit: number;
  /** Of each route and headsign only the next so many are shown, counted before `limit`. */
  perRoute?: number | undefined;
  /** The filters of the caller, which come before `limit`. */
  isWanted(departure: Departure): boolean;
}

/** The departures of one board, from one source, and how fresh it is. */
export interface Board {
  stopName: string;
  /** The modes of all vehicles that stop here, as far as known. */
  stopModes: readonly Mode[];
  freshness: Freshness;
  departures: Departure[];
  leftOut: LeftOutCounts;
}

/** A board is read from one source: the departure monitor, or the stop's timeline with the feeds. */
export interface BoardSource {
  /** How many pages may still be requested. */
  pagesLeft: number;
  /** Returns the departures that the source knows by now. */
  look(): {
    /** The departures that the board may show, in no order; one may be there twice. */
    departures: readonly Departure[];
    /** Every departure planned before this moment is known: milliseconds since 1970. */
    until: number;
    /** So much is listed that no page further ahead is requested. */
    isLong?: boolean;
    /**
     * Returns the function that reads the next page, when so many departures are missing. It resolves to false when the
     * page adds nothing; `canShow` says that the board shows something without the page.
     */
    findNext(missing: number): ((canShow: boolean) => Promise<boolean>) | 'whole' | 'not covered';
  };
  /** Looks once, before a page is requested, whether other instances know more. */
  takeOver?(): Promise<boolean>;
}

/** One board requests at most this many pages. */
export const MAX_PAGES = 3;

/**
 * Reads on until the limit is filled in order, the source has nothing more, or its pages are used up. The result is in
 * order, without repeats; cancelled departures stand among the others and do not count towards the limit. Null when the
 * source does not cover the board, or has nothing to show and nothing more to say.
 */
export async function readBoard(
  source: BoardSource,
  request: Pick<BoardRequest, 'limit' | 'perRoute'>,
): Promise<Departure[] | null> {
  const { limit, perRoute } = request;
  let { pagesLeft, takeOver } = source;
  for (;;) {
    const { departures, until, isLong = false, findNext } = source.look();
    const running = departures.filter((departure) => !isCancelled(departure));
    // Beyond `until` the order is not known.
    const inOrder = nextOfEachRoute(
      running.filter((departure) => leavesAt(departure) < until),
      perRoute,
    );
    const readNext = findNext(limit - inOrder.length);
    if (readNext === 'not covered') return null;
    if (readNext === 'whole') return selectFirst(request, departures);
    const isTakenOver = await takeOver?.();
    takeOver = undefined;
    if (isTakenOver) continue;
    if (pagesLeft === 0 || isLong) return selectFirst(request, departures);
    if (!(await readNext(running.length > 0)))
      return running.length > 0 ? selectFirst(request, source.look().departures) : null;
    pagesLeft--;
  }
}

/** Returns departures in order, without repeats, up to the first running departure that is beyond the limit. */
function selectFirst(
  { limit, perRoute }: Pick<BoardRequest, 'limit' | 'perRoute'>,
  unordered: readonly Departure[],
): Departure[] {
  const distinct = new Map(unordered.map((departure) => [departure.key, departure]));
  const departures = nextOfEachRoute([...distinct.values()].sort(compareDepartures), perRoute);
  const beyond = departures.filter((departure) => !isCancelled(departure))[limit];
  return beyond ? departures.slice(0, departures.indexOf(beyond)) : departures;
}

/**
 * Returns of each route and headsign the first `perRoute` of these, which is all where it is undefined. Cancelled ones do
 * not count; those after the last one shown of their route are left out with the others.
 */
export function nextOfEachRoute(departures: Departure[], perRoute: number | undefined): Departure[] {
  if (perRoute === undefined) return departures;
  const counts = new Map<string, number>();
  const distinct = new Map(departures.map((departure) => [departure.key, departure]));
  return [...distinct.values()].sort(compareDepartures).filter((departure) => {
    const route = `${departure.mode} ${departure.route} ${departure.destination}`;
    const count = counts.get(route) ?? 0;
    if (!isCancelled(departure)) counts.set(route, count + 1);
    return count < perRoute;
  });
}

/**
 * Reads the board from the departure monitor; each page begins at the last planned time of the one before. When a later
 * page fails, the board ends where the pages before it end, unless it would be empty.
 */
export async function readMonitorBoard(request: BoardRequest): Promise<{ board: Board; pages: DeparturePage[] }> {
  const { ask, request: upstreamRequest, isWanted } = request;
  const first = await readPage(ask, upstreamRequest);
  const pages = [first];
  const wanted = new Map<string, Departure>();
  let last = first;

  function take(page: DeparturePage): void {
    last = page;
    for (const departure of page.departures) if (isWanted(departure)) wanted.set(departure.key, departure);
  }

  async function readFrom(plannedAt: number, canShow: boolean): Promise<boolean> {
    const at = toSydneyWallClock(new Date(plannedAt));
    // A later page of a board for now has to be as fresh as the first.
    const next = { ...upstreamRequest, at, isForNow: upstreamRequest.at === null };
    const page = await readPage(ask, next).catch((error) => {
      if (!canShow || !(error instanceof ApiError)) throw error;
      return null;
    });
    if (!page || (page.lastPlannedAt ?? 0) <= plannedAt) return false;
    pages.push(page);
    take(page);
    return true;
  }

  const source: BoardSource = {
    pagesLeft: MAX_PAGES - 1,
    look() {
      const { isEnd, lastPlannedAt } = last;
      return {
        departures: [...wanted.values()],
        // The departure monitor lists the departures of the last minute too.
        until: lastPlannedAt === null ? Number.NEGATIVE_INFINITY : lastPlannedAt + 1,
        findNext: (missing) =>
          missing <= 0 || isEnd || lastPlannedAt === null ? 'whole' : (canShow) => readFrom(lastPlannedAt, canShow),
      };
    },
  };
  take(first);
  const departures = (await readBoard(source, request)) ?? selectFirst(request, [...wanted.values()]);
  const leftOut = sumLeftOut(pages.map((page) => page.leftOut));
  const freshness = oldestOf(first.freshness, ...pages.map((page) => page.freshness));
  const stopModes = listStopModes(pages);
  return { board: { stopName: first.stopName, stopModes, freshness, departures, leftOut }, pages };
}

export function listStopModes(pages: readonly DeparturePage[]): Mode[] {
  return sortModes(pages.flatMap((page) => page.stopModes));
}

import type { Ask } from '../../efa/ask.ts';
import { type DeparturesRequest, type Page, readPage } from '../../efa/departure-page.ts';
import { type LeftOutCounts, sumLeftOut } from '../../efa/response/record.ts';
import { ApiError } from '../../errors/api-error.ts';
import { compareDepartures, type Departure, isCancelled, leavesAt } from '../../transit/departure.ts';
import { type Freshness, oldestOf } from '../../transit/freshness.ts';
import { toSydneyWallClock } from '../../transit/time.ts';

/** Which departures of a stop a caller wants. */
export interface BoardRequest {
  ask: Ask;
  request: DeparturesRequest;
  limit: number;
  /** Filters, before `limit`. */
  isWanted(departure: Departure): boolean;
}

/** The departures of one board, from one source, and how fresh it is. */
export interface Board {
  stopName: string;
  freshness: Freshness;
  departures: Departure[];
  leftOut: LeftOutCounts;
}

/** The departures that a source of boards knows by now. */
export interface BoardView {
  /** Those that the board may show, in no order; the same departure may stand there twice. */
  departures: readonly Departure[];
  /** Everything that is planned before here is known: milliseconds since 1970. */
  until: number;
  /** So much is listed that nothing further ahead is asked for. */
  isLong?: boolean;
}

/** A board is read from one source: the departure monitor, or the stop's timeline with the feeds. */
export interface BoardSource<View extends BoardView, Next extends object> {
  /** How many pages may still be asked for. */
  pagesLeft: number;
  look(): View;
  /** The next page, when the view lacks so many departures. */
  findNext(view: View, missing: number): Next | 'whole' | 'not covered';
  /** Looks once, before a page is asked for, whether other instances know more. */
  takeOver?(): Promise<boolean>;
  /** False when the page adds nothing. `canShow` says that the board shows something without it. */
  read(next: Next, canShow: boolean): Promise<boolean>;
}

/** One board asks for so many pages at most. */
export const MAX_PAGES = 3;

/**
 * Reads on until the limit is filled in order, the source has nothing more, or its pages are used up. The result is in
 * order, without repeats; cancelled departures stand among the others and do not count towards the limit. Null when the
 * source does not cover the board, or has nothing to show and nothing more to say.
 */
export async function readBoard<View extends BoardView, Next extends object>(
  source: BoardSource<View, Next>,
  limit: number,
): Promise<Departure[] | null> {
  let { pagesLeft, takeOver } = source;
  for (;;) {
    const view = source.look();
    const { departures, until, isLong = false } = view;
    const running = departures.filter((departure) => !isCancelled(departure));
    // What leaves later than the known part reaches may leave after something that is not known.
    const inOrder = running.filter((departure) => leavesAt(departure) < until);
    const next = source.findNext(view, limit - inOrder.length);
    if (next === 'not covered') return null;
    if (next === 'whole') return selectFirst(limit, departures);
    const isTakenOver = await takeOver?.();
    takeOver = undefined;
    if (isTakenOver) continue;
    if (pagesLeft === 0 || isLong) return selectFirst(limit, departures);
    if (!(await source.read(next, running.length > 0)))
      return running.length > 0 ? selectFirst(limit, source.look().departures) : null;
    pagesLeft--;
  }
}

/** In order, without repeats, those before the first running departure that is beyond the limit. */
function selectFirst(limit: number, unordered: readonly Departure[]): Departure[] {
  const distinct = new Map(unordered.map((departure) => [departure.key, departure]));
  const departures = [...distinct.values()].sort(compareDepartures);
  const beyond = departures.filter((departure) => !isCancelled(departure))[limit];
  return beyond ? departures.slice(0, departures.indexOf(beyond)) : departures;
}

/**
 * The board by the departure monitor, page by page from the last planned time on. When a later page fails, the board ends
 * where the pages before it end, unless it would be empty.
 */
export async function readMonitorBoard(request: BoardRequest): Promise<{ board: Board; pages: Page[] }> {
  const { ask, request: question, limit, isWanted } = request;
  const first = await readPage(ask, question);
  const pages = [first];
  const wanted = new Map<string, Departure>();
  let last = first;

  function take(page: Page): void {
    last = page;
    for (const departure of page.departures) if (isWanted(departure)) wanted.set(departure.key, departure);
  }

  const source: BoardSource<BoardView, DeparturesRequest> = {
    pagesLeft: MAX_PAGES - 1,
    look: () => ({
      departures: [...wanted.values()],
      // The departure monitor lists what is planned for the last minute too.
      until: last.lastPlannedAt === null ? Number.NEGATIVE_INFINITY : last.lastPlannedAt + 1,
    }),
    findNext(_, missing) {
      if (missing <= 0 || last.isEnd || last.lastPlannedAt === null) return 'whole';
      // A later page of a board for now has to be as fresh as the first.
      const at = toSydneyWallClock(new Date(last.lastPlannedAt));
      return { ...question, at, isForNow: question.at === null };
    },
    async read(next, canShow) {
      const page = await readPage(ask, next).catch((error) => {
        if (!canShow || !(error instanceof ApiError)) throw error;
        return null;
      });
      if (!page || (page.lastPlannedAt ?? 0) <= (last.lastPlannedAt ?? 0)) return false;
      pages.push(page);
      take(page);
      return true;
    },
  };
  take(first);
  const departures = (await readBoard(source, limit)) ?? selectFirst(limit, [...wanted.values()]);
  const leftOut = sumLeftOut(pages.map((page) => page.leftOut));
  const freshness = oldestOf(first.freshness, ...pages.map((page) => page.freshness));
  return { board: { stopName: first.stopName, freshness, departures, leftOut }, pages };
}

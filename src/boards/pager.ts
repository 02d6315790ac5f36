import { HOUR_MS, MINUTE_MS } from '../clock.ts';
import type { Ask } from '../efa/ask.ts';
import { type DeparturePage, type DeparturesRequest, EVENTS_PER_PAGE, readPage } from '../efa/departure-page.ts';
import { type LeftOutCounts, sumLeftOut } from '../efa/response/record.ts';
import { ApiError } from '../errors/api-error.ts';
import { compareDepartures, comparePlanned, type Departure, isCancelled, leavesAt } from '../transit/departure.ts';
import { type Freshness, oldestOf } from '../transit/freshness.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { toSydneyWallClock, wallClockFrom } from '../transit/time.ts';

/** A request for the board of one stop. */
export interface BoardRequest {
  ask: Ask;
  request: DeparturesRequest;
  limit: number;
  /** So many of each route and headsign are shown at most, counted before `limit`. */
  perRoute?: number | undefined;
  /** Cancelled departures are shown, so they count towards `limit`. */
  showsCancelled: boolean;
  /** The filters of the caller, which come before `limit`. */
  isWanted(departure: Departure): boolean;
  /** Set on a board that goes on from another one: it is chosen by planned times, because they stay as they are. */
  page?: {
    /** How many of the same route and headsign were shown before. */
    countShown(departure: Departure): number;
    now: Date;
    /** The board is made of the last departures planned before this moment, in milliseconds since 1970. */
    before?: number;
  };
}

/** The part of a board that `limit` leaves, and the part that it leaves out. */
interface Selection {
  departures: Departure[];
  /** Departures that the board would show next. */
  others: Departure[];
  /** Every departure planned before this moment is known, of a board that looks back every one from it on. */
  knownUntil: number;
}

/** The departures of one board, from one source, and how fresh it is. */
export interface Board extends Selection {
  stopName: string;
  /** The modes of all vehicles that stop here, as far as known. */
  stopModes: readonly Mode[];
  freshness: Freshness;
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
    /** Every departure planned before this moment is known, as far as the order needs it: milliseconds since 1970. */
    until: number;
    /** Every departure planned before this moment is known. */
    knownUntil: number;
    /** Enough is listed: no page further ahead is requested. */
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
 * order, without repeats; cancelled departures keep their place and count towards the limit only if shown. Null when the
 * source does not cover the board, or has nothing to show and nothing more to say.
 */
export async function readBoard(source: BoardSource, request: Choice): Promise<Selection | null> {
  const { limit, page } = request;
  let { pagesLeft, takeOver } = source;
  for (;;) {
    const { departures, until, knownUntil, isLong = false, findNext } = source.look();
    const counted = departures.filter((departure) => isCounted(request, departure));
    // Beyond `until` the order is not known.
    const inOrder = nextOfEachRoute(
      counted.filter((departure) => (page ? departure.plannedAt : leavesAt(departure)) < until),
      request,
    );
    const readNext = findNext(limit - inOrder.length);
    if (readNext === 'not covered') return null;
    if (readNext === 'whole') return { ...selectFirst(request, departures), knownUntil };
    const isTakenOver = await takeOver?.();
    takeOver = undefined;
    if (isTakenOver) continue;
    if (pagesLeft === 0 || isLong) return { ...selectFirst(request, departures), knownUntil };
    if (!(await readNext(counted.length > 0))) {
      const seen = source.look();
      return counted.length > 0 ? { ...selectFirst(request, seen.departures), knownUntil: seen.knownUntil } : null;
    }
    pagesLeft--;
  }
}

type Choice = Pick<BoardRequest, 'limit' | 'perRoute' | 'showsCancelled' | 'page'>;

/** Whether the departure counts towards `limit`. */
export function isCounted({ showsCancelled }: Pick<Choice, 'showsCancelled'>, departure: Departure): boolean {
  return showsCancelled || !isCancelled(departure);
}

/** Returns departures in order, without repeats, up to the first counted one beyond the limit, and the others. */
function selectFirst(choice: Choice, unordered: readonly Departure[]): Omit<Selection, 'knownUntil'> {
  const departures = nextOfEachRoute(inOrderOf(choice, unordered), choice);
  const beyond = departures.filter((departure) => isCounted(choice, departure))[choice.limit];
  const end = beyond ? departures.indexOf(beyond) : departures.length;
  return { departures: departures.slice(0, end), others: departures.slice(end) };
}

/** The departures without repeats, in the order in which the board takes them. */
function inOrderOf({ page }: Choice, unordered: readonly Departure[]): Departure[] {
  const distinct = [...new Map(unordered.map((departure) => [departure.key, departure])).values()];
  if (!page) return distinct.sort(compareDepartures);
  return page.before === undefined
    ? distinct.sort(comparePlanned)
    : distinct.sort((one, other) => comparePlanned(other, one));
}

/**
 * Returns of each route and headsign the first `perRoute` of these, which is all where it is undefined. Cancelled ones do
 * not count; those after the last one shown of their route are left out with the others.
 */
export function nextOfEachRoute(departures: Departure[], choice: Choice): Departure[] {
  const { perRoute, page } = choice;
  if (perRoute === undefined) return departures;
  const counts = new Map<string, number>();
  return inOrderOf(choice, departures).filter((departure) => {
    const route = routeOf(departure);
    const count = counts.get(route) ?? page?.countShown(departure) ?? 0;
    if (!isCancelled(departure)) counts.set(route, count + 1);
    return count < perRoute;
  });
}

/** The name by which `per_route` counts. */
export function routeOf({ mode, route, destination }: Departure): string {
  return `${mode} ${route} ${destination}`;
}

/**
 * Reads the board from the departure monitor; each page begins at the last planned time of the one before. When a later
 * page fails, the board ends where the pages before it end, unless it would be empty.
 */
export async function readMonitorBoard(request: BoardRequest): Promise<{ board: Board; pages: DeparturePage[] }> {
  const { ask, request: upstreamRequest, isWanted } = request;
  const first = await readPage(ask, upstreamRequest);
  const pages: [DeparturePage, ...DeparturePage[]] = [first];
  const wanted = new Map<string, Departure>();
  let last = first;

  function take(page: DeparturePage): void {
    last = page;
    for (const departure of page.departures) if (isWanted(departure)) wanted.set(departure.key, departure);
  }

  async function readFrom(plannedAt: number, canShow: boolean): Promise<boolean> {
    const from = new Date(plannedAt);
    const at = request.page ? wallClockFrom(from, request.page.now) : toSydneyWallClock(from);
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
        knownUntil: knownUntil(last),
        findNext: (missing) =>
          missing <= 0 || isEnd || lastPlannedAt === null ? 'whole' : (canShow) => readFrom(lastPlannedAt, canShow),
      };
    },
  };
  take(first);
  const selection = (await readBoard(source, request)) ?? {
    ...selectFirst(request, [...wanted.values()]),
    knownUntil: knownUntil(last),
  };
  return { board: { ...aboutPages(pages), ...selection }, pages };
}

function aboutPages(pages: readonly [DeparturePage, ...DeparturePage[]]): Omit<Board, keyof Selection> {
  const [first, ...others] = pages;
  return {
    stopName: first.stopName,
    stopModes: listStopModes(pages),
    freshness: oldestOf(first.freshness, ...others.map((page) => page.freshness)),
    leftOut: sumLeftOut(pages.map((page) => page.leftOut)),
  };
}

/** Everything planned before this moment is listed on the page or before it. In the hour that comes twice only the list itself tells. */
function knownUntil({ until, isEnd, lastPlannedAt }: DeparturePage): number {
  if (lastPlannedAt === null) return Number.isFinite(until) ? until : Number.NEGATIVE_INFINITY;
  if (isEnd) return Number.isFinite(until) ? Math.max(until, lastPlannedAt + 1) : lastPlannedAt + 1;
  return Number.isFinite(until) ? until : lastPlannedAt;
}

/** The first look back goes so far. */
const FIRST_STEP_MS = 20 * MINUTE_MS;
const MAX_STEP_MS = 6 * HOUR_MS;
/** Pages that look back begin at multiples of this, so that many requests share them. */
const GRID_MS = 10 * MINUTE_MS;
/** A step back should fit on one page. */
const EVENTS_PER_STEP = EVENTS_PER_PAGE - 6;

/**
 * Reads the last departures planned before a moment. The departure monitor lists forwards only, so this goes back in steps,
 * each as long as is likely to fill a page. A step of which not everything becomes known is left out.
 */
export async function readBoardBefore(
  request: BoardRequest,
  { before, now }: NonNullable<BoardRequest['page']>,
): Promise<Board> {
  const { ask, request: upstreamRequest, limit, isWanted } = request;
  const pages: DeparturePage[] = [];
  const wanted: Departure[] = [];
  let end = before ?? now.getTime();
  let stepMs = FIRST_STEP_MS;

  async function readStep(start: number): Promise<Departure[] | null> {
    const listed: Departure[] = [];
    for (let from = start; from < end; ) {
      if (pages.length === MAX_PAGES) return null;
      const at = wallClockFrom(new Date(from), now);
      const page = await readPage(ask, { ...upstreamRequest, at }).catch((error) => {
        if (wanted.length === 0 || !(error instanceof ApiError)) throw error;
        return null;
      });
      if (!page || knownUntil(page) <= from) return null;
      pages.push(page);
      listed.push(...page.departures);
      from = knownUntil(page);
    }
    return inOrderOf(request, listed).filter(({ plannedAt }) => plannedAt >= start && plannedAt < end);
  }

  while (pages.length < MAX_PAGES && wanted.filter((departure) => isCounted(request, departure)).length < limit) {
    const start = Math.floor((end - stepMs) / GRID_MS) * GRID_MS;
    const step = await readStep(start);
    if (!step) break;
    wanted.push(...step.filter(isWanted));
    const ratio = step.length === 0 ? 8 : EVENTS_PER_STEP / step.length;
    stepMs = Math.min(MAX_STEP_MS, (end - start) * ratio);
    end = start;
  }
  const [first, ...others] = pages;
  if (!first) throw new Error('no step back was read');
  return { ...aboutPages([first, ...others]), ...selectFirst(request, wanted), knownUntil: end };
}

export function listStopModes(pages: readonly DeparturePage[]): Mode[] {
  return sortModes(pages.flatMap((page) => page.stopModes));
}

import type { Ask } from '../efa/ask.ts';
import type { DeparturesRequest } from '../efa/departure-page.ts';
import type { LeftOutCounts } from '../efa/response/record.ts';
import { compareDepartures, comparePlanned, type Departure, isCancelled, leavesAt } from '../transit/departure.ts';
import type { Freshness } from '../transit/freshness.ts';
import type { Mode } from '../transit/mode.ts';

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
export interface Selection {
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
export function selectFirst(choice: Choice, unordered: readonly Departure[]): Omit<Selection, 'knownUntil'> {
  const departures = nextOfEachRoute(inOrderOf(choice, unordered), choice);
  const beyond = departures.filter((departure) => isCounted(choice, departure))[choice.limit];
  const end = beyond ? departures.indexOf(beyond) : departures.length;
  return { departures: departures.slice(0, end), others: departures.slice(end) };
}

/** The departures without repeats, in the order in which the board takes them. */
export function inOrderOf({ page }: Choice, unordered: readonly Departure[]): Departure[] {
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

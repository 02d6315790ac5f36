import type { Ask } from '../efa/ask.ts';
import type { DeparturesRequest } from '../efa/departure-page.ts';
import type { RunCall } from '../transit/call.ts';
import { compareDepartures, comparePlanned, type Departure, isCancelled } from '../transit/departure.ts';
import type { Freshness } from '../transit/freshness.ts';
import type { LeftOutCounts } from '../transit/left-out.ts';
import type { Mode } from '../transit/mode.ts';

/** A request for the board of one stop. Moments are milliseconds since 1970. */
export interface BoardRequest {
  ask: Ask;
  request: DeparturesRequest;
  limit: number;
  /** So many of each route and headsign are shown at most, counted before `limit`. */
  perRoute?: number | undefined;
  /** Cancelled departures are shown, so they count towards `limit`. */
  showsCancelled: boolean;
  /** The filters of the caller, which come before `limit`. `calls` are those of `Board.callsOf`. */
  isWanted(departure: Departure, calls: () => RunCall[] | null): boolean;
  /** The calls of departures are needed. */
  withCalls?: boolean;
  /**
   * What `isWanted` accepts at most, so that a timetable can skip the rest: short route names in upper case, and vehicles that
   * call at a stop afterwards.
   */
  only?: { routes?: readonly string[] | undefined; to?: string | undefined };
  /** Set on a board that goes on from another one: it is chosen by planned times, because they stay as they are. */
  page?: {
    /** How many of the same route and headsign were shown before. */
    countShown(departure: Departure): number;
    now: Date;
    /** The board is made of departures planned from here on. */
    from: number;
    /** The board is made of the last departures planned before this moment. */
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
  /** The calls of a departure from this stop to the end of its run; null where they are not known. */
  callsOf(departure: Departure): RunCall[] | null;
  /** Sentences for the caller, in ASCII: why the board has less than usual. */
  notices?: readonly string[];
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
export function routeOf({ mode, route, destination }: Pick<Departure, 'mode' | 'route' | 'destination'>): string {
  return `${mode} ${route} ${destination}`;
}

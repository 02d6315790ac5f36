import type { DeparturesRequest } from '../efa/departure-page.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import type { RunCall } from '../transit/call.ts';
import { compareDepartures, comparePlanned, type Departure, isCancelled } from '../transit/departure.ts';
import type { Freshness } from '../transit/freshness.ts';
import type { LeftOutCounts } from '../transit/left-out.ts';
import type { Mode } from '../transit/mode.ts';

/** A request for the board of one stop. Times are in milliseconds since 1970. */
export interface BoardRequest {
  queryUpstream: QueryUpstream;
  request: DeparturesRequest;
  limit: number;
  /** Maximum number of departures for each route and headsign, applied before `limit`. */
  perRoute?: number | undefined;
  /** Whether cancelled departures are shown; if so, they count towards `limit`. */
  showsCancelled: boolean;
  /** The caller's filters, applied before `limit`. `calls` returns what `Board.callsOf` returns. */
  isWanted(departure: Departure, calls: () => RunCall[] | null): boolean;
  /** Whether the response needs the calls of departures. */
  withCalls?: boolean;
  /**
   * A coarse filter that accepts everything that `isWanted` does, so that the timetable can skip the rest: short route names in
   * upper case, and a stop that the vehicle must call at later.
   */
  only?: { routes?: readonly string[] | undefined; to?: string | undefined };
  /** Set for a further page of a board. Such a page is selected by planned times, because they do not change. */
  page?: {
    /** How many departures of the same route and headsign earlier pages showed. */
    countShown(departure: RouteAndHeadsign): number;
    now: number;
    /** The page starts with departures planned at this time. */
    from: number;
    /** The page ends with the last departures planned before this time. */
    before?: number;
  };
}

/** A board split by `limit`. */
export interface Selection {
  departures: Departure[];
  /** Departures beyond the limit. */
  others: Departure[];
  /**
   * Every departure planned before this time is known. On a board that looks back: every departure planned from this time on.
   */
  knownUntil: number;
}

/** The departures of one board, from one source, with their freshness. */
export interface Board extends Selection {
  stopName: string;
  /** The modes of all vehicles that stop here, as far as they are known. */
  stopModes: readonly Mode[];
  freshness: Freshness;
  leftOut: LeftOutCounts;
  /** The calls of a departure from this stop to the end of its run; null if unknown. */
  callsOf(departure: Departure): RunCall[] | null;
  /** Sentences in ASCII that tell the caller why the board is incomplete. */
  notices?: readonly string[];
}

/** A board without how fresh and complete it is. */
export type BoardContent = Omit<Board, 'freshness' | 'notices'>;

type Choice = Pick<BoardRequest, 'limit' | 'perRoute' | 'showsCancelled' | 'page'>;

/** Whether the departure counts towards `limit`. */
export function isCounted({ showsCancelled }: Choice, departure: Departure): boolean {
  return showsCancelled || !isCancelled(departure);
}

/** Sorts the departures, removes repeats, and splits them at `limit`. */
export function selectFirst(choice: Choice, unordered: readonly Departure[]): Omit<Selection, 'knownUntil'> {
  const departures = nextOfEachRoute(inOrderOf(choice, unordered), choice);
  const beyond = departures.filter((departure) => isCounted(choice, departure))[choice.limit];
  const end = beyond ? departures.indexOf(beyond) : departures.length;
  return { departures: departures.slice(0, end), others: departures.slice(end) };
}

/** The departures without repeats, in board order. */
export function inOrderOf({ page }: Choice, unordered: readonly Departure[]): Departure[] {
  const distinct = [...new Map(unordered.map((departure) => [departure.key, departure])).values()];
  if (!page) return distinct.sort(compareDepartures);
  return page.before === undefined ? distinct.sort(comparePlanned) : distinct.sort((a, b) => comparePlanned(b, a));
}

/**
 * Returns the first `perRoute` departures of each route and headsign, in board order; all if it is undefined. Cancelled
 * departures do not count towards it, but those after the last one that counts are left out too.
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

/** Departures with the same mode, route and destination are one row of `per_route`. */
export interface RouteAndHeadsign {
  mode: Mode;
  route: string;
  destination: string;
}

/** The key by which `per_route` counts departures. */
export function routeOf({ mode, route, destination }: RouteAndHeadsign): string {
  return `${mode} ${route} ${destination}`;
}

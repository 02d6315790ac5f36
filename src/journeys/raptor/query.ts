import type { Found, Labels } from './labels.ts';
import type { Footpaths } from './lines.ts';

/** Ends a search at its deadline. */
export class SearchEnded extends Error {}

/**
 * Runs a search that adds to a result. What it has found by its deadline counts as the result; rethrows `SearchEnded` if that is
 * nothing, and any other error.
 */
export function searchUntilEnded(search: () => void, hasFound: () => boolean): void {
  try {
    search();
  } catch (error) {
    if (!(error instanceof SearchEnded) || !hasFound()) throw error;
  }
}

/** A walk between a place and a stop. */
export interface Walk {
  stop: number;
  seconds: number;
}

/** One of several destinations, with the walks to it from the stops around. */
export interface Destination {
  egress: readonly Walk[];
  /** When a rider arrives who only walks; `NEVER` if it is too far. */
  walked: number;
}

/** The walks of a search, and the time that changes take. */
export interface SearchedWalks {
  access: readonly Walk[];
  egress: readonly Walk[];
  /** Replaces the footpaths of the searcher: some of them, walked faster or slower. */
  footpaths?: Footpaths | undefined;
  /** The minimum time between two rides. */
  changeSeconds: number;
}

/** A search for journeys. Times are seconds since the base of the lines. */
export interface Search extends SearchedWalks {
  /** With several destinations, the search continues until each is reached. `egress` then has the walks to all of them, or none. */
  ends?: readonly Destination[];
  /** Journeys that arrive later are not searched. */
  latest: number;
  /**
   * By line, run and stop: 0 if it must not be used, else 1; null if all may be used. `flags` replaces the flags of the calls of
   * all lines.
   */
  allowed: Record<'lines' | 'runs' | 'stops' | 'flags', Uint8Array | null>;
}

/** The departures to search, from `from` (inclusive) to `until` (exclusive). */
export interface Range {
  from: number;
  until: number;
  maxRides: number;
  /**
   * The labels of the search in the other direction. They drop stops that cannot reach its origin in time. Null without such a
   * search.
   */
  bounds: Labels | null;
  /** Journeys found before, which leave at `until` or later. Results beat each of them in departure, arrival or rides. */
  known?: readonly Found[];
}

export const NO_SEARCH: Search = {
  access: [],
  egress: [],
  latest: 0,
  changeSeconds: 0,
  allowed: { lines: null, runs: null, stops: null, flags: null },
};

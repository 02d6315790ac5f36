import type { Found, Labels } from './labels.ts';
import type { Footpaths } from './lines.ts';

/** Ends a search at its deadline. */
export class SearchEnded extends Error {}

/** Runs a search that adds to what is found. If it is ended, what has been found stays; without anything it has failed. */
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

/** One of several destinations. */
export interface Destination {
  egress: readonly Walk[];
  /** When a rider arrives who only walks; `NEVER` if it is too far. */
  walked: number;
}

/** A search for journeys. Times are seconds since the base of the lines. */
export interface Search {
  access: readonly Walk[];
  egress: readonly Walk[];
  /** If there are several destinations: the search goes on until each is reached. `egress` then has the walks to all of them, or none. */
  ends?: readonly Destination[];
  /** Journeys that arrive later are not searched. */
  latest: number;
  /** Replaces the footpaths of the searcher: some of them, walked faster or slower. */
  footpaths?: Footpaths | undefined;
  /** The minimum time between two rides. */
  changeSeconds: number;
  /**
   * One byte for each line, run or stop: 0 if it must not be used. Null if all may be used. `flags` replaces the flags of all calls of
   * the lines.
   */
  allowed: Record<'lines' | 'runs' | 'stops' | 'flags', Uint8Array | null>;
}

/** The departures to search, from `from` (inclusive) to `until` (exclusive). */
export interface Range {
  from: number;
  until: number;
  maxRides: number;
  /** The labels of the search in the other direction, which every result has to match; null without one. */
  bounds: Pick<Labels, 'arrived' | 'ready' | 'followed'> | null;
  /** Journeys that leave at `until` or later. Results have to be better in departure, arrival or rides. */
  known?: readonly Found[];
}

export const NO_SEARCH: Search = {
  access: [],
  egress: [],
  latest: 0,
  changeSeconds: 0,
  allowed: { lines: null, runs: null, stops: null, flags: null },
};

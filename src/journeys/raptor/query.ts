import type { Labels } from './labels.ts';

/** A walk between a place and a stop. */
export interface Walk {
  stop: number;
  seconds: number;
}

/** A search for journeys. Times are seconds since the base of the lines. */
export interface Search {
  access: readonly Walk[];
  egress: readonly Walk[];
  /** No journey arrives later. */
  latest: number;
  /** The least time between getting off and getting on. */
  changeSeconds: number;
  /** A journey with one ride more counts only if it saves so many seconds. */
  rideIsWorthSeconds: number;
  /** One byte a line, run or stop: 0 where it may not be used; null where all may be. */
  allowed: { lines: Uint8Array | null; runs: Uint8Array | null; stops: Uint8Array | null };
}

/** The departures to search: from `from` up to, but not at, `until`. */
export interface Range {
  from: number;
  until: number;
  maxRides: number;
  /** What a search in the other direction has reached, which is part of every possible journey; null without one. */
  bounds: Pick<Labels, 'arrived' | 'ready'> | null;
}

export const NO_SEARCH: Search = {
  access: [],
  egress: [],
  latest: 0,
  changeSeconds: 0,
  rideIsWorthSeconds: 0,
  allowed: { lines: null, runs: null, stops: null },
};

/** Added to twice the round trip: for pauses of Redis and of the network. */
const MARGIN_MS = 200;
/** Assumed of a node that has not answered yet. */
const UNMEASURED_ROUND_TRIP_MS = 400;
/** A node farther than this counts as away. */
export const MAX_ROUND_TRIP_MS = 1000;

/** Nobody waits longer for a node that is silent. */
export const MAX_PATIENCE_MS = MARGIN_MS + 2 * MAX_ROUND_TRIP_MS;

/** How far away the nodes are, in milliseconds there and back. */
export interface Distances {
  /** For how long silence of the node is normal. */
  patienceMs(node: string): number;
  /** A call that took so long. Only the shortest of them tell the distance: the others had to wait for their turn. */
  heard(node: string, elapsedMs: number): void;
  /** Replaces what was measured before. */
  measured(node: string, roundTripMs: number): void;
}

export function createDistances(marginMs = MARGIN_MS): Distances {
  const roundTrips = new Map<string, number>();
  return {
    patienceMs: (node) => marginMs + 2 * (roundTrips.get(node) ?? UNMEASURED_ROUND_TRIP_MS),
    heard(node, elapsedMs) {
      const shortest = roundTrips.get(node);
      if (shortest === undefined || elapsedMs < shortest) roundTrips.set(node, elapsedMs);
    },
    measured: (node, roundTripMs) => void roundTrips.set(node, roundTripMs),
  };
}

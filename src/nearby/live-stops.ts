import { type Mode, sortModes } from '../transit/mode.ts';
import type { NearbyStop } from './map.ts';
import type { Verdict } from './verdict.ts';

/** How many stops are checked at once. */
const PARALLEL_CHECKS = 4;

/** The stops to show, and for how long the choice is good. */
export interface LiveStops {
  stops: NearbyStop[];
  /** Those of them that could not be checked. */
  unchecked: string[];
  /** Milliseconds since 1970; infinite when no verdict was needed. */
  knownUntil: number;
}

export interface StopCheck {
  /** The remembered verdict on a stop; null when there is none. */
  find(stopId: string): Verdict | null;
  /** Asks upstream; null when it cannot be known at present. */
  check(stopId: string): Promise<Verdict | null>;
  /** False when no call is left for a check. */
  mayCheck(): boolean;
}

/**
 * The nearest `limit` candidates at which something of a wanted mode stops. Candidates come nearest first. They are
 * checked in that order, as many as are needed to fill the limit, until a check fails or no call is left. A stop that
 * could not be checked is kept.
 */
export async function findLiveStops(
  candidates: readonly NearbyStop[],
  wanted: { modes: readonly Mode[]; limit: number },
  stopCheck: StopCheck,
): Promise<LiveStops> {
  const mayServe = ({ modes }: NearbyStop) => modes.length === 0 || modes.some((mode) => wanted.modes.includes(mode));
  // A stop that is listed with other modes only is left out without a check.
  const possible = candidates.map((stop) => withModesSeen(stop, stopCheck.find(stop.stop_id))).filter(mayServe);
  const stops: NearbyStop[] = [];
  const unchecked: string[] = [];
  let hasFailed = false;
  let knownUntil = Number.POSITIVE_INFINITY;

  for (let next = 0; next < possible.length && stops.length < wanted.limit; ) {
    const batch = possible.slice(next, next + Math.min(PARALLEL_CHECKS, wanted.limit - stops.length));
    next += batch.length;
    const mayCheck = () => !hasFailed && stopCheck.mayCheck();
    const verdicts: (Verdict | null)[] = await Promise.all(
      batch.map(({ stop_id }) => stopCheck.find(stop_id) ?? (mayCheck() ? stopCheck.check(stop_id) : null)),
    );
    hasFailed ||= verdicts.includes(null);
    batch.forEach((stop, index) => {
      const verdict = verdicts[index] ?? null;
      const checked = withModesSeen(stop, verdict);
      if (verdict) knownUntil = Math.min(knownUntil, verdict.knownUntil);
      if (verdict?.isAlive === false || !mayServe(checked)) return;
      stops.push(checked);
      if (!verdict) unchecked.push(stop.stop_id);
    });
  }
  return { stops, unchecked, knownUntil };
}

function withModesSeen(stop: NearbyStop, verdict: Verdict | null): NearbyStop {
  return verdict ? { ...stop, modes: sortModes([...stop.modes, ...verdict.modes]) } : stop;
}

import type { Mode } from '../transit/mode.ts';
import { sortModes } from '../transit/mode.ts';
import type { NearbyStop } from './nearby-stop.ts';
import type { Verdict } from './verdict.ts';

/** How many stops are checked at once. */
const PARALLEL_CHECKS = 4;

/** The stops to show, and how long that holds. */
export interface LiveStops {
  stops: NearbyStop[];
  /** False when a stop is shown of which nothing could be known. */
  isCertain: boolean;
  /** Milliseconds since 1970; infinite when no verdict was needed. */
  knownUntil: number;
}

/** What is known of a stop without asking, and what asking tells; null is "cannot be known". */
export interface StopCheck {
  find(stopId: string): Verdict | null;
  check(stopId: string): Promise<Verdict | null>;
}

/**
 * The nearest `limit` candidates at which something of a wanted mode stops. Candidates come nearest first and are
 * checked from there on, no more than needed, and no more once a check has failed. A stop of which nothing can be
 * known is kept.
 */
export async function findLiveStops(
  candidates: readonly NearbyStop[],
  wanted: { modes: readonly Mode[]; limit: number },
  stopCheck: StopCheck,
): Promise<LiveStops> {
  const mayServe = ({ modes }: NearbyStop) => modes.length === 0 || modes.some((mode) => wanted.modes.includes(mode));
  // A stop listed with other modes only is not worth a call.
  const possible = candidates.map((stop) => withModesSeen(stop, stopCheck.find(stop.stop_id))).filter(mayServe);
  const stops: NearbyStop[] = [];
  let hasFailed = false;
  let knownUntil = Number.POSITIVE_INFINITY;

  for (let next = 0; next < possible.length && stops.length < wanted.limit; ) {
    const batch = possible.slice(next, next + Math.min(PARALLEL_CHECKS, wanted.limit - stops.length));
    next += batch.length;
    const verdicts: (Verdict | null)[] = await Promise.all(
      batch.map(({ stop_id }) => stopCheck.find(stop_id) ?? (hasFailed ? null : stopCheck.check(stop_id))),
    );
    hasFailed ||= verdicts.includes(null);
    batch.forEach((stop, index) => {
      const verdict = verdicts[index] ?? null;
      const checked = withModesSeen(stop, verdict);
      if (verdict) knownUntil = Math.min(knownUntil, verdict.knownUntil);
      if (verdict?.isAlive !== false && mayServe(checked)) stops.push(checked);
    });
  }
  return { stops, isCertain: !hasFailed, knownUntil };
}

function withModesSeen(stop: NearbyStop, verdict: Verdict | null): NearbyStop {
  return verdict ? { ...stop, modes: sortModes([...stop.modes, ...verdict.modes]) } : stop;
}

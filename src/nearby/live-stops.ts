import type { Ask } from '../efa/ask.ts';
import { ApiError } from '../errors/api-error.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import type { NearbyStop } from './map.ts';
import type { Verdict } from './verdict.ts';

/** How many stops are checked at once. */
const PARALLEL_CHECKS = 4;

/**
 * `ask` for a limited number of calls; it fails when no call is left. Responses from the cache or from another request's call
 * are not counted.
 */
export function limitCalls(ask: Ask, mostCalls: number): { ask: Ask; callsLeft(): number } {
  let callsLeft = mostCalls;
  return {
    callsLeft: () => callsLeft,
    async ask(request, options) {
      if (callsLeft <= 0) {
        throw new ApiError('UPSTREAM_UNAVAILABLE', 'This request may not cost more calls of the transport authority.');
      }
      callsLeft--;
      const response = await ask(request, options);
      if (freshnessOf(response).source !== 'upstream') callsLeft++;
      return response;
    },
  };
}

/**
 * Finds the nearest `limit` candidates at which something of a wanted mode stops. Candidates come nearest first. They are
 * checked in that order, as many as are needed to fill the limit, until a check fails or no call is left. A stop that
 * could not be checked is kept, and listed in `unchecked`. `knownUntil` says for how long the choice is good, in milliseconds
 * since 1970; it is infinite when no verdict was needed.
 */
export async function findLiveStops(
  candidates: readonly NearbyStop[],
  wanted: { modes: readonly Mode[]; limit: number },
  checks: {
    /** Returns the remembered verdict on a stop; null when there is none. */
    find(stopId: string): Verdict | null;
    /** Asks upstream; null when it cannot be known at present. */
    check(stopId: string): Promise<Verdict | null>;
    /** False when no call is left for a check. */
    mayCheck(): boolean;
  },
): Promise<{ stops: NearbyStop[]; unchecked: string[]; knownUntil: number }> {
  const mayServe = ({ modes }: NearbyStop) => modes.length === 0 || modes.some((mode) => wanted.modes.includes(mode));
  // A stop that is listed with other modes only is left out without a check.
  const possible = candidates.map((stop) => withModesSeen(stop, checks.find(stop.stop_id))).filter(mayServe);
  const stops: NearbyStop[] = [];
  const unchecked: string[] = [];
  let hasFailed = false;
  let knownUntil = Number.POSITIVE_INFINITY;

  for (let next = 0; next < possible.length && stops.length < wanted.limit; ) {
    const batch = possible.slice(next, next + Math.min(PARALLEL_CHECKS, wanted.limit - stops.length));
    next += batch.length;
    const mayCheck = () => !hasFailed && checks.mayCheck();
    const verdicts = await Promise.all(
      batch.map(({ stop_id }) => checks.find(stop_id) ?? (mayCheck() ? checks.check(stop_id) : null)),
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

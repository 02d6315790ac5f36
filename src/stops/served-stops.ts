import { DAY_MS } from '../core/clock.ts';
import { createBoundedMap } from '../core/own-memory.ts';
import { findKnownStop } from '../efa/expected-response.ts';
import { type DepartureMonitorPayload, findUnknownStopMessage } from '../efa/payload.ts';
import { toMode } from '../efa/product-class.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import { parseObject } from '../efa/response/field.ts';
import { parseProduct } from '../efa/response/run.ts';
import { ApiError, nullIfApiError } from '../errors/api-error.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { MODES, type Mode, sortModes } from '../transit/mode.ts';
import { nextWeekdayMorning } from '../transit/time.ts';
import type { NearbyStop } from './around.ts';

/** The number of parallel checks, and the maximum number of upstream calls for one request. */
const PARALLEL_CHECKS = 4;
const MAX_CALLS = 10;
const REMEMBERED_MS = DAY_MS;
const MAX_STOPS = 20_000;

/** The modes that depart from a stop, if any. `knownUntil` is in milliseconds since 1970. */
interface StopActivity {
  isServed: boolean;
  modes: readonly Mode[];
  knownUntil: number;
}

/**
 * Checks with the departure monitor which stops are served if the timetable does not have them. Results are cached for a day.
 */
export class StopChecks {
  readonly #known = createBoundedMap<StopActivity>('checked stops', MAX_STOPS);

  /**
   * Returns the nearest `limit` candidates that a requested mode serves. Candidates must be sorted by distance, and are checked
   * in that order until the limit is filled. After a failed check, or with `mayCall` false, only cached results are used. A stop
   * that cannot be checked is returned, and `knownUntil` is then 0; it is infinite if no result was needed.
   */
  async listServed(
    candidates: readonly NearbyStop[],
    request: { modes: readonly Mode[]; limit: number },
    { queryUpstream, mayCall, now }: { queryUpstream: QueryUpstream; mayCall: boolean; now: number },
  ): Promise<{ stops: NearbyStop[]; knownUntil: number; hasCalled: boolean }> {
    const limited = limitCalls(queryUpstream, mayCall ? MAX_CALLS : 0);
    const mayServe = ({ modes }: NearbyStop) =>
      modes.length === 0 || modes.some((mode) => request.modes.includes(mode));
    // A stop listed with other modes only is dropped without a check.
    const possible = candidates.map((stop) => withModesSeen(stop, this.#find(stop.stop_id, now))).filter(mayServe);
    const stops: NearbyStop[] = [];
    let hasFailed = false;
    let knownUntil = Number.POSITIVE_INFINITY;
    for (let next = 0; next < possible.length && stops.length < request.limit; ) {
      const batch = possible.slice(next, next + Math.min(PARALLEL_CHECKS, request.limit - stops.length));
      next += batch.length;
      const results = await Promise.all(
        batch.map(
          ({ stop_id }) =>
            this.#find(stop_id, now) ?? (hasFailed ? null : this.#check(limited.queryUpstream, stop_id, now)),
        ),
      );
      hasFailed ||= results.includes(null);
      for (const [index, stop] of batch.entries()) {
        const activity = results[index] ?? null;
        const checked = withModesSeen(stop, activity);
        if (activity) knownUntil = Math.min(knownUntil, activity.knownUntil);
        if (activity?.isServed === false || !mayServe(checked)) continue;
        if (!activity) knownUntil = 0;
        stops.push(checked);
      }
    }
    return { stops, knownUntil, hasCalled: limited.callsLeft() < (mayCall ? MAX_CALLS : 0) };
  }

  #find(stopId: string, now: number): StopActivity | null {
    const activity = this.#known.get(stopId);
    return activity && now < activity.knownUntil ? activity : null;
  }

  /**
   * Checks for departures now or, if there are none, on the next weekday morning, because it may be night or a holiday. Null if
   * the check fails.
   */
  async #check(queryUpstream: QueryUpstream, stopId: string, now: number): Promise<StopActivity | null> {
    try {
      for (const at of [null, nextWeekdayMorning(now)]) {
        const { payload } = await queryUpstream({ kind: 'departureMonitor', stopId, modes: MODES, at });
        if (payload.stopEvents.length > 0) return this.#remember(stopId, modesSeen(payload), now);
        // Only two responses prove that nothing departs: the stop's own board is empty, or upstream does not know the stop.
        if (!findKnownStop(payload, stopId) && !findUnknownStopMessage(payload.systemMessages)) return null;
      }
      return this.#remember(stopId, null, now);
    } catch (error) {
      return nullIfApiError(error);
    }
  }

  /** `modes` null means that nothing departs. */
  #remember(stopId: string, modes: readonly Mode[] | null, now: number): StopActivity {
    const knownUntil = now + REMEMBERED_MS;
    const activity = { isServed: modes !== null, modes: modes ?? [], knownUntil };
    this.#known.set(stopId, activity);
    return activity;
  }
}

/** Wraps `queryUpstream` with a limit of calls; it fails when none is left. Cached responses and shared calls are free. */
function limitCalls(
  queryUpstream: QueryUpstream,
  mostCalls: number,
): { queryUpstream: QueryUpstream; callsLeft(): number } {
  let callsLeft = mostCalls;
  return {
    callsLeft: () => callsLeft,
    async queryUpstream(request, options) {
      if (callsLeft <= 0) {
        throw new ApiError('UPSTREAM_UNAVAILABLE', 'This request may not cost more calls of Transport for NSW.');
      }
      callsLeft--;
      const response = await queryUpstream(request, options);
      if (freshnessOf(response).source !== 'upstream') callsLeft++;
      return response;
    },
  };
}

function withModesSeen(stop: NearbyStop, activity: StopActivity | null): NearbyStop {
  return activity ? { ...stop, modes: sortModes([...stop.modes, ...activity.modes]) } : stop;
}

/** Includes cancelled departures, because they show that the stop is served. */
function modesSeen({ stopEvents }: DepartureMonitorPayload): Mode[] {
  return sortModes(
    stopEvents.flatMap((event) => {
      const product = parseProduct(parseObject(parseObject(event)?.transportation)?.product);
      return toMode(product?.class ?? product?.iconId ?? 0) ?? [];
    }),
  );
}

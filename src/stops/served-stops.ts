import { DAY_MS } from '../core/clock.ts';
import { createBoundedMap } from '../core/own-memory.ts';
import type { Ask } from '../efa/ask.ts';
import { findKnownStop } from '../efa/expected-response.ts';
import { type DepartureMonitorPayload, findUnknownStopMessage } from '../efa/payload.ts';
import { findMode } from '../efa/product-class.ts';
import { readObject } from '../efa/response/field.ts';
import { readProduct } from '../efa/response/run.ts';
import { ApiError, nullIfApiError } from '../errors/api-error.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { MODES, type Mode, sortModes } from '../transit/mode.ts';
import { nextWeekdayMorning } from '../transit/time.ts';
import type { NearbyStop } from './around.ts';

/** How many stops are checked at once, and how many calls the checks of one request may cost. */
const PARALLEL_CHECKS = 4;
const MAX_CALLS = 10;
const REMEMBERED_MS = DAY_MS;
const MAX_STOPS = 20_000;

/** Whether something leaves a stop, and of which modes. `knownUntil` is in milliseconds since 1970. */
interface StopActivity {
  isServed: boolean;
  modes: readonly Mode[];
  knownUntil: number;
}

/** Finds out by the departure monitor which stops are in use, where no timetable has them, and remembers it for a day. */
export class StopChecks {
  readonly #known = createBoundedMap<StopActivity>('checked stops', MAX_STOPS);

  /**
   * Finds the nearest `limit` candidates at which something of a wanted mode stops. Candidates come nearest first. They are
   * checked in that order, as many as are needed to fill the limit, until a check fails or no call is left. `mayAsk` false allows
   * no check. A stop that could not be checked is shown; `knownUntil` is then 0. It is infinite when no check was needed.
   */
  async findServed(
    candidates: readonly NearbyStop[],
    wanted: { modes: readonly Mode[]; limit: number },
    { ask, mayAsk, now }: { ask: Ask; mayAsk: boolean; now: Date },
  ): Promise<{ stops: NearbyStop[]; knownUntil: number; hasAsked: boolean }> {
    const limited = limitCalls(ask, mayAsk ? MAX_CALLS : 0);
    const mayServe = ({ modes }: NearbyStop) => modes.length === 0 || modes.some((mode) => wanted.modes.includes(mode));
    // A stop that is listed with other modes only is left out without a check.
    const possible = candidates.map((stop) => withModesSeen(stop, this.#find(stop.stop_id, now))).filter(mayServe);
    const stops: NearbyStop[] = [];
    let hasFailed = false;
    let knownUntil = Number.POSITIVE_INFINITY;
    for (let next = 0; next < possible.length && stops.length < wanted.limit; ) {
      const batch = possible.slice(next, next + Math.min(PARALLEL_CHECKS, wanted.limit - stops.length));
      next += batch.length;
      const found = await Promise.all(
        batch.map(
          ({ stop_id }) => this.#find(stop_id, now) ?? (hasFailed ? null : this.#check(limited.ask, stop_id, now)),
        ),
      );
      hasFailed ||= found.includes(null);
      for (const [index, stop] of batch.entries()) {
        const activity = found[index] ?? null;
        const checked = withModesSeen(stop, activity);
        if (activity) knownUntil = Math.min(knownUntil, activity.knownUntil);
        if (activity?.isServed === false || !mayServe(checked)) continue;
        if (!activity) knownUntil = 0;
        stops.push(checked);
      }
    }
    return { stops, knownUntil, hasAsked: limited.callsLeft() < (mayAsk ? MAX_CALLS : 0) };
  }

  #find(stopId: string, now: Date): StopActivity | null {
    const activity = this.#known.get(stopId);
    return activity && now.getTime() < activity.knownUntil ? activity : null;
  }

  /**
   * Requests what leaves a stop now and, when nothing does, on the next weekday morning, because the present may be night or a
   * holiday. Null when that cannot be known at present.
   */
  async #check(ask: Ask, stopId: string, now: Date): Promise<StopActivity | null> {
    try {
      for (const at of [null, nextWeekdayMorning(now)]) {
        const { payload } = await ask({ kind: 'departureMonitor', stopId, modes: MODES, at });
        if (payload.stopEvents.length > 0) return this.#remember(stopId, modesSeen(payload), now);
        // Only these speak against the stop: its own board without departures, and that upstream does not know it.
        if (!findKnownStop(payload, stopId) && !findUnknownStopMessage(payload.systemMessages)) return null;
      }
      return this.#remember(stopId, null, now);
    } catch (error) {
      return nullIfApiError(error);
    }
  }

  /** `modes` null: nothing leaves. */
  #remember(stopId: string, modes: readonly Mode[] | null, now: Date): StopActivity {
    const knownUntil = now.getTime() + REMEMBERED_MS;
    const activity = { isServed: modes !== null, modes: modes ?? [], knownUntil };
    this.#known.set(stopId, activity);
    return activity;
  }
}

/** `ask` for a limited number of calls; it fails when none is left. Responses of the cache and of other requests' calls are free. */
function limitCalls(ask: Ask, mostCalls: number): { ask: Ask; callsLeft(): number } {
  let callsLeft = mostCalls;
  return {
    callsLeft: () => callsLeft,
    async ask(request, options) {
      if (callsLeft <= 0) {
        throw new ApiError('UPSTREAM_UNAVAILABLE', 'This request may not cost more calls of Transport for NSW.');
      }
      callsLeft--;
      const response = await ask(request, options);
      if (freshnessOf(response).source !== 'upstream') callsLeft++;
      return response;
    },
  };
}

function withModesSeen(stop: NearbyStop, activity: StopActivity | null): NearbyStop {
  return activity ? { ...stop, modes: sortModes([...stop.modes, ...activity.modes]) } : stop;
}

/** Cancelled departures count too, because they show that the stop is in use. */
function modesSeen({ stopEvents }: DepartureMonitorPayload): Mode[] {
  return sortModes(
    stopEvents.flatMap((event) => {
      const product = readProduct(readObject(readObject(event)?.transportation)?.product);
      return findMode(product?.class ?? product?.iconId ?? 0) ?? [];
    }),
  );
}

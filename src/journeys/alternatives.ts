import { createDestinationFilter } from '../boards/destination-filter.ts';
import { callsOfRun } from '../boards/run-calls.ts';
import { listBoardStops } from '../boards/scheduled.ts';
import {
  type BoardCall,
  type DepartureParts,
  listLiveCalls,
  plannedCall,
  toDeparture,
  withAlerts,
} from '../boards/scheduled-departure.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import type { LiveTimetable } from '../realtime/live-timetable.ts';
import type { Timetable } from '../timetable/timetable.ts';
import type { FindAlerts } from '../transit/alert.ts';
import type { RunCall } from '../transit/call.ts';
import { type Departure, leavesAt } from '../transit/departure.ts';
import {
  isMissed,
  type Journey,
  LEG_DEFAULTS,
  type Leg,
  type LegEnd,
  listChanges,
  rideMs,
} from '../transit/journey.ts';
import type { Mode } from '../transit/mode.ts';
import { distanceMetres } from '../transit/place.ts';
import { isSameRun } from '../transit/run-id.ts';
import { bestKnown, toMinute } from '../transit/time.ts';
import { walkSeconds } from '../transit/walking.ts';
import type { RiderQuery } from './source.ts';
import { endAt } from './timetable.ts';

/** A departure that does the same leg: it boards and alights at the same stops or stations. */
export interface Alternative {
  departure: Departure;
  /** When its riders alight. */
  arrival: NonNullable<RunCall['arrival']>;
}

/** What a rider accepts, as for the journey itself. */
type Wanted = Omit<RiderQuery, 'at'> & { withoutBooking: boolean };

interface AlternativeSources {
  live: LiveTimetable;
  listAlerts: FindAlerts;
  now: number;
}

/** At most this many departures are listed for each ride. */
const MOST = 2;
/** Departures are looked up in growing windows; the last one is the limit. */
const WINDOWS_MS = [2 * HOUR_MS, 8 * HOUR_MS, DAY_MS] as const;
/** A vehicle leaves at most this long before its plan. */
const EARLIEST_MS = HOUR_MS / 2;
/** Two departures with the same trip ID within this time are the same run, because an ID occurs once a day. */
const SAME_RUN_MS = 12 * HOUR_MS;

/**
 * Finds the next departures, by best-known times, that do the same leg without breaking the rest of the journey: the changes
 * before and after the ride are not missed. Null if the timetable lacks a stop of the ride.
 */
export function findAlternatives(
  { legs }: Journey,
  leg: Leg,
  { wanted, live, listAlerts: findAlerts, now }: AlternativeSources & { wanted: Wanted },
): Alternative[] | null {
  const { timetable } = live;
  const stops = stopsOf(timetable, leg.origin);
  const to = new Set(stopsOf(timetable, leg.destination));
  if (stops.length === 0 || to.size === 0) return null;
  const from = bestKnown(leg.origin);
  const nextRide = legs.slice(legs.indexOf(leg) + 1).find(isRide);
  const latest = Math.min(
    from + (WINDOWS_MS.at(-1) as number),
    nextRide ? bestKnown(nextRide.origin) + EARLIEST_MS : Number.POSITIVE_INFINITY,
  );
  const parts: DepartureParts = { live, now, isArrival: false, stops: new Set(stops) };
  const found: Alternative[] = [];
  const seen = new Set<string>();
  for (const call of listCalls(parts, { from, latest, to, modes: wanted.modes })) {
    const key = `${call.tripId()} ${call.ref?.day}`;
    const alternative = seen.has(key) ? null : findRide(call, key);
    if (!alternative) continue;
    seen.add(key);
    if (found.push(alternative) === MOST) break;
  }
  return found;

  /** Null if the rider cannot take it. */
  function findRide(call: BoardCall, key: string): Alternative | null {
    const planned = toDeparture(parts, call, key);
    const { state, access, plannedAt } = planned;
    if (state.kind === 'cancelled' || state.kind === 'departed' || leavesAt(planned) < from) return null;
    if (isSameRide(leg, planned) || (wanted.isAccessible && access.wheelchairs === false)) return null;
    const { calls, sources } = callsOfRun(live, call.run());
    const boarding = call.call();
    const at = calls.findIndex(
      ({ isCancelled, arrival, ids }, index) =>
        index > call.index &&
        !isCancelled &&
        arrival !== null &&
        sources[index]?.call.mayAlight === true &&
        ids.some((id) => to.has(timetable.findStop(id) ?? -1)),
    );
    const [alights, alighting] = [calls[at], sources[at]?.call];
    if (!boarding.mayBoard || !alights?.arrival || !alighting) return null;
    if (wanted.withoutBooking && (boarding.mustBookToBoard || alighting.mustBookToAlight)) return null;
    const boards = calls[call.index] as RunCall;
    const time = { plannedAt, realtimeAt: state.kind === 'live' ? leavesAt(planned) : null };
    const origin = endAt(timetable, boards, time);
    const destination = endAt(timetable, alights, alights.arrival);
    const ride = { ...leg, origin, destination, durationMs: rideMs(origin, destination), isCancelled: false };
    if (!isPossibleWith(ride)) return null;
    const station = timetable.stop(timetable.stationOf(timetable.getStop(planned.stopId)));
    return { departure: withAlerts(findAlerts, planned, station.id), arrival: alights.arrival };
  }

  /** Whether the changes to and from the ride hold, rated like those of the journey. */
  function isPossibleWith(ride: Leg): boolean {
    const index = legs.indexOf(leg);
    const beforeIndex = legs.findLastIndex((other, at) => at < index && isRide(other));
    const nextIndex = legs.findIndex((other, at) => at > index && isRide(other));
    const [before, next] = [legs[beforeIndex], legs[nextIndex]];
    const hasMoved = (end: 'origin' | 'destination') => ride[end].stopId !== leg[end].stopId;
    const changed = [
      ...(before ? [before, ...walks(before, ride, legs.slice(beforeIndex + 1, index), hasMoved('origin'))] : []),
      ride,
      ...(next ? [...walks(ride, next, legs.slice(index + 1, nextIndex), hasMoved('destination')), next] : []),
    ];
    const leastMs = (wanted.choices?.minChange ?? 0) * MINUTE_MS;
    return listChanges({ legs: changed }).every(
      (change) => !isMissed(change) && change.walkMs + change.spareMs >= leastMs,
    );
  }

  /** Returns the journey's own walks. If the ride has moved to another platform, returns a straight walk from or to that. */
  function walks({ destination: from }: Leg, { origin: to }: Leg, own: readonly Leg[], hasMoved: boolean) {
    const durationMs = walkSeconds(distanceMetres(from.position, to.position), wanted.choices) * SECOND_MS;
    return hasMoved ? [{ ...LEG_DEFAULTS, origin: from, destination: to, durationMs }] : own;
  }
}

function isRide({ mode }: Leg): boolean {
  return mode !== 'walk';
}

/** All platforms of the station, else the stop alone. Empty if the timetable lacks it. */
function stopsOf(timetable: Timetable, { stopId, parentId }: LegEnd): readonly number[] {
  const index = timetable.findStop(stopId);
  return index === null ? listBoardStops(timetable, parentId ?? stopId) : timetable.boardStops(index);
}

/** Yields the departures that call at a stop of `to`, by best-known times. Runs that no feed has are read window by window. */
function* listCalls(
  parts: DepartureParts,
  { from, latest, to, modes }: { from: number; latest: number; to: ReadonlySet<number>; modes: readonly Mode[] },
): Generator<BoardCall> {
  const { live } = parts;
  const { timetable } = live;
  const filter = createDestinationFilter(live, to);
  const range = { from: toMinute(from), until: latest, isByBestTime: true };
  const ofFeeds = listLiveCalls(parts, range, ({ mode }) => modes.includes(mode));
  let pending = [...ofFeeds].filter((call) => filter.isLeftTo(call));
  let start = toMinute(from);
  for (const windowMs of WINDOWS_MS) {
    const end = Math.min(from + windowMs, latest);
    if (end <= start) return;
    const refs = timetable.departures([...parts.stops], start, end, {
      modes,
      isArrival: false,
      accepts: (pattern, position) => filter.mayGoThere(pattern, position),
      acceptsRun: (trip, day) => live.find(trip, day) === null,
    });
    pending = [...pending, ...refs.map((ref) => plannedCall(parts, ref))].sort(byTime);
    const certain = pending.filter(({ bestAt }) => bestAt < end);
    yield* certain;
    pending = pending.slice(certain.length);
    start = end;
  }
}

function byTime(one: BoardCall, other: BoardCall): number {
  return one.bestAt - other.bestAt || one.plannedAt - other.plannedAt;
}

/** Whether the departure is the ride itself. Some files have no run IDs; then mode, route and time decide. */
function isSameRide({ mode, runId, route, origin }: Leg, departure: Departure): boolean {
  const plannedAt = toMinute(origin.plannedAt);
  if (runId !== null && departure.runId !== null) {
    return isSameRun(departure.runId, runId) && Math.abs(departure.plannedAt - plannedAt) < SAME_RUN_MS;
  }
  return departure.mode === mode && departure.route === route && Math.abs(departure.plannedAt - plannedAt) < MINUTE_MS;
}

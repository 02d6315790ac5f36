import { MINUTE_MS } from '../core/clock.ts';
import {
  type LiveCall,
  type LiveRun,
  type LiveTimetable,
  publicTripId,
  type RunFacts,
  stateOfCall,
} from '../realtime/live-timetable.ts';
import { usualOccupancy } from '../realtime/occupancy.ts';
import type { Snapshot } from '../realtime/snapshot.ts';
import type { CallRef, Timetable, TimetableRoute } from '../timetable/timetable.ts';
import type { FindAlerts } from '../transit/alert.ts';
import { type Departure, leavesAt } from '../transit/departure.ts';
import { toMinute } from '../transit/time.ts';
import { UNKNOWN_ACCESS } from '../transit/vehicle-access.ts';
import { describeHeadway } from './headway.ts';
import { findThroughHeadsign } from './run-calls.ts';

const MINUTE_SECONDS = 60;

/** The data that departures or arrivals of one board share. Times are in milliseconds since 1970. */
export interface DepartureParts {
  live: LiveTimetable;
  /** The platforms of the board's stop. */
  stops: ReadonlySet<number>;
  isArrival: boolean;
  now: number;
}

/** A call that a board may show. It becomes a departure only if it is shown, because most are not. Times are in milliseconds since 1970. */
export interface BoardCall {
  /** Rounded down to the minute. */
  plannedAt: number;
  /** Live, else planned. */
  bestAt: number;
  route: TimetableRoute;
  tripId(): string;
  /** The stop in the departure's key: the planned one, which does not change. */
  keyStop: number;
  /** The index of the call among the calls of its run. */
  index: number;
  headsign(): string;
  /** The trip in the timetable and its service day; null for a run that only a feed has. */
  ref: { trip: number; day: number } | null;
  /** Whether the vehicle calls at one of these stops later in its run. For a cancelled call, all planned later calls count. */
  callsLaterAt(stops: ReadonlySet<number>): boolean;
  run(): LiveRun;
  /** These fields of `run()`, without its cost. */
  facts: RunFacts;
  call(): LiveCall;
}

/** Whether a pattern calls at one of these stops, from a position on. */
export function isServed(timetable: Timetable, pattern: number, from: number, stops: ReadonlySet<number>): boolean {
  return timetable.stopsOf(pattern).some((stop, position) => position >= from && stops.has(stop));
}

/** A call of a run that no feed has. */
export function plannedCall({ live }: DepartureParts, ref: CallRef): BoardCall {
  const { timetable } = live;
  const { trip, day, position } = ref;
  const plannedAt = toMinute(ref.plannedAt);
  return {
    plannedAt,
    bestAt: plannedAt,
    route: timetable.routeOf(timetable.patternOf(trip)),
    tripId: () => timetable.tripIdOf(trip),
    keyStop: live.plannedStop(trip, position),
    index: position,
    headsign: () => timetable.headsignAt(ref),
    ref,
    callsLaterAt: (stops) => isServed(timetable, timetable.patternOf(trip), position + 1, stops),
    run: () => live.run(trip, day),
    facts: { like: trip, isCancelled: false, source: null },
    call: () => live.plannedCall(trip, day, position),
  };
}

/** The time range of a board, in milliseconds since 1970. */
export interface BoardRange {
  from: number;
  until: number;
  /** Whether the board selects by best times. Further pages select by planned ones. */
  isByBestTime: boolean;
}

/** Lists the calls at the board's stops of runs in feeds, including planned calls that the vehicle does not make today. */
export function* listLiveCalls(
  parts: DepartureParts,
  { from, until, isByBestTime }: BoardRange,
  isOnRoute: (route: TimetableRoute) => boolean,
): Generator<BoardCall> {
  const { live, isArrival, stops: here } = parts;
  for (const snapshot of live.snapshots) {
    const { visits, visitRun, stop, firstCall, callCount, ...times } = snapshot.sections;
    const planned = isArrival ? times.plannedArrival : times.plannedDeparture;
    const best = isArrival ? times.arrival : times.departure;
    const earliest = snapshot.secondsAt(from) - MINUTE_SECONDS;
    const latest = snapshot.secondsAt(until) + MINUTE_SECONDS;
    for (const at of here) {
      const [first, end] = snapshot.visitsAt(at);
      for (let visit = first; visit < end; visit++) {
        const call = visits.valueAt(visit);
        // A quick check with a margin, because most calls are outside the range. The exact one follows below.
        const isTimed = isByBestTime && isLiveHere(parts, snapshot, call);
        if ((isTimed ? best : planned).valueAt(call) < earliest || planned.valueAt(call) >= latest) continue;
        const run = visitRun.valueAt(visit);
        const index = call - firstCall.valueAt(run);
        // The first call is no arrival, and the last one no departure.
        if (index === (isArrival ? 0 : callCount.valueAt(run) - 1)) continue;
        const callsAt = stop.valueAt(call);
        // A call that has moved from here to another platform of the stop is listed there.
        if (callsAt !== at && here.has(callsAt)) continue;
        if (!live.mayUse({ snapshot, run }, call, isArrival)) continue;
        const route = live.routeOf(snapshot, run);
        if (!isOnRoute(route)) continue;
        const one = liveCall(parts, { snapshot, run, call, index, route });
        if ((isByBestTime ? one.bestAt : one.plannedAt) >= from && one.plannedAt < until) yield one;
      }
    }
  }
}

/**
 * Whether the board shows a live time for a call: the vehicle stops there, riders may board (for arrivals: alight), and its run does
 * not end there early (for arrivals: begin there late).
 */
function isLiveHere({ stops, isArrival }: DepartureParts, snapshot: Snapshot, call: number): boolean {
  const isUsable = snapshot.mayUse(call, isArrival) && !snapshot.isCut(call, isArrival);
  return snapshot.isLive(call) && isUsable && stops.has(snapshot.sections.stop.valueAt(call));
}

function liveCall(
  parts: DepartureParts,
  at: { snapshot: Snapshot; run: number; call: number; index: number; route: TimetableRoute },
): BoardCall {
  const { live, isArrival } = parts;
  const { snapshot, run, call, index, route } = at;
  const { sections } = snapshot;
  const { timetable } = live;
  const trip = sections.runTrip.valueAt(run);
  const position = sections.position.valueAt(call);
  const planned = isArrival ? sections.plannedArrival : sections.plannedDeparture;
  const best = isArrival ? sections.arrival : sections.departure;
  const plannedAt = toMinute(snapshot.momentOf(planned.valueAt(call)));
  const isLive = isLiveHere(parts, snapshot, call) && !snapshot.isCancelled(run);
  return {
    plannedAt,
    bestAt: isLive ? snapshot.momentOf(best.valueAt(call)) : plannedAt,
    route,
    tripId: () => (trip >= 0 ? timetable.tripIdOf(trip) : snapshot.addedId(run)),
    keyStop: trip >= 0 && position >= 0 ? live.plannedStop(trip, position) : sections.stop.valueAt(call),
    index,
    headsign: () => live.earlyEndOf(snapshot, run, isArrival ? call : call + 1) ?? live.headsignAt(snapshot, run, call),
    ref: trip >= 0 ? { trip, day: sections.runDay.valueAt(run) } : null,
    callsLaterAt(stops) {
      const [, end] = snapshot.callsOf(run);
      const isCancelledHere = snapshot.isCancelled(run) || snapshot.isSkipped(call);
      for (let later = call + 1; later < end; later++) {
        if (stops.has(sections.stop.valueAt(later)) && (isCancelledHere || !snapshot.isSkipped(later))) return true;
      }
      return false;
    },
    run: () => live.open({ snapshot, run }),
    facts: {
      like: snapshot.likeOf(run),
      isCancelled: snapshot.isCancelled(run),
      source: { snapshot, run },
    },
    call: () => live.callOf(snapshot, trip, call),
  };
}

/** Converts a call of a board to a departure. */
export function toDeparture(parts: DepartureParts, boardCall: BoardCall, key: string): Departure {
  const { live, stops, isArrival, now } = parts;
  const { timetable } = live;
  const { plannedAt, facts, ref, route: line } = boardCall;
  const call = boardCall.call();
  const isHere = stops.has(call.stop);
  const stop = timetable.stop(isHere ? call.stop : call.plannedStop);
  const { lineId, mode, route, network } = line;
  const access = facts.like < 0 ? UNKNOWN_ACCESS : timetable.vehicleAccess(facts.like);
  const state = stateOfCall(facts, call, { isArrival, isHere });
  const isOver = state.kind === 'departed' || (state.kind === 'live' && state.leavesAt < now - MINUTE_MS);
  const headsign = boardCall.headsign();
  const isPlannedAhead = plannedAt >= now - MINUTE_MS;
  return {
    key,
    runId: publicTripId(line, boardCall.tripId()),
    lineId,
    mode,
    route,
    network,
    destination: headsign,
    throughTo: isArrival || !boardCall.ref ? null : findThroughHeadsign(live, [boardCall.ref], headsign),
    ...(isArrival && { origin: originOf(live, facts) }),
    stopId: stop.id,
    platform: stop.platform,
    plannedAt,
    isWheelchairAccessible: access.wheelchairs ?? stop.isWheelchairAccessible ?? false,
    access,
    isStopAccessible: stop.isWheelchairAccessible,
    alerts: describeHeadway(timetable, facts, state.kind === 'live'),
    asOf: now,
    // A vehicle that has left is shown if it was planned in the past, because boards for a past time list it.
    state: isOver && isPlannedAhead ? { kind: 'departed' } : state.kind === 'departed' ? { kind: 'scheduled' } : state,
    occupancy: state.kind === 'live' ? (state.occupancy ?? null) : null,
    usualOccupancy:
      isArrival || ref === null || state.kind === 'cancelled' ? null : usualOccupancy(timetable, ref, call.position),
  };
}

/** The first stop that the run serves today; that of the timetable if it serves none. */
function originOf({ timetable }: LiveTimetable, { like, source }: BoardCall['facts']): string | null {
  const planned = like >= 0 ? timetable.stopsOf(timetable.patternOf(like))[0] : undefined;
  const first = source?.snapshot.firstStopOf(source.run) ?? planned;
  return first === undefined ? null : timetable.stop(timetable.stationOf(first)).name;
}

/** Returns the departure with the alerts of its line and stop; `station` is the ID of the stop or its station. */
export function withAlerts(listAlerts: FindAlerts, departure: Departure, station: string): Departure {
  const { stopId, runId: tripId, access, isStopAccessible } = departure;
  const alerts = listAlerts({ ...departure, tripId, stopIds: [stopId, station], at: leavesAt(departure) });
  const isRestricted = alerts.some(({ restrictsWheelchairs }) => restrictsWheelchairs);
  return {
    ...departure,
    alerts: [...alerts.map(({ text }) => text), ...departure.alerts],
    isWheelchairAccessible: access.wheelchairs ?? (isStopAccessible === true && !isRestricted),
  };
}

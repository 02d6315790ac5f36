import { MINUTE_MS } from '../core/clock.ts';
import { type LiveRun, type LiveTimetable, publicTripId, stateOfCall } from '../realtime/live-timetable.ts';
import type { Snapshot } from '../realtime/snapshot.ts';
import { MAY_ALIGHT, MAY_BOARD } from '../timetable/import/schedule-file.ts';
import type { CallRef, Timetable, TimetableRoute, TimetableStop } from '../timetable/timetable.ts';
import type { FindAlerts } from '../transit/alert.ts';
import { type Departure, leavesAt } from '../transit/departure.ts';
import type { Mode } from '../transit/mode.ts';
import { toMinute } from '../transit/time.ts';

/** What departures (or arrivals) are made from. */
export interface DepartureParts {
  live: LiveTimetable;
  /** The platforms of the board's stop. */
  stops: ReadonlySet<number>;
  isArrival: boolean;
  now: number;
}

/** A call on a board before it becomes a departure: most are never shown. Moments are milliseconds since 1970. */
export interface BoardCall {
  /** To the minute. */
  plannedAt: number;
  /** Live, else planned. */
  bestAt: number;
  route: TimetableRoute;
  tripId: string;
  /** The stop in the departure's key: the planned one, which does not change. */
  keyStop: number;
  /** The index of the call among the calls of its run. */
  index: number;
  headsign(): string;
  run(): LiveRun;
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
    tripId: timetable.tripIdOf(trip),
    keyStop: live.plannedStop(trip, position),
    index: position,
    headsign: () => timetable.headsignAt(ref),
    run: () => live.run(trip, day),
  };
}

/** Lists the calls at these stops of runs in feeds, also where the vehicle was to call but does not. */
export function* listLiveCalls(
  parts: DepartureParts,
  stops: readonly number[],
  modes: readonly Mode[],
): Generator<BoardCall> {
  const { live, isArrival, stops: here } = parts;
  for (const snapshot of live.snapshots) {
    const { visits, visitRun, stop, position, firstCall, callCount, runTrip } = snapshot.sections;
    for (const at of stops) {
      const [first, end] = snapshot.visitsAt(at);
      for (let visit = first; visit < end; visit++) {
        const call = visits[visit] as number;
        const run = visitRun[visit] as number;
        const index = call - (firstCall[run] as number);
        // The first call is no arrival, and the last one no departure.
        if (index === (isArrival ? 0 : (callCount[run] as number) - 1)) continue;
        const callsAt = stop[call] as number;
        // A call that has moved from here to another platform of the stop is listed there.
        if (callsAt !== at && here.has(callsAt)) continue;
        const trip = runTrip[run] as number;
        if (trip >= 0 && !mayUse(live.timetable, trip, position[call] as number, isArrival)) continue;
        const route = routeOfRun(live, snapshot, run);
        if (modes.includes(route.mode)) yield liveCall(parts, { snapshot, run, call, index, route });
      }
    }
  }
}

function mayUse({ sections }: Timetable, trip: number, position: number, isArrival: boolean): boolean {
  if (position < 0) return true;
  const { patternCalls, tripPattern, callFlags } = sections;
  const flags = callFlags[(patternCalls[tripPattern[trip] as number] as number) + position] as number;
  return (flags & (isArrival ? MAY_ALIGHT : MAY_BOARD)) !== 0;
}

function routeOfRun({ timetable }: LiveTimetable, { sections }: Snapshot, run: number): TimetableRoute {
  const trip = sections.runTrip[run] as number;
  return trip >= 0
    ? timetable.routeOf(timetable.patternOf(trip))
    : timetable.routeAt(sections.runRoute[run] as number);
}

function liveCall(
  { live, isArrival }: DepartureParts,
  at: { snapshot: Snapshot; run: number; call: number; index: number; route: TimetableRoute },
): BoardCall {
  const { snapshot, run, call, index, route } = at;
  const { sections } = snapshot;
  const { timetable } = live;
  const trip = sections.runTrip[run] as number;
  const position = sections.position[call] as number;
  const planned = isArrival ? sections.plannedArrival[call] : sections.plannedDeparture[call];
  const best = isArrival ? sections.arrival[call] : sections.departure[call];
  const plannedAt = toMinute(snapshot.momentOf(planned as number));
  const isLive = snapshot.isLive(call) && !snapshot.isCancelled(run);
  return {
    plannedAt,
    bestAt: isLive ? snapshot.momentOf(best as number) : plannedAt,
    route,
    tripId: trip >= 0 ? timetable.tripIdOf(trip) : snapshot.addedId(run),
    keyStop: trip >= 0 && position >= 0 ? live.plannedStop(trip, position) : (sections.stop[call] as number),
    index,
    headsign: () =>
      trip >= 0 && position >= 0
        ? timetable.headsignAt({ trip, position })
        : headsignOf(live, live.open({ snapshot, run }), position),
    run: () => live.open({ snapshot, run }),
  };
}

/** The headsign at a call; of a run that only the feed has, the stop where it ends. */
export function headsignOf({ timetable }: LiveTimetable, run: LiveRun, position: number): string {
  const { trip, like, calls } = run;
  if (trip >= 0 && position >= 0) return timetable.headsignAt({ trip, position });
  if (like >= 0) return timetable.trip(like).headsign;
  const end = calls.findLast(({ isSkipped }) => !isSkipped) ?? calls.at(-1);
  return end ? timetable.stop(timetable.stationOf(end.stop)).name : '';
}

/** Makes the departure of a call. */
export function toDeparture(parts: DepartureParts, boardCall: BoardCall, key: string): Departure {
  const { live, stops, isArrival, now } = parts;
  const { timetable } = live;
  const { plannedAt, index } = boardCall;
  const run = boardCall.run();
  const call = run.calls[index] as LiveRun['calls'][0];
  const isHere = stops.has(call.stop);
  const stop = timetable.stop(isHere ? call.stop : call.plannedStop);
  const { lineId, mode, route, network } = run.route;
  const isVehicleAccessible = run.like < 0 ? null : timetable.trip(run.like).isWheelchairAccessible;
  const state = stateOfCall(run, call, { isArrival, isHere });
  const isOver = state.kind === 'departed' || (state.kind === 'live' && state.leavesAt < now - MINUTE_MS);
  const isPlannedAhead = plannedAt >= now - MINUTE_MS;
  return {
    key,
    runId: publicTripId(run),
    lineId,
    mode,
    route,
    network,
    destination: boardCall.headsign(),
    ...(isArrival && { origin: originOf(live, run) }),
    stopId: stop.id,
    platform: stop.platform,
    plannedAt,
    ...accessAt(stop, isVehicleAccessible),
    alerts: [],
    asOf: now,
    // A board for a past time shows vehicles that have left.
    state: isOver ? (isPlannedAhead ? { kind: 'departed' } : pastState(state)) : state,
    occupancy: state.kind === 'live' ? (state.occupancy ?? null) : null,
  };
}

function pastState(state: Departure['state']): Departure['state'] {
  return state.kind === 'departed' ? { kind: 'scheduled' } : state;
}

function accessAt({ isWheelchairAccessible: isStopAccessible }: TimetableStop, isVehicleAccessible: boolean | null) {
  const isWheelchairAccessible = isVehicleAccessible ?? isStopAccessible ?? false;
  return { isWheelchairAccessible, isVehicleAccessible, isStopAccessible };
}

function originOf({ timetable }: LiveTimetable, { like, calls }: LiveRun): string | null {
  const [first] = like >= 0 ? timetable.stopsOf(timetable.patternOf(like)) : [calls[0]?.stop];
  return first === undefined ? null : timetable.stop(timetable.stationOf(first)).name;
}

/** Returns the departure with the alerts of its line and stop; `station` is the ID of the stop or its station. */
export function withAlerts(findAlerts: FindAlerts, departure: Departure, station: string): Departure {
  const { stopId, runId: tripId, isVehicleAccessible, isStopAccessible } = departure;
  const alerts = findAlerts({ ...departure, tripId, stopIds: [stopId, station], at: leavesAt(departure) });
  const isRestricted = alerts.some(({ restrictsWheelchairs }) => restrictsWheelchairs);
  return {
    ...departure,
    alerts: alerts.map(({ text }) => text),
    isWheelchairAccessible: isVehicleAccessible ?? (isStopAccessible === true && !isRestricted),
  };
}

import { MINUTE_MS } from '../core/clock.ts';
import { toOccupancy } from '../realtime/feed/feed.ts';
import type { AddedCall, OverlaidCall } from '../realtime/overlay.ts';
import { filesOfFeed } from '../realtime/polling/feed-source.ts';
import { SCHEDULE_FILES } from '../timetable/schedule-files.ts';
import type { CallRef, Timetable, TimetableRoute, TimetableStop, TimetableTrip } from '../timetable/timetable.ts';
import type { FindAlerts } from '../transit/alert.ts';
import { type Departure, leavesAt } from '../transit/departure.ts';
import { toMinute } from '../transit/time.ts';

/** What departures (or arrivals) are made from. */
export interface DepartureParts {
  timetable: Timetable;
  /** The platforms of the board's stop. */
  stopIds: ReadonlySet<string>;
  isArrival: boolean;
  now: number;
}

/** Makes the departure of a planned call. */
export function plannedDeparture(
  parts: DepartureParts,
  { key, ref, trip, stop }: { key: string; ref: CallRef; trip: TimetableTrip; stop: TimetableStop },
): Departure {
  const { timetable, isArrival } = parts;
  return {
    ...departureAt(stop, trip, trip.isWheelchairAccessible, parts.now),
    key,
    // The bundle of all operators has its own identifiers, which neither the feeds nor the trip planner use.
    runId: SCHEDULE_FILES[trip.file].isBundle ? null : trip.tripId,
    destination: timetable.headsignAt(ref),
    ...(isArrival && { origin: originOf(timetable, ref.trip) }),
    plannedAt: toMinute(ref.plannedAt),
    occupancy: null,
    state: { kind: 'scheduled' },
  };
}

/** Makes the departure of a call that only a feed has. Null if the timetable has no such line. */
export function addedDeparture({ timetable, isArrival, now }: DepartureParts, added: AddedCall): Departure | null {
  const { trip, update, source, headerAt } = added;
  const index = update.stopId === null ? null : timetable.findStop(update.stopId);
  const files = filesOfFeed(source);
  const [known] = timetable.findTrips(trip.tripId, files);
  const planned = known === undefined ? null : timetable.trip(known);
  // A replaced run that the timetable lacks is a train without passengers, or also in the feed of TrainLink.
  const isLeftOut = planned === null && trip.relationship === 'REPLACEMENT';
  const line = planned ?? (isLeftOut ? null : timetable.findRoute(trip.routeId, files));
  const end = trip.stopUpdates.findLast(({ relationship }) => relationship !== 'SKIPPED');
  const last = timetable.findStop(end?.stopId ?? '');
  const destination = planned?.headsign ?? (last === null ? null : timetable.stop(timetable.stationOf(last)).name);
  if (index === null || !line || destination === null) return null;
  const stop = timetable.stop(index);
  const plannedAt = toMinute(added.plannedAt);
  const isLive = update.relationship === 'SCHEDULED';
  const leavesAt = isArrival ? added.arrivesAt : added.departsAt;
  return {
    ...departureAt(stop, line, planned?.isWheelchairAccessible ?? null, now),
    key: `${trip.tripId},${stop.id},${plannedAt} 0`,
    runId: trip.tripId,
    destination,
    ...(isArrival && { origin: known === undefined ? null : originOf(timetable, known) }),
    plannedAt,
    occupancy: toOccupancy(update.occupancy),
    state: isLive ? { kind: 'live', leavesAt, headerAt } : { kind: 'scheduled' },
  };
}

function departureAt(
  stop: TimetableStop,
  { lineId, mode, route, network }: TimetableRoute,
  isVehicleAccessible: boolean | null,
  now: number,
) {
  const { id: stopId, platform } = stop;
  const access = accessAt(stop, isVehicleAccessible);
  return { lineId, mode, route, network, stopId, platform, ...access, alerts: [], asOf: now };
}

function accessAt({ isWheelchairAccessible: isStopAccessible }: TimetableStop, isVehicleAccessible: boolean | null) {
  const isWheelchairAccessible = isVehicleAccessible ?? isStopAccessible ?? false;
  return { isWheelchairAccessible, isVehicleAccessible, isStopAccessible };
}

function originOf(timetable: Timetable, trip: number): string | null {
  const [first] = timetable.stopsOf(timetable.patternOf(trip));
  return first === undefined ? null : timetable.stop(timetable.stationOf(first)).name;
}

/** Returns the departure with its state from the feeds. */
export function withLive(
  { timetable, stopIds, now }: DepartureParts,
  departure: Departure,
  { state, movedTo }: OverlaidCall,
): Departure {
  if (state.kind === 'scheduled' && movedTo === null) return departure;
  const index = movedTo === null ? null : timetable.findStop(movedTo);
  const stop = index === null ? null : timetable.stop(index);
  const moved = stop && {
    stopId: stop.id,
    platform: stop.platform ?? (stopIds.has(stop.id) ? null : stop.name),
    ...accessAt(stop, departure.isVehicleAccessible),
  };
  // A board for a past time shows vehicles that have left.
  const hasLeft = state.kind === 'departed' && departure.plannedAt < now - MINUTE_MS;
  return {
    ...departure,
    ...moved,
    state: hasLeft ? { kind: 'scheduled' } : state,
    occupancy: state.kind === 'live' ? (state.occupancy ?? null) : null,
  };
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

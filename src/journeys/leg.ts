import { asksToBook, mapAlerts, mapHints } from '../efa/alerts.ts';
import { mapCall, toCallTime } from '../efa/calls.ts';
import { type EfaLeg, isTimedCall, parseLeg } from '../efa/payload.ts';
import { isWalkClass, toMode } from '../efa/product-class.ts';
import { isCancelled, isTracked, toTimes } from '../efa/realtime.ts';
import { parseRecord } from '../efa/response/record.ts';
import { isOnDemand, toHeadsign, toLineName, toRouteName, toRunId, toVehicleAccess } from '../efa/response/run.ts';
import { mapPath, parseTimedStopPoint, type TimedStopPoint, toOccupancy } from '../efa/stop-point.ts';
import { withBookingNotice } from '../transit/booking.ts';
import type { Call } from '../transit/call.ts';
import type { Carriages } from '../transit/departure.ts';
import { getOrLeaveOut } from '../transit/left-out.ts';
import type { Mode } from '../transit/mode.ts';
import { type Position, pathLengthMetres } from '../transit/place.ts';
import { bestKnown, minutesBetween, type PlannedAndRealtime } from '../transit/time.ts';
import { UNKNOWN_ACCESS, type VehicleAccess } from '../transit/vehicle-access.ts';
import { type KnownPositions, type LegEnd, mapEnds } from './leg-end.ts';

/** A ride or a walk. */
export interface Leg {
  mode: Mode | 'walk';
  /** The run, by its ID in live feeds; null on a walk and if upstream does not report it. */
  runId: string | null;
  /** The line in the timetable; null on a walk and, until it is looked up, if the leg is the trip planner's. */
  lineId: string | null;
  route: string | null;
  lineName: string | null;
  direction: string | null;
  /** The headsign of the last run that the vehicle makes with its riders on board, if it names another place; else null. */
  throughTo: string | null;
  origin: LegEnd;
  destination: LegEnd;
  durationSeconds: number;
  distanceMetres: number | null;
  stops: number;
  /** The predicted load of each carriage at the start of the ride; absent unless it was looked up. */
  carriages?: Carriages;
  /** Maps the calls on demand; empty on a walk, null if upstream does not list them. */
  listCalls(): Call[] | null;
  isLive: boolean;
  /** The ride is cancelled, or does not serve both ends; false on a walk. */
  isCancelled: boolean;
  /** The ride must be booked, and its times are indicative; false on a walk. */
  isOnDemand: boolean;
  /** The ride must be booked, on demand or not; false on a walk. */
  needsBooking: boolean;
  path: Position[];
  /** Reads a better path from disk; absent if there is none. */
  drawPath?: () => Promise<Position[]>;
  /** Disruption alerts, then hints for the ride. */
  alerts: string[];
  access: VehicleAccess;
  /** Upstream's own estimates of a walk; null on a ride. */
  walkEstimate: { start: Date; end: Date } | null;
  /** The walk to the next leg, where upstream reports it with this leg. */
  walkAfter: { durationSeconds: number | null; path: Position[] } | null;
  /** Duration of the walk to this leg, where upstream reports it with this leg. */
  walkBeforeSeconds: number | null;
}

/** The default fields of a leg, as for a walk. */
export const LEG_DEFAULTS: Omit<Leg, 'origin' | 'destination' | 'durationSeconds'> = {
  mode: 'walk',
  runId: null,
  lineId: null,
  route: null,
  lineName: null,
  direction: null,
  throughTo: null,
  distanceMetres: null,
  stops: 0,
  listCalls: () => [],
  isLive: false,
  isCancelled: false,
  isOnDemand: false,
  needsBooking: false,
  path: [],
  alerts: [],
  access: UNKNOWN_ACCESS,
  walkEstimate: null,
  walkAfter: null,
  walkBeforeSeconds: null,
};

/** Maps one leg. Throws `LeftOut`, which leaves out the whole journey, because it would be wrong without this leg. */
export function mapLeg(record: unknown, positions: KnownPositions): Leg {
  const leg = parseRecord(record, parseLeg);
  const { product } = leg.transportation;
  const productClass = getOrLeaveOut(product?.class ?? product?.iconId, 'malformed');
  if (isWalkClass(productClass)) return mapWalk(leg, positions);
  return mapRide(leg, getOrLeaveOut(toMode(productClass), 'unknown product class'), positions);
}

/** Whether the record is a cancelled ride. It may lack fields that `mapLeg` needs. */
export function isCancelledRide(record: unknown): boolean {
  const leg = parseLeg(record);
  return leg !== undefined && isLegCancelled(leg);
}

function isLegCancelled({ isCancelled: flag, realtimeStatus, origin, destination }: EfaLeg): boolean {
  return (
    isCancelled('departure', flag, realtimeStatus, origin.properties?.realtimeStatus) ||
    isCancelled('arrival', flag, destination.properties?.realtimeStatus)
  );
}

function mapRide(leg: EfaLeg, mode: Mode, positions: KnownPositions): Leg {
  const { transportation } = leg;
  const isOnDemandRide = isOnDemand(transportation, leg.properties);
  const stops = listStopsBetween(leg).length;
  const [leaves, arrives] = [toTimes(leg.origin.departure, true), toTimes(leg.destination.arrival, true)];
  const hasLiveTimes =
    isTracked(leg, { isCancelled: isLegCancelled(leg), isOnDemand: isOnDemandRide }) &&
    !passesStopsInNoTime(leaves, arrives, stops);
  const { origin, destination, path } = mapEnds(leg, mode, hasLiveTimes, positions);
  const hints = mapHints(leg.hints, leg.origin.properties?.TravelInCarsMessage);
  const alerts = [...new Set([...mapAlerts(leg.infos), ...hints])];
  return {
    ...LEG_DEFAULTS,
    mode,
    runId: toRunId(transportation.properties),
    route: getOrLeaveOut(toRouteName(transportation), 'no route'),
    lineName: toLineName(transportation),
    direction: toHeadsign(transportation, leg.realtimeStatus),
    origin,
    destination,
    durationSeconds: rideSeconds(origin, destination),
    stops,
    listCalls: () => mapCalls(leg, { mode, isTracked: hasLiveTimes, origin, destination, known: positions }),
    isLive: origin.realtime !== null || destination.realtime !== null,
    isCancelled: isLegCancelled(leg),
    isOnDemand: isOnDemandRide,
    // Only NSW TrainLink's coaches and trains must be booked; on other rides such a text is about something else.
    needsBooking: isOnDemandRide || ((mode === 'coach' || mode === 'train') && asksToBook(alerts)),
    // The path of an on-demand vehicle is unknown until it is booked.
    path: isOnDemandRide ? [origin.position, destination.position] : path,
    alerts: isOnDemandRide ? withBookingNotice(alerts, { isOnDemand: true }) : alerts,
    access: { ...UNKNOWN_ACCESS, wheelchairs: toVehicleAccess(leg.properties, transportation.properties) },
    walkAfter: mapWalkAfter(leg),
    walkBeforeSeconds: leg.footPathInfo.find(({ position }) => position === 'BEFORE')?.duration ?? null,
  };
}

/**
 * Whether the estimates are impossible: the vehicle would pass several stops in no time, on a ride too long for that to be
 * rounding.
 */
function passesStopsInNoTime(
  origin: PlannedAndRealtime | null,
  destination: PlannedAndRealtime | null,
  stopsBetween: number,
): boolean {
  if (!origin?.realtime || !destination?.realtime || stopsBetween === 0) return false;
  return destination.realtime <= origin.realtime && minutesBetween(origin.planned, destination.planned) > 1;
}

function mapWalk(leg: EfaLeg, positions: KnownPositions): Leg {
  const { origin, destination, path } = mapEnds(leg, null, false, positions);
  return {
    ...LEG_DEFAULTS,
    origin,
    destination,
    durationSeconds: Math.max(0, leg.duration ?? rideSeconds(origin, destination)),
    distanceMetres: walkingMetres(leg),
    path,
    alerts: mapAlerts(leg.infos),
    walkEstimate: mapWalkEstimate(leg),
  };
}

/** The duration by best-known times. Upstream's own duration may be older than its estimates. */
export function rideSeconds(origin: LegEnd, destination: LegEnd): number {
  return Math.max(0, minutesBetween(bestKnown(origin), bestKnown(destination)) * 60);
}

/** The reported distance, else the length of the reported path; null without either. */
function walkingMetres({ distance, coords }: EfaLeg): number | null {
  if (distance !== undefined) return Math.max(0, Math.round(distance));
  const path = mapPath(coords);
  return path.length >= 2 ? Math.round(pathLengthMetres(path)) : null;
}

function mapWalkEstimate({ origin, destination }: EfaLeg): Leg['walkEstimate'] {
  const start = toTimes(origin.departure, true)?.realtime;
  const end = toTimes(destination.arrival, true)?.realtime;
  return start && end ? { start, end } : null;
}

function mapWalkAfter({ footPathInfo, interchange }: EfaLeg): Leg['walkAfter'] {
  const after = footPathInfo.find(({ position }) => position === 'AFTER');
  if (!after && !interchange) return null;
  return { durationSeconds: after?.duration ?? null, path: mapPath(interchange?.coords) };
}

/**
 * Lists the stops between the ends. A train also lists stations that it passes, without times; if no stop has a time, all
 * count.
 */
function listStopsBetween({ stopSequence }: EfaLeg): readonly unknown[] {
  const between = stopSequence.slice(1, -1);
  return stopSequence.some(isTimedCall) ? between.filter(isTimedCall) : between;
}

/** Maps the calls of a ride, from one end of the leg to the other. Null if upstream does not list all of them. */
function mapCalls(
  leg: EfaLeg,
  ride: { mode: Mode; isTracked: boolean; origin: LegEnd; destination: LegEnd; known: KnownPositions },
): Call[] | null {
  if (leg.stopSequence.length < 2) return null;
  const { origin, destination } = ride;
  const stop = { ...ride, positionOf: ride.known.inResponse };
  const first = parseTimedStopPoint(leg.stopSequence[0]) ?? leg.origin;
  const last = parseTimedStopPoint(leg.stopSequence.at(-1)) ?? leg.destination;
  const between = listStopsBetween(leg).flatMap((call) => mapCall(parseTimedStopPoint(call), stop) ?? []);
  if (between.length < listStopsBetween(leg).length) return null;
  return [
    {
      ...endCall(origin, leg.origin, first),
      arrival: toCallTime(toTimes(first.arrival, ride.isTracked)),
      departure: toCallTime(origin),
    },
    ...between,
    {
      ...endCall(destination, leg.destination, last),
      arrival: toCallTime(destination),
      departure: toCallTime(toTimes(last.departure, ride.isTracked)),
    },
  ];
}

function endCall({ stopId, name, platform, position }: LegEnd, ...points: readonly TimedStopPoint[]) {
  const occupancy = points.map((point) => toOccupancy(point.properties?.occupancy)).find((level) => level) ?? null;
  return { stopId, name, platform, position, occupancy };
}

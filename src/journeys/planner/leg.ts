import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { asksToBook, mapAlerts, mapHints } from '../../efa/alerts.ts';
import { mapCall } from '../../efa/calls.ts';
import { type EfaLeg, isTimedCall, parseLeg } from '../../efa/payload.ts';
import { isWalkClass, toMode } from '../../efa/product-class.ts';
import { isCancelled, isTracked, toTimes } from '../../efa/realtime.ts';
import { parseRecord } from '../../efa/response/record.ts';
import { isOnDemand, toHeadsign, toLineName, toRouteName, toRunId, toVehicleAccess } from '../../efa/response/run.ts';
import { mapPath, parseTimedStopPoint, type TimedStopPoint, toOccupancy } from '../../efa/stop-point.ts';
import { withBookingNotice } from '../../transit/booking.ts';
import type { Call } from '../../transit/call.ts';
import { LEG_DEFAULTS, type Leg, type LegEnd, rideMs } from '../../transit/journey.ts';
import { getOrLeaveOut } from '../../transit/left-out.ts';
import type { Mode } from '../../transit/mode.ts';
import { pathLengthMetres } from '../../transit/place.ts';
import type { CallTime } from '../../transit/time.ts';
import { UNKNOWN_ACCESS } from '../../transit/vehicle-access.ts';
import { type KnownPositions, mapEnds } from './leg-end.ts';

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
    durationMs: rideMs(origin, destination),
    stops,
    listCalls: () => mapCalls(leg, { mode, isTracked: hasLiveTimes, origin, destination, known: positions }),
    isLive: origin.realtimeAt !== null || destination.realtimeAt !== null,
    isCancelled: isLegCancelled(leg),
    isOnDemand: isOnDemandRide,
    // Only NSW TrainLink's coaches and trains must be booked; on other rides such a text is about something else.
    needsBooking: isOnDemandRide || ((mode === 'coach' || mode === 'train') && asksToBook(alerts)),
    // The path of an on-demand vehicle is unknown until it is booked.
    path: isOnDemandRide ? [origin.position, destination.position] : path,
    alerts: isOnDemandRide ? withBookingNotice(alerts, { isOnDemand: true }) : alerts,
    access: { ...UNKNOWN_ACCESS, wheelchairs: toVehicleAccess(leg.properties, transportation.properties) },
    walkAfter: mapWalkAfter(leg),
    walkBeforeMs: toMs(leg.footPathInfo.find(({ position }) => position === 'BEFORE')?.duration),
  };
}

/**
 * Whether the estimates are impossible: the vehicle would pass several stops in no time, on a ride too long for that to be
 * rounding.
 */
function passesStopsInNoTime(origin: CallTime | null, destination: CallTime | null, stopsBetween: number): boolean {
  if (!origin?.realtimeAt || !destination?.realtimeAt || stopsBetween === 0) return false;
  return destination.realtimeAt <= origin.realtimeAt && destination.plannedAt - origin.plannedAt > MINUTE_MS;
}

function mapWalk(leg: EfaLeg, positions: KnownPositions): Leg {
  const { origin, destination, path } = mapEnds(leg, null, false, positions);
  return {
    ...LEG_DEFAULTS,
    origin,
    destination,
    durationMs: Math.max(0, toMs(leg.duration) ?? rideMs(origin, destination)),
    distanceMetres: walkingMetres(leg),
    path,
    alerts: mapAlerts(leg.infos),
    walkEstimate: mapWalkEstimate(leg),
  };
}

/** The reported distance, else the length of the reported path; null without either. */
function walkingMetres({ distance, coords }: EfaLeg): number | null {
  if (distance !== undefined) return Math.max(0, Math.round(distance));
  const path = mapPath(coords);
  return path.length >= 2 ? Math.round(pathLengthMetres(path)) : null;
}

function mapWalkEstimate({ origin, destination }: EfaLeg): Leg['walkEstimate'] {
  const startsAt = toTimes(origin.departure, true)?.realtimeAt;
  const endsAt = toTimes(destination.arrival, true)?.realtimeAt;
  return startsAt && endsAt ? { startsAt, endsAt } : null;
}

function mapWalkAfter({ footPathInfo, interchange }: EfaLeg): Leg['walkAfter'] {
  const after = footPathInfo.find(({ position }) => position === 'AFTER');
  if (!after && !interchange) return null;
  return { durationMs: toMs(after?.duration), path: mapPath(interchange?.coords) };
}

/** Upstream gives durations in seconds. */
function toMs(seconds: number | undefined): number | null {
  return seconds === undefined ? null : seconds * SECOND_MS;
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
      arrival: toTimes(first.arrival, ride.isTracked),
      departure: timeOf(origin),
    },
    ...between,
    {
      ...endCall(destination, leg.destination, last),
      arrival: timeOf(destination),
      departure: toTimes(last.departure, ride.isTracked),
    },
  ];
}

function timeOf({ plannedAt, realtimeAt }: CallTime): CallTime {
  return { plannedAt, realtimeAt };
}

function endCall({ stopId, name, platform, position }: LegEnd, ...points: readonly TimedStopPoint[]) {
  const occupancy = points.map((point) => toOccupancy(point.properties?.occupancy)).find((level) => level) ?? null;
  return { stopId, name, platform, position, occupancy };
}

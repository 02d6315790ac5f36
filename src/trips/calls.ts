import { type EfaLeg, isTimedCall } from '../efa/payload.ts';
import { findTime, type PlannedAndRealtime } from '../efa/realtime.ts';
import {
  destinationTimes,
  findId,
  findOccupancy,
  findPlatform,
  findPosition,
  findStopName,
  originTimes,
  readTimedStopPoint,
  type TimedStopPoint,
} from '../efa/stop-point.ts';
import type { Occupancy } from '../transit/departure.ts';
import type { Mode } from '../transit/mode.ts';
import type { Position } from '../transit/place.ts';
import type { KnownPositions, LegEnd } from './leg-end.ts';

/** One stop of a ride. Upstream has no arrival where the run begins and no departure where it ends. */
export interface Call extends Pick<LegEnd, 'stopId' | 'name' | 'platform'> {
  position: Position | null;
  arrival: PlannedAndRealtime | null;
  departure: PlannedAndRealtime | null;
  occupancy: Occupancy | null;
}

/** Stations that a train passes are listed too, without times. Where no stop has a time, each of them counts. */
export function listStopsBetween({ stopSequence }: Pick<EfaLeg, 'stopSequence'>): readonly unknown[] {
  const between = stopSequence.slice(1, -1);
  return stopSequence.some(isTimedCall) ? between.filter(isTimedCall) : between;
}

/** The calls of a ride, which begin and end with the ends of the leg. Null where upstream does not list all of them. */
export function mapCalls(
  leg: EfaLeg,
  ride: { mode: Mode; isTracked: boolean; origin: LegEnd; destination: LegEnd; known: KnownPositions },
): Call[] | null {
  if (leg.stopSequence.length < 2) return null;
  const { origin, destination } = ride;
  const first = readTimedStopPoint(leg.stopSequence[0]) ?? leg.origin;
  const last = readTimedStopPoint(leg.stopSequence.at(-1)) ?? leg.destination;
  const between = listStopsBetween(leg).flatMap((stop) => mapCall(readTimedStopPoint(stop), ride) ?? []);
  if (between.length < listStopsBetween(leg).length) return null;
  return [
    {
      ...endCall(origin, leg.origin, first),
      arrival: findTime(destinationTimes(first), ride.isTracked),
      departure: origin,
    },
    ...between,
    {
      ...endCall(destination, leg.destination, last),
      arrival: destination,
      departure: findTime(originTimes(last), ride.isTracked),
    },
  ];
}

function endCall({ stopId, name, platform, position }: LegEnd, ...points: readonly TimedStopPoint[]) {
  const occupancy = points.map((point) => findOccupancy(point.properties?.occupancy)).find((one) => one) ?? null;
  return { stopId, name, platform, position, occupancy };
}

function mapCall(
  point: TimedStopPoint | undefined,
  { mode, isTracked, known }: { mode: Mode; isTracked: boolean; known: KnownPositions },
): Call | null {
  const stopId = point && findId(point);
  if (!stopId) return null;
  const name = findStopName(point) ?? stopId;
  return {
    stopId,
    name,
    platform: findPlatform(point, mode, name),
    position: findPosition(point) ?? known.inResponse(stopId),
    arrival: findTime(destinationTimes(point), isTracked),
    departure: findTime(originTimes(point), isTracked),
    occupancy: findOccupancy(point.properties?.occupancy),
  };
}

import { mapCall, toCallTime } from '../efa/calls.ts';
import { type EfaLeg, isTimedCall } from '../efa/payload.ts';
import { findTime } from '../efa/realtime.ts';
import { findOccupancy, readTimedStopPoint, type TimedStopPoint } from '../efa/stop-point.ts';
import type { Call } from '../transit/call.ts';
import type { Mode } from '../transit/mode.ts';
import type { KnownPositions, LegEnd } from './leg-end.ts';

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
  const stop = { ...ride, positionOf: ride.known.inResponse };
  const first = readTimedStopPoint(leg.stopSequence[0]) ?? leg.origin;
  const last = readTimedStopPoint(leg.stopSequence.at(-1)) ?? leg.destination;
  const between = listStopsBetween(leg).flatMap((one) => mapCall(readTimedStopPoint(one), stop) ?? []);
  if (between.length < listStopsBetween(leg).length) return null;
  return [
    {
      ...endCall(origin, leg.origin, first),
      arrival: toCallTime(findTime(first.arrival, ride.isTracked)),
      departure: toCallTime(origin),
    },
    ...between,
    {
      ...endCall(destination, leg.destination, last),
      arrival: toCallTime(destination),
      departure: toCallTime(findTime(last.departure, ride.isTracked)),
    },
  ];
}

function endCall({ stopId, name, platform, position }: LegEnd, ...points: readonly TimedStopPoint[]) {
  const occupancy = points.map((point) => findOccupancy(point.properties?.occupancy)).find((one) => one) ?? null;
  return { stopId, name, platform, position, occupancy };
}

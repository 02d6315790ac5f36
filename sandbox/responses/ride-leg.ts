import type { Ride } from '../journeys/journey-search.ts';
import { type PointNode, pathBetween } from '../network/network-index.ts';
import { alertsFor } from '../notices.ts';
import { actualPoint, callState, expectedDelaySeconds, isExtraStop, occupancyOf } from '../timetable/realtime.ts';
import { plannedSeconds } from '../timetable/run.ts';
import { seedOf, trait } from '../trait.ts';
import { timestamp } from './common.ts';
import { coordOf, journeyLocation } from './location.ts';
import { journeyTransportation } from './transportation.ts';

/** A ride with its planned and estimated times. The estimates are the planned times if the vehicle does not report. */
export interface TimedRide extends Ride {
  /** The time of its estimates; null if the vehicle does not report. */
  liveAtSeconds: number | null;
  departureSeconds: number;
  arrivalSeconds: number;
  estimatedDepartureSeconds: number;
  estimatedArrivalSeconds: number;
}

/** A ride is live if its vehicle reports at the boarding stop; then every call has an estimate. */
export function toTimedRide(ride: Ride, nowSeconds: number | undefined): TimedRide {
  const departureSeconds = plannedSeconds(ride.run, ride.fromCall);
  const arrivalSeconds = plannedSeconds(ride.run, ride.toCall);
  const state = callState(ride.run, ride.fromCall, nowSeconds);
  const liveAtSeconds = nowSeconds !== undefined && state.kind === 'live' ? nowSeconds : null;
  const estimated = (call: number) => estimatedSeconds(ride, call, liveAtSeconds);
  return {
    ...ride,
    liveAtSeconds,
    departureSeconds,
    arrivalSeconds,
    estimatedDepartureSeconds: estimated(ride.fromCall),
    estimatedArrivalSeconds: estimated(ride.toCall),
  };
}

function estimatedSeconds({ run }: Ride, call: number, liveAtSeconds: number | null): number {
  const delaySeconds = liveAtSeconds === null ? 0 : expectedDelaySeconds(run, call, liveAtSeconds);
  return plannedSeconds(run, call) + delaySeconds;
}

/** A leg in a vehicle. `change` is the walk to another platform of the same stop where the next ride begins. */
export function rideLeg(ride: TimedRide, change: { to: PointNode; seconds: number } | undefined): object {
  const { run, fromCall, toCall } = ride;
  const isLive = ride.liveAtSeconds !== null;
  const { pattern } = run;
  const from = pattern.points[fromCall] as PointNode;
  const to = pattern.points[toCall] as PointNode;
  const isTrain = pattern.line.product.class === 1;
  const isAccessible = pattern.wheelchairAccessible;
  const access = isAccessible ? '1' : '0';
  const origin = callLocation(ride, fromCall);
  const destination = callLocation(ride, toCall);
  return {
    duration: ride.estimatedArrivalSeconds - ride.estimatedDepartureSeconds,
    ...(isLive && { isRealtimeControlled: true, realtimeStatus: ['MONITORED'] }),
    origin: {
      ...origin,
      departureTimeBaseTimetable: timestamp(ride.departureSeconds),
      departureTimePlanned: timestamp(ride.departureSeconds),
      departureTimeEstimated: timestamp(ride.estimatedDepartureSeconds),
      properties: {
        ...origin.properties,
        ...(isTrain && { NumberOfCars: '8', TravelInCarsFrom: '1', TravelInCarsTo: '8', TravelInCarsMessage: 'any' }),
      },
    },
    destination: {
      ...destination,
      arrivalTimeBaseTimetable: timestamp(ride.arrivalSeconds),
      arrivalTimePlanned: timestamp(ride.arrivalSeconds),
      arrivalTimeEstimated: timestamp(ride.estimatedArrivalSeconds),
    },
    transportation: journeyTransportation(run, isLive, isAccessible ? ['PLAN_WHEELCHAIRACCESS'] : []),
    ...(pattern.line.product.class === 9 && { hints: [GATE_HINT] }),
    stopSequence: stopSequence(ride),
    ...(change !== undefined && changeWithinStop(to, change)),
    infos: alertsFor(pattern, [from.home, to.home]),
    coords: pathBetween(pattern, fromCall, toCall).map(coordOf),
    ...(isAccessible !== null && { properties: { PlanLowFloorVehicle: access, PlanWheelChairAccess: access } }),
  };
}

const GATE_HINT = {
  content: 'Ferry gates close shortly before the scheduled departure time.',
  providerCode: 'FGate',
  type: 'Timetable',
  properties: { subnet: 'nsw' },
  language: 'en',
  priority: 'STANDARD',
};

function stopSequence(ride: TimedRide): object[] {
  const calls: object[] = [];
  for (let call = ride.fromCall; call <= ride.toCall; call++) {
    const planned = timestamp(plannedSeconds(ride.run, call));
    const estimated = timestamp(estimatedSeconds(ride, call, ride.liveAtSeconds));
    calls.push({
      ...callLocation(ride, call),
      ...(call > ride.fromCall && { arrivalTimePlanned: planned, arrivalTimeEstimated: estimated }),
      ...(call < ride.toCall && { departureTimePlanned: planned, departureTimeEstimated: estimated }),
    });
  }
  return calls;
}

function callLocation({ run, liveAtSeconds }: TimedRide, call: number) {
  const planned = run.pattern.points[call] as PointNode;
  if (liveAtSeconds === null) return journeyLocation(planned, {});
  const vehicle = { occupancy: occupancyOf(run, call), isExtraStop: isExtraStop(run, call) };
  return journeyLocation(actualPoint(run, call), vehicle, planned);
}

/** A walk between platforms of one stop is not a leg but a property of the previous ride, usually with its path. */
function changeWithinStop(from: PointNode, change: { to: PointNode; seconds: number }): object {
  const footpath = {
    footPathInfo: [{ position: 'AFTER', duration: change.seconds }],
    footPathInfoRedundant: true,
  };
  if (trait(seedOf(`${from.id}-${change.to.id}`), 1) < 0.2) return footpath;
  const coords = [coordOf(from), coordOf(change.to)];
  return { ...footpath, interchange: { desc: 'Fussweg', type: 100, coords } };
}

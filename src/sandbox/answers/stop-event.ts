import { alertsFor } from '../alerts/alert.ts';
import type { PointNode } from '../network/network-index.ts';
import type { Departure } from '../timetable/departures.ts';
import type { CallState } from '../timetable/realtime.ts';
import { plannedSeconds } from '../timetable/run.ts';
import { extraTripId, runIdentifiers } from '../timetable/trip-id.ts';
import { boardLocation } from './board-location.ts';
import { timestamp } from './time.ts';
import { boardTransportation } from './transportation.ts';

/** One element of `stopEvents`. */
export function stopEvent(departure: Departure): object {
  const { state } = departure;
  switch (state.kind) {
    case 'timetable':
      return timetableEvent(departure);
    case 'live':
      return liveEvent(departure, state);
    case 'cancelled':
      return cancelledEvent(departure, state.scope);
    case 'extra':
      return extraEvent(departure, state.estimatedSeconds);
  }
}

function timetableEvent(departure: Departure): object {
  return {
    location: boardLocation(departure.point, {}),
    ...plannedTimes(departure),
    ...ordinaryRun(departure),
  };
}

function liveEvent(departure: Departure, state: Extract<CallState, { kind: 'live' }>): object {
  const { occupancy, isExtraStop, estimatedSeconds } = state;
  const vehicle = { occupancy, isExtraStop, ...(isExtraStop && { realtimeStatus: 'EXTRA_STOP' }) };
  return {
    realtimeStatus: isExtraStop ? ['EXTRA_STOPS', 'MONITORED'] : ['MONITORED'],
    isRealtimeControlled: true,
    location: boardLocation(departure.point, vehicle, plannedPoint(departure)),
    ...plannedTimes(departure),
    departureTimeEstimated: timestamp(estimatedSeconds),
    ...ordinaryRun(departure),
  };
}

function cancelledEvent(departure: Departure, scope: 'trip' | 'departure'): object {
  const isTrip = scope === 'trip';
  return {
    isCancelled: true,
    realtimeStatus: [isTrip ? 'TRIP_CANCELLED' : 'EXTRA_STOPS', 'MONITORED'],
    isRealtimeControlled: true,
    location: boardLocation(departure.point, { realtimeStatus: isTrip ? 'TRIP_CANCELLED' : 'DEPARTURE_CANCELLED' }),
    ...plannedTimes(departure),
    ...ordinaryRun(departure),
  };
}

function extraEvent(departure: Departure, estimatedSeconds: number): object {
  const { run } = departure;
  return {
    realtimeStatus: ['EXTRA_TRIP', 'MONITORED'],
    isRealtimeControlled: true,
    location: boardLocation(departure.point, { realtimeStatus: 'EXTRA_TRIP', isExtraTrip: true }),
    ...plannedTimes(departure),
    departureTimeEstimated: timestamp(estimatedSeconds),
    transportation: boardTransportation(run, [], true),
    ...infos(departure),
    properties: { WheelchairAccess: wheelchairAccess(departure), AVMSTripID: extraTripId(run) },
  };
}

function ordinaryRun(departure: Departure): object {
  const { run, state } = departure;
  const { properties, attributes } = vehicleAccess(departure);
  return {
    transportation: boardTransportation(run, attributes),
    ...infos(departure),
    properties: {
      WheelchairAccess: wheelchairAccess(departure),
      ...runIdentifiers(run, state.kind !== 'timetable'),
      ...properties,
    },
  };
}

const LIGHT_RAIL = 4;
const BUS = 5;

/** The accessibility of the vehicle, which boards give for buses and light rail only. */
function vehicleAccess({ run, state }: Departure): { properties?: object; attributes?: string[] } {
  const { line, pattern } = run.pattern;
  if (pattern.wheelchairAccessible === null || ![LIGHT_RAIL, BUS].includes(line.product.class)) return {};
  const value = pattern.wheelchairAccessible ? '1' : '0';
  if (state.kind !== 'live') return { properties: { PlanWheelChairAccess: value } };
  return {
    properties: { AVMLowFloorVeh: value },
    attributes: pattern.wheelchairAccessible ? ['AVM_LOWFLOORVEHICLE'] : [],
  };
}

/** Boards cut the planned time to the minute. */
function plannedTimes({ run, call, minuteSeconds }: Departure): object {
  return {
    departureTimePlanned: timestamp(minuteSeconds),
    departureTimeBaseTimetable: timestamp(plannedSeconds(run, call)),
  };
}

function infos(departure: Departure): object {
  const alerts = alertsFor(departure.run.pattern, [departure.point.home]);
  return alerts.length === 0 ? {} : { infos: alerts };
}

/** The accessibility of the stop, whatever the vehicle. */
function wheelchairAccess(departure: Departure): string {
  return String(departure.point.home.stop.wheelchairAccess);
}

function plannedPoint({ run, call }: Departure): PointNode {
  return run.pattern.points[call] as PointNode;
}

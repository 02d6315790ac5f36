import { alertsFor } from '../alerts/alert.ts';
import type { PointNode } from '../network/network-index.ts';
import type { Departure } from '../timetable/departures.ts';
import type { CallState } from '../timetable/realtime.ts';
import { plannedSeconds } from '../timetable/run.ts';
import { boardLocation } from './board-location.ts';
import { timestamp } from './time.ts';
import { boardTransportation, vehicleProperties } from './transportation.ts';

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
    location: boardLocation(pointOf(departure), {}),
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
    location: boardLocation(pointOf(departure), vehicle),
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
    location: boardLocation(pointOf(departure), { realtimeStatus: isTrip ? 'TRIP_CANCELLED' : 'DEPARTURE_CANCELLED' }),
    ...plannedTimes(departure),
    ...ordinaryRun(departure),
  };
}

/** The extra run that replaces a cancelled one. Its only identifier is an `AVMSTripID`. */
function extraEvent(departure: Departure, estimatedSeconds: number): object {
  const { run } = departure;
  return {
    realtimeStatus: ['EXTRA_TRIP', 'MONITORED'],
    isRealtimeControlled: true,
    location: boardLocation(pointOf(departure), { realtimeStatus: 'EXTRA_TRIP', isExtraTrip: true }),
    ...plannedTimes(departure),
    departureTimeEstimated: timestamp(estimatedSeconds),
    transportation: boardTransportation(run, true),
    ...infos(departure),
    properties: {
      WheelchairAccess: wheelchairAccess(departure),
      AVMSTripID: `${vehicleProperties(run).AVMSTripID ?? ''}-R:X`,
    },
  };
}

function ordinaryRun(departure: Departure): object {
  return {
    transportation: boardTransportation(departure.run),
    ...infos(departure),
    properties: { WheelchairAccess: wheelchairAccess(departure), ...vehicleProperties(departure.run) },
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
  const alerts = alertsFor(departure.run.pattern, [pointOf(departure).home]);
  return alerts.length === 0 ? {} : { infos: alerts };
}

function wheelchairAccess(departure: Departure): string {
  return String(pointOf(departure).home.stop.wheelchairAccess);
}

function pointOf({ run, call }: Departure): PointNode {
  return run.pattern.points[call] as PointNode;
}

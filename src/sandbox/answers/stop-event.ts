import { alertsFor } from '../alerts/alert.ts';
import type { PointNode } from '../network/network-index.ts';
import type { Departure } from '../timetable/departures.ts';
import { type CallState, callState, isReplaced } from '../timetable/realtime.ts';
import { plannedSeconds } from '../timetable/run.ts';
import { boardLocation } from './board-location.ts';
import { timestamp } from './time.ts';
import { boardTransportation, vehicleProperties } from './transportation.ts';

/** One event; two where an extra run replaces a cancelled one. Without `nowSeconds` there are no realtime fields. */
export function stopEvents(departure: Departure, nowSeconds: number | undefined): object[] {
  const { run, call } = departure;
  const state: CallState = nowSeconds === undefined ? { kind: 'timetable' } : callState(run, call, nowSeconds);
  switch (state.kind) {
    case 'timetable':
      return [timetableEvent(departure)];
    case 'live':
      return [liveEvent(departure, state)];
    case 'cancelled':
      return isReplaced(run)
        ? [cancelledEvent(departure, state.scope), extraEvent(departure)]
        : [cancelledEvent(departure, state.scope)];
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

/** The run that replaces a cancelled one, two minutes late. Its only identifier is an `AVMSTripID`. */
function extraEvent(departure: Departure): object {
  const { run, call } = departure;
  return {
    realtimeStatus: ['EXTRA_TRIP', 'MONITORED'],
    isRealtimeControlled: true,
    location: boardLocation(pointOf(departure), { realtimeStatus: 'EXTRA_TRIP', isExtraTrip: true }),
    ...plannedTimes(departure),
    departureTimeEstimated: timestamp(plannedSeconds(run, call) + 120),
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

import { alertsFor } from '../alerts/alert.ts';
import type { Authority } from '../authority.ts';
import type { PointNode } from '../network/network-index.ts';
import { type Departure, nextDepartures } from '../timetable/departures.ts';
import { type CallState, callState, EXTRA_RUN_DELAY_SECONDS } from '../timetable/realtime.ts';
import { extraTripId, plannedMinuteSeconds, plannedSeconds, runIdentifiers } from '../timetable/run.ts';
import { dateInvalid, noServingLines, refusal, stopInvalid, timestamp, VERSION } from './common.ts';
import { boardLocation, uniqueStop } from './location.ts';
import { askedSeconds, excludedClasses, isPublished } from './parameters.ts';
import { boardTransportation } from './transportation.ts';

const EVENTS_PER_RESPONSE = 40;

/**
 * Response of `departure_mon`: the next 40 departures of one stop, or arrivals with `depArrMacro=arr`, or of one platform with `nameKey_dm=$USEPOINT$`.
 * A request without date and time gets the vehicles that are still to leave, late ones included.
 */
export function departureResponse(authority: Authority, query: URLSearchParams, nowSeconds: number): object {
  const { index, timetableAround } = authority;
  const name = query.get('name_dm') ?? '';
  const point = index.pointById.get(name);
  const home = index.stopById.get(name) ?? point?.home;
  if (home === undefined) return { version: VERSION, systemMessages: [], locations: [], stopEvents: [] };
  if (query.get('mode') !== 'direct') return refusal(stopInvalid);

  const withRealtime = query.get('TfNSWDM') === 'true';
  const atSeconds = askedSeconds(query, nowSeconds);
  const locations = [uniqueStop(home, withRealtime ? 'modes' : 'productClasses')];
  if (atSeconds === undefined || !isPublished(atSeconds, nowSeconds)) {
    return { ...refusal(dateInvalid), locations };
  }
  const excluded = excludedClasses(query);
  const isArrival = query.get('depArrMacro') === 'arr';
  const departures = nextDepartures(timetableAround(atSeconds), {
    points: point !== undefined && query.get('nameKey_dm') === '$USEPOINT$' ? [point] : home.points,
    isWanted: (pattern) => !excluded.has(pattern.line.product.class),
    atSeconds,
    isForNow: !query.get('itdDate') && !query.get('itdTime'),
    nowSeconds: withRealtime ? nowSeconds : undefined,
    count: EVENTS_PER_RESPONSE,
    isArrival,
  });
  if (departures.length === 0) return { ...refusal(noServingLines), locations };
  // The website's own client sends both.
  const withCalls = query.get('depType') === 'stopEvents' && query.get('includeCompleteStopSeq') === '1';
  const stopEvents = departures.map((departure) => ({
    ...(isArrival ? asArrival(stopEvent(departure)) : stopEvent(departure)),
    ...(withCalls && stopSequences(departure, withRealtime ? nowSeconds : undefined)),
  }));
  return { version: VERSION, systemMessages: [], locations, stopEvents };
}

/** Vehicles arrive and depart at the same time: the names of the times and of what is cancelled are others. */
function asArrival(event: object): object {
  const { location } = event as { location: { properties?: { realtimeStatus?: string[] } } };
  const { properties } = location;
  const isOff = properties?.realtimeStatus?.includes('DEPARTURE_CANCELLED');
  return {
    ...Object.fromEntries(
      Object.entries(event).map(([name, value]) => [name.replace(/^departureTime/, 'arrivalTime'), value]),
    ),
    location: isOff ? { ...location, properties: { ...properties, realtimeStatus: ['ARRIVAL_CANCELLED'] } } : location,
  };
}

/** The calls before and after the departure. */
function stopSequences(departure: Departure, nowSeconds: number | undefined): object {
  const calls = departure.run.pattern.points.map((_, call) => sequenceEntry(departure, call, nowSeconds));
  return { previousLocations: calls.slice(0, departure.call), onwardLocations: calls.slice(departure.call + 1) };
}

function sequenceEntry({ run, state: stateHere }: Departure, call: number, nowSeconds: number | undefined): object {
  const state: CallState = nowSeconds === undefined ? { kind: 'timetable' } : callState(run, call, nowSeconds);
  const planned = run.pattern.points[call] as PointNode;
  const isExtra = stateHere.kind === 'extra';
  const estimated = isExtra
    ? plannedSeconds(run, call) + EXTRA_RUN_DELAY_SECONDS
    : state.kind === 'live' && stateHere.kind === 'live'
      ? state.estimatedSeconds
      : null;
  const location =
    state.kind === 'live' && !isExtra
      ? boardLocation(state.point, { occupancy: state.occupancy, isExtraStop: state.isExtraStop }, planned)
      : boardLocation(planned, state.kind === 'cancelled' && !isExtra ? { realtimeStatus: 'ARRIVAL_CANCELLED' } : {});
  const times = (name: string) => ({
    [`${name}TimePlanned`]: timestamp(plannedMinuteSeconds(run, call)),
    ...(estimated !== null && { [`${name}TimeEstimated`]: timestamp(estimated) }),
  });
  const isLast = call === run.pattern.points.length - 1;
  return { ...location, ...(call > 0 && times('arrival')), ...(!isLast && times('departure')) };
}

/** One element of `stopEvents`. */
function stopEvent(departure: Departure): object {
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

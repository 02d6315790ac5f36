import { BUS, LIGHT_RAIL } from '../network/network.ts';
import type { NetworkIndex, PointNode } from '../network/network-index.ts';
import { alertsFor } from '../notices.ts';
import { type Departure, nextDepartures } from '../timetable/departures.ts';
import { callState, EXTRA_RUN_DELAY_SECONDS } from '../timetable/realtime.ts';
import { extraTripId, plannedMinuteSeconds, plannedSeconds, runIdentifiers } from '../timetable/run.ts';
import { timetableAround } from '../timetable/timetable.ts';
import { dateInvalid, noServingLines, refusal, stopInvalid, timestamp, VERSION } from './common.ts';
import { boardLocation, uniqueStop } from './location.ts';
import { excludedClasses, isPublished, requestedSeconds } from './parameters.ts';
import { boardTransportation } from './transportation.ts';

const EVENTS_PER_RESPONSE = 40;

/**
 * The response of `departure_mon`: the next 40 departures of one stop (arrivals with `depArrMacro=arr`), or of one platform
 * with `nameKey_dm=$USEPOINT$`. A request without date and time gets the vehicles that have yet to leave, including late ones.
 */
export function departureResponse(index: NetworkIndex, query: URLSearchParams, nowSeconds: number): object {
  const name = query.get('name_dm') ?? '';
  const point = index.pointById.get(name);
  const home = index.stopById.get(name) ?? point?.home;
  if (home === undefined) return { version: VERSION, systemMessages: [], locations: [], stopEvents: [] };
  if (query.get('mode') !== 'direct') return refusal(stopInvalid);

  const withRealtime = query.get('TfNSWDM') === 'true';
  const atSeconds = requestedSeconds(query, nowSeconds);
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

/**
 * Converts a departure to an arrival. Vehicles arrive and depart at the same time; only field names and cancellation values
 * differ.
 */
function asArrival(event: object): object {
  const { location } = event as { location: { properties?: { realtimeStatus?: string[] } } };
  const { properties } = location;
  const isDepartureCancelled = properties?.realtimeStatus?.includes('DEPARTURE_CANCELLED');
  return {
    ...Object.fromEntries(
      Object.entries(event).map(([name, value]) => [name.replace(/^departureTime/, 'arrivalTime'), value]),
    ),
    location: isDepartureCancelled
      ? { ...location, properties: { ...properties, realtimeStatus: ['ARRIVAL_CANCELLED'] } }
      : location,
  };
}

/** Lists the calls before and after the departure. */
function stopSequences(departure: Departure, nowSeconds: number | undefined): object {
  const calls = departure.run.pattern.points.map((_, call) => sequenceEntry(departure, call, nowSeconds));
  return { previousLocations: calls.slice(0, departure.call), onwardLocations: calls.slice(departure.call + 1) };
}

function sequenceEntry({ run, state: stateHere }: Departure, call: number, nowSeconds: number | undefined): object {
  const state = callState(run, call, nowSeconds);
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

/** One element of `stopEvents`. Boards cut planned times to the minute. */
function stopEvent(departure: Departure): object {
  const { run, call, point, minuteSeconds, state } = departure;
  const isExtraTrip = state.kind === 'extra';
  const { occupancy, isExtraStop } = state.kind === 'live' ? state : {};
  const [status, statusHere] = statusOf(state);
  const alerts = alertsFor(run.pattern, [point.home]);
  const access = isExtraTrip ? {} : vehicleAccess(departure);
  return {
    ...(state.kind === 'cancelled' && { isCancelled: true }),
    ...(state.kind !== 'timetable' && {
      realtimeStatus: status ? [status, 'MONITORED'] : ['MONITORED'],
      isRealtimeControlled: true,
    }),
    location: boardLocation(
      point,
      { realtimeStatus: statusHere, occupancy, isExtraStop, isExtraTrip },
      run.pattern.points[call],
    ),
    departureTimePlanned: timestamp(minuteSeconds),
    departureTimeBaseTimetable: timestamp(plannedSeconds(run, call)),
    ...('estimatedSeconds' in state && { departureTimeEstimated: timestamp(state.estimatedSeconds) }),
    transportation: boardTransportation(run, access.attributes, isExtraTrip),
    ...(alerts.length > 0 && { infos: alerts }),
    properties: {
      // This is the accessibility of the stop, not of the vehicle.
      WheelchairAccess: String(point.home.wheelchairAccess),
      ...(isExtraTrip ? { AVMSTripID: extraTripId(run) } : runIdentifiers(run, state.kind !== 'timetable')),
      ...access.properties,
    },
  };
}

/** The statuses of the run and of its call here, if they are not as planned. */
function statusOf(state: Departure['state']): [run?: string, here?: string] {
  switch (state.kind) {
    case 'timetable':
      return [];
    case 'live':
      return state.isExtraStop ? ['EXTRA_STOPS', 'EXTRA_STOP'] : [];
    case 'cancelled':
      return state.scope === 'trip' ? ['TRIP_CANCELLED', 'TRIP_CANCELLED'] : ['EXTRA_STOPS', 'DEPARTURE_CANCELLED'];
    case 'extra':
      return ['EXTRA_TRIP', 'EXTRA_TRIP'];
  }
}

/** The accessibility of the vehicle, which boards give only for buses and light rail. */
function vehicleAccess({ run, state }: Departure): { properties?: object; attributes?: string[] } {
  const { line, wheelchairAccessible } = run.pattern;
  if (wheelchairAccessible === null || ![LIGHT_RAIL, BUS].includes(line.product.class)) return {};
  const value = wheelchairAccessible ? '1' : '0';
  if (state.kind !== 'live') return { properties: { PlanWheelChairAccess: value } };
  return {
    properties: { AVMLowFloorVeh: value },
    attributes: wheelchairAccessible ? ['AVM_LOWFLOORVEHICLE'] : [],
  };
}

import { alertsFor } from './alert.ts';
import type { Authority } from './authority.ts';
import { boardLocation } from './board-location.ts';
import { excludedClasses } from './exclusion.ts';
import type { PatternNode, PointNode, StopNode } from './network-index.ts';
import { callState, isReplaced } from './realtime.ts';
import { plannedSeconds, type Run, runAt } from './run.ts';
import { askedSeconds, isPublished, timestamp } from './service-day.ts';
import { dateInvalid, noServingLines, stopInvalid, VERSION } from './system-message.ts';
import { firstRunFrom, type Timetable } from './timetable.ts';
import { boardTransportation, vehicleProperties } from './transportation-shape.ts';
import { uniqueStop } from './unique-stop.ts';

const EVENTS_PER_ANSWER = 40;
const HORIZON_SECONDS = 24 * 3600;

interface Departure {
  run: Run;
  call: number;
  /** Planned time cut to the minute, which is how boards give it and sort by it. */
  minuteSeconds: number;
}

/** Answer of `departure_mon`: the next 40 departures of one stop, or of one platform with `nameKey_dm=$USEPOINT$`. */
export function departureAnswer(authority: Authority, query: URLSearchParams, nowSeconds: number): object {
  const name = query.get('name_dm') ?? '';
  const point = authority.index.pointById.get(name);
  const home = authority.index.stopById.get(name) ?? point?.home;
  if (home === undefined || query.get('mode') !== 'direct') return { version: VERSION, systemMessages: [stopInvalid] };

  const atSeconds = askedSeconds(query, nowSeconds);
  const locations = [uniqueStop(home, query.get('TfNSWDM') === 'true' ? 'modes' : 'productClasses')];
  if (atSeconds === undefined || !isPublished(atSeconds, nowSeconds)) {
    return { version: VERSION, systemMessages: [dateInvalid], locations };
  }
  const points = point !== undefined && query.get('nameKey_dm') === '$USEPOINT$' ? [point] : home.points;
  const excluded = excludedClasses(query);
  const departures = nextDepartures(authority.timetableAround(atSeconds), points, atSeconds, excluded);
  if (departures.length === 0) return { version: VERSION, systemMessages: [noServingLines], locations };

  const withRealtime = query.get('TfNSWDM') === 'true';
  const stopEvents = departures.flatMap((departure) =>
    eventsOf(departure, home, withRealtime ? nowSeconds : undefined),
  );
  return { version: VERSION, systemMessages: [], locations, stopEvents: stopEvents.slice(0, EVENTS_PER_ANSWER) };
}

function nextDepartures(
  timetable: Timetable,
  points: readonly PointNode[],
  atSeconds: number,
  excluded: ReadonlySet<number>,
): Departure[] {
  const calls = points
    .flatMap((point) => point.calls)
    .filter(({ pattern, call }) => call < pattern.points.length - 1 && !excluded.has(pattern.line.product.class));
  const departures = calls.flatMap(({ pattern, call }) => departuresOf(timetable, pattern, call, atSeconds));
  departures.sort(
    (a, b) =>
      a.minuteSeconds - b.minuteSeconds ||
      a.run.pattern.index - b.run.pattern.index ||
      a.run.startSeconds - b.run.startSeconds ||
      a.call - b.call,
  );
  return departures.slice(0, EVENTS_PER_ANSWER);
}

function departuresOf(timetable: Timetable, pattern: PatternNode, call: number, atSeconds: number): Departure[] {
  const list = timetable(pattern);
  const departures: Departure[] = [];
  const first = firstRunFrom(list, atSeconds - (pattern.offsetSeconds[call] ?? 0));
  for (let position = first; position < list.starts.length && departures.length < EVENTS_PER_ANSWER; position++) {
    const run = runAt(pattern, list, position);
    const planned = plannedSeconds(run, call);
    if (planned >= atSeconds + HORIZON_SECONDS) break;
    departures.push({ run, call, minuteSeconds: planned - (planned % 60) });
  }
  return departures;
}

/** One event; two where an extra run replaces a cancelled one. Without `nowSeconds` nothing of the present is told. */
function eventsOf(departure: Departure, home: StopNode, nowSeconds: number | undefined): object[] {
  const { run, call, minuteSeconds } = departure;
  const node = run.pattern.points[call] as PointNode;
  const planned = plannedSeconds(run, call);
  const state = nowSeconds === undefined ? ({ kind: 'timetable' } as const) : callState(run, call, nowSeconds);
  const alerts = alertsFor(run.pattern, [home]);
  const infos = alerts.length === 0 ? {} : { infos: alerts };
  const WheelchairAccess = String(home.stop.wheelchairAccess);
  const times = {
    departureTimePlanned: timestamp(minuteSeconds),
    departureTimeBaseTimetable: timestamp(planned),
  };
  const rest = {
    transportation: boardTransportation(run),
    ...infos,
    properties: { WheelchairAccess, ...vehicleProperties(run) },
  };

  if (state.kind === 'timetable') return [{ location: boardLocation(node, {}), ...times, ...rest }];

  if (state.kind === 'live') {
    const { occupancy, isExtraStop } = state;
    const event = {
      realtimeStatus: isExtraStop ? ['EXTRA_STOPS', 'MONITORED'] : ['MONITORED'],
      isRealtimeControlled: true,
      location: boardLocation(node, { occupancy, isExtraStop, ...(isExtraStop && { realtimeStatus: 'EXTRA_STOP' }) }),
      ...times,
      departureTimeEstimated: timestamp(state.estimatedSeconds),
      ...rest,
    };
    return [event];
  }

  const isTrip = state.scope === 'trip';
  const cancelled = {
    isCancelled: true,
    realtimeStatus: [isTrip ? 'TRIP_CANCELLED' : 'EXTRA_STOPS', 'MONITORED'],
    isRealtimeControlled: true,
    location: boardLocation(node, { realtimeStatus: isTrip ? 'TRIP_CANCELLED' : 'DEPARTURE_CANCELLED' }),
    ...times,
    ...rest,
  };
  if (!isReplaced(run)) return [cancelled];
  const extra = {
    realtimeStatus: ['EXTRA_TRIP', 'MONITORED'],
    isRealtimeControlled: true,
    location: boardLocation(node, { realtimeStatus: 'EXTRA_TRIP', isExtraTrip: true }),
    ...times,
    departureTimeEstimated: timestamp(planned + 120),
    transportation: boardTransportation(run, true),
    ...infos,
    properties: { WheelchairAccess, AVMSTripID: `${vehicleProperties(run).AVMSTripID ?? ''}-R:X` },
  };
  return [cancelled, extra];
}

import { HOUR_MS, MINUTE_MS } from '../core/clock.ts';
import { beyondTimetable, unknownStop } from '../errors/messages.ts';
import { withBookingNotice } from '../transit/booking.ts';
import type { CallState, Departure } from '../transit/departure.ts';
import { type Freshness, freshnessOf } from '../transit/freshness.ts';
import { getOrLeaveOut, LeftOut, type LeftOutCounts } from '../transit/left-out.ts';
import { type Mode, sortModes } from '../transit/mode.ts';
import { fromSydneyWallClock, parseTimestamp } from '../transit/time.ts';
import { UNKNOWN_ACCESS } from '../transit/vehicle-access.ts';
import { mapAlerts, restrictsWheelchairs } from './alerts.ts';
import { findKnownStop } from './expected-response.ts';
import { type DepartureMonitorPayload, parseStopEvent, type StopEvent, saysDateInvalid } from './payload.ts';
import { toMode } from './product-class.ts';
import type { QueryOptions, QueryUpstream, UpstreamResponse } from './query-upstream.ts';
import { isCancelled, isTracked, toTimes } from './realtime.ts';
import type { UpstreamRequest } from './request.ts';
import { parseObject, parseRawText } from './response/field.ts';
import { mapRecords } from './response/record.ts';
import {
  isOnDemand,
  isWheelchairAccessible,
  toHeadsign,
  toOrigin,
  toRouteName,
  toRunId,
  toVehicleAccess,
} from './response/run.ts';
import { listStopModes, parseStopPoint, toOccupancy, toPlatform, toStopName } from './stop-point.ts';

export type DeparturesRequest = UpstreamRequest & { kind: 'departureMonitor' };

/**
 * One response of the departure monitor: every departure of some modes planned within a time span. Immutable, because all readers
 * of a response share it. Times are in milliseconds since 1970.
 */
export interface DeparturePage {
  stopName: string;
  /** The modes of all vehicles that stop here, as far as upstream lists them. */
  stopModes: readonly Mode[];
  modes: readonly Mode[];
  /** The request had no time, so anything planned earlier and not listed has left. */
  isPresent: boolean;
  /**
   * Everything planned from here on is listed, as is anything planned earlier that has not left. `Infinity` if the requested
   * wall-clock time is ambiguous or missing, when the clocks change.
   */
  from: number;
  /** Everything planned before here is listed. */
  until: number;
  /** Nothing leaves after the last departure, as far as upstream knows. */
  isEnd: boolean;
  /** The latest planned time upstream listed, shown or not; null if there is none. */
  lastPlannedAt: number | null;
  departures: readonly Departure[];
  leftOut: LeftOutCounts;
  freshness: Freshness;
}

/** The departures of a response, and what was left out of it. */
interface MappedEvents {
  stopName: string;
  kept: Departure[];
  leftOut: LeftOutCounts;
}

/** The board on which an event is shown. */
interface BoardOfEvents {
  stopId: string;
  stopName: string;
  asOf: number;
  end: 'arrival' | 'departure';
  distinct: (key: string) => string;
}

/** Departures per page of the departure monitor. Fewer mean that there are no more, unless the last one leaves soon. */
export const EVENTS_PER_PAGE = 40;
/** A page with fewer departures is complete for this long. How far ahead upstream looks is unknown. */
const COMPLETE_MS = 6 * HOUR_MS;
/** A page that starts at most this long before the last known departure and has nothing later is the last one. */
const CONFIRMED_MS = 3 * MINUTE_MS;

/**
 * Throws `STOP_NOT_FOUND` if upstream does not know the stop, `DATE_OUT_OF_RANGE` if it has no timetable for the day,
 * `UPSTREAM_ERROR` if the response is for another stop. A known stop without departures is an empty page.
 */
export async function fetchDeparturePage(
  queryUpstream: QueryUpstream,
  request: DeparturesRequest,
  options?: QueryOptions,
): Promise<DeparturePage> {
  return mapPage(request, await queryUpstream(request, options));
}

/** Maps a received response; throws like `fetchDeparturePage`. `onDeparture` receives each departure with its record. */
export async function mapPage(
  request: DeparturesRequest,
  response: UpstreamResponse<DepartureMonitorPayload>,
  onDeparture?: (departure: Departure, record: unknown) => void,
): Promise<DeparturePage> {
  const { stopEvents } = response.payload;
  const freshness = freshnessOf(response);
  const { retrievedAt } = freshness;
  refuseUnknown(response.payload, request);
  const { stopName, kept: departures, leftOut } = await mapDepartures(request, response, onDeparture);
  const end = endOf(request);
  const requestedAt = request.at && (fromSydneyWallClock(request.at) ?? Number.POSITIVE_INFINITY);
  const lastPlannedAt = findLastPlanned(stopEvents, end);
  const span = spanOf({ requestedAt, retrievedAt, eventCount: stopEvents.length, lastPlannedAt });
  const stopModes = sortModes(listStopModes(response.payload.locations[0]));
  return { stopName, stopModes, modes: request.modes, ...span, lastPlannedAt, departures, leftOut, freshness };
}

/** Requesters and listeners map the same events of a response, which takes half a millisecond per page. */
const mappedEvents = new WeakMap<readonly unknown[], Promise<MappedEvents>>();

/** The departures of a received response and the name of its stop; see `mapPage` for `onDeparture`. */
function mapDepartures(
  request: DeparturesRequest,
  response: UpstreamResponse<DepartureMonitorPayload>,
  onDeparture?: (departure: Departure, record: unknown) => void,
): Promise<MappedEvents> {
  const { stopEvents } = response.payload;
  const mapping = (!onDeparture && mappedEvents.get(stopEvents)) || mapEvents(request, response, onDeparture);
  mappedEvents.set(stopEvents, mapping);
  return mapping;
}

async function mapEvents(
  request: DeparturesRequest,
  response: UpstreamResponse<DepartureMonitorPayload>,
  onDeparture?: (departure: Departure, record: unknown) => void,
) {
  const stopName = nameStop(response.payload, request.stopId);
  const stopId = request.stopId.toUpperCase();
  const asOf = freshnessOf(response).retrievedAt;
  const board = { stopId, stopName, asOf, end: endOf(request), distinct: createDistinct() };
  const mapped = await mapRecords(
    response.payload.stopEvents,
    (record) => ({ record, event: parseStopEvent(record) }),
    ({ record, event }) => {
      const departure = mapStopEvent(getOrLeaveOut(event, 'malformed'), board);
      onDeparture?.(departure, record);
      return departure;
    },
  );
  return { stopName, ...mapped };
}

/**
 * Whether a short page ends too early to count as the last one. If upstream sent fewer events per page, busy stops would look
 * empty later on. The next page, which begins at the last departure, then decides.
 */
function endsTooEarly(page: { requestedAt: number | null; from: number; lastPlannedAt: number | null }): boolean {
  const { requestedAt, from, lastPlannedAt } = page;
  if (lastPlannedAt === null || lastPlannedAt > from + HOUR_MS) return false;
  return requestedAt === null || lastPlannedAt > requestedAt + CONFIRMED_MS;
}

/** The time span covered by a page. `requestedAt` is null for the present. */
function spanOf(response: {
  requestedAt: number | null;
  retrievedAt: number;
  eventCount: number;
  lastPlannedAt: number | null;
}): Pick<DeparturePage, 'isPresent' | 'from' | 'until' | 'isEnd'> {
  const { requestedAt, retrievedAt, eventCount, lastPlannedAt } = response;
  // The response took a moment to arrive; anything planned for the last minute and not listed has left.
  const from = requestedAt ?? retrievedAt - MINUTE_MS;
  const isEnd = eventCount < EVENTS_PER_PAGE && !endsTooEarly({ requestedAt, from, lastPlannedAt });
  // The page may lack room for more departures planned in its last minute.
  const until = isEnd ? from + COMPLETE_MS : Math.max(lastPlannedAt ?? from, from + MINUTE_MS);
  return { isPresent: requestedAt === null, from, until, isEnd };
}

/**
 * Whether a full page contains only departures that had left when it arrived, or that leave before the requested time. Such a
 * page is stale or for another time. Upstream sorts by best-known time.
 */
export function isOfThePast({ stopEvents }: DepartureMonitorPayload, request: DeparturesRequest, now: number): boolean {
  const { at } = request;
  const from = at === null ? now : fromSydneyWallClock(at);
  if (from === null || stopEvents.length < EVENTS_PER_PAGE) return false;
  return stopEvents.every((record) => {
    const event = parseObject(record);
    const end = endOf(request);
    const times = [event?.[`${end}TimePlanned`], event?.[`${end}TimeEstimated`]].flatMap(
      (time) => parseTimestamp(parseRawText(time)) ?? [],
    );
    return times.length > 0 && Math.max(...times) < from - MINUTE_MS;
  });
}

function mapStopEvent(event: StopEvent, board: BoardOfEvents): Departure {
  const statuses = [...event.realtimeStatus, ...(event.location?.properties?.realtimeStatus ?? [])];
  const isEventCancelled = isCancelled(board.end, event.isCancelled, statuses);
  try {
    return mapDeparture(event, board, { statuses, isEventCancelled });
  } catch (error) {
    // A cancelled departure may lack fields; it still counts as cancelled, not malformed.
    throw isEventCancelled ? new LeftOut('cancelled', { cause: error }) : error;
  }
}

function mapDeparture(
  event: StopEvent,
  { stopId, stopName, asOf, end, distinct }: BoardOfEvents,
  { statuses, isEventCancelled }: { statuses: readonly string[]; isEventCancelled: boolean },
): Departure {
  const { location, transportation } = event;
  const knownMode = toMode(getOrLeaveOut(transportation.product?.class ?? transportation.product?.iconId, 'malformed'));
  const isOnDemandRide = isOnDemand(transportation, event.properties);
  const { plannedAt, realtimeAt } = getOrLeaveOut(
    toTimes(event[end], isTracked(event, { isCancelled: isEventCancelled, isOnDemand: isOnDemandRide })),
    'no time',
  );
  const route = getOrLeaveOut(toRouteName(transportation), 'no route');
  const destination = getOrLeaveOut(toHeadsign(transportation, statuses), 'no headsign');
  const mode = getOrLeaveOut(knownMode, 'unknown product class');
  const runId = toRunId(event.properties, transportation.properties);
  return {
    key: distinct(
      `${runId ?? [transportation.id, route, destination].join()},${location?.id ?? ''},${new Date(plannedAt).toISOString()}`,
    ),
    runId,
    stopId: location?.id ?? stopId,
    network: transportation.product?.id ?? null,
    mode,
    route,
    destination,
    ...(end === 'arrival' && { origin: toOrigin(transportation) }),
    platform: location ? toPlatform(location, mode, stopName) : null,
    plannedAt,
    isWheelchairAccessible: isWheelchairAccessible(event, () => event.infos.some(restrictsWheelchairs)),
    access: { ...UNKNOWN_ACCESS, wheelchairs: toVehicleAccess(event.properties, transportation.properties) },
    isStopAccessible: event.properties?.WheelchairAccess ?? null,
    occupancy: toOccupancy(location?.properties?.occupancy),
    alerts: isOnDemandRide ? withBookingNotice(mapAlerts(event.infos), { isOnDemand: true }) : mapAlerts(event.infos),
    asOf,
    state: stateOf(isEventCancelled, realtimeAt),
  };
}

function stateOf(isEventCancelled: boolean, realtimeAt: number | null): CallState {
  if (isEventCancelled) return { kind: 'cancelled' };
  return realtimeAt === null ? { kind: 'scheduled' } : { kind: 'live', leavesAt: realtimeAt };
}

/** Whether the board shows arrivals or departures. */
function endOf({ isArrival }: DeparturesRequest): 'arrival' | 'departure' {
  return isArrival ? 'arrival' : 'departure';
}

/** Numbers events that differ only by their place in the list, so that none is taken for a duplicate. */
function createDistinct(): (key: string) => string {
  const counts = new Map<string, number>();
  return (key) => {
    const number = counts.get(key) ?? 0;
    counts.set(key, number + 1);
    return `${key} ${number}`;
  };
}

/** Throws if nothing is listed because upstream has no timetable for the day or does not know the stop. */
function refuseUnknown(payload: DepartureMonitorPayload, { stopId, at }: DeparturesRequest): void {
  if (payload.stopEvents.length > 0) return;
  if (saysDateInvalid(payload.systemMessages)) throw beyondTimetable(at?.date ?? null);
  if (!findKnownStop(payload, stopId)) throw unknownStop(stopId);
}

/** Takes the stop's name from `locations` if possible: the names of events include a platform. */
function nameStop({ locations, stopEvents }: DepartureMonitorPayload, stopId: string): string {
  const [location] = locations.flatMap((location) => parseStopPoint(location) ?? []);
  const point = parseStopEvent(stopEvents[0])?.location;
  const stop = point?.parent?.type === 'stop' ? point.parent : undefined;
  const names = [location, stop, point].map((place) => place && toStopName(place));
  return names.find((name) => name) ?? stopId;
}

function findLastPlanned(stopEvents: readonly unknown[], end: 'arrival' | 'departure'): number | null {
  const planned = stopEvents
    .map((event) => parseTimestamp(parseRawText(parseObject(event)?.[`${end}TimePlanned`])))
    .filter((time) => time !== undefined);
  return planned.length > 0 ? Math.max(...planned) : null;
}

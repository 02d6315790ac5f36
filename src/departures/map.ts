import { mapAlerts } from '../efa/alerts.ts';
import { readObject, readText } from '../efa/answer/field.ts';
import { readStopPoint } from '../efa/answer/place.ts';
import { LeftOut, type LeftOutCounts, mapRecords, need } from '../efa/answer/record.ts';
import { findKnownStop } from '../efa/known-stop.ts';
import { type DepartureMonitorPayload, readStopEvent, type StopEvent } from '../efa/payload.ts';
import { findMode } from '../efa/product-class.ts';
import { findTime, isCancelled } from '../efa/realtime.ts';
import type { DepartureMonitorQuestion } from '../efa/request.ts';
import { findPlatform, findStopName } from '../efa/stop-point.ts';
import { saysDateInvalid } from '../efa/system-message.ts';
import { findHeadsign, findRouteName } from '../efa/transportation.ts';
import { findRunId, isWheelchairAccessible } from '../efa/vehicle.ts';
import { beyondTimetable, unknownStop } from '../errors/messages.ts';
import { parseTimestamp } from '../transit/time.ts';
import { OCCUPANCIES, type Occupancy, type ScheduledDeparture } from './departure.ts';

/** The stop, and the time; null means now. */
type Asked = Pick<DepartureMonitorQuestion, 'stopId' | 'at'>;

/** A departure as the authority lists it. */
export interface ListedDeparture extends ScheduledDeparture {
  /** By which it is recognised on the next page of the same board. */
  key: string;
  /** The authority's identifier of the platform; null where it does not say. */
  platformId: string | null;
  /** The authority's number of the network; null where it does not say. */
  network: number | null;
}

/** One answer of the departure monitor. */
export interface DeparturePage {
  stopName: string;
  departures: ListedDeparture[];
  leftOut: LeftOutCounts;
  /** How many events upstream listed, shown or not. */
  eventCount: number;
  /** The latest planned time among them; null when there is none. */
  lastPlanned: Date | null;
}

/**
 * Throws `STOP_NOT_FOUND` when the authority does not know the stop, `DATE_OUT_OF_RANGE` when it has no timetable for
 * the day, `UPSTREAM_ERROR` when the answer is the board of another stop. A known stop with nothing leaving is a page
 * without departures.
 */
export async function mapDepartures(payload: DepartureMonitorPayload, question: Asked): Promise<DeparturePage> {
  const stopName = getStopName(payload, question);
  const { kept, leftOut } = await mapRecords(payload.stopEvents, readStopEvent, (event) =>
    mapStopEvent(event, stopName),
  );
  return {
    stopName,
    departures: withDistinctKeys(kept),
    leftOut,
    eventCount: payload.stopEvents.length,
    lastPlanned: findLastPlanned(payload.stopEvents),
  };
}

function mapStopEvent(event: StopEvent, stopName: string): ListedDeparture {
  const statuses = [...event.realtimeStatus, ...(event.location?.properties?.realtimeStatus ?? [])];
  const isOff = isCancelled('departure', event.isCancelled, statuses);
  try {
    return mapDeparture(event, stopName, { statuses, isOff });
  } catch (error) {
    // A cancelled departure may lack fields; it counts as cancelled then, not as malformed.
    throw isOff ? new LeftOut('cancelled', { cause: error }) : error;
  }
}

function mapDeparture(
  event: StopEvent,
  stopName: string,
  { statuses, isOff }: { statuses: readonly string[]; isOff: boolean },
): ListedDeparture {
  const { location, transportation } = event;
  const mode = findMode(need(transportation.product?.class ?? transportation.product?.iconId, 'malformed'));
  const { planned, realtime } = need(
    findTime(
      {
        planned: event.departureTimePlanned,
        baseTimetable: event.departureTimeBaseTimetable,
        estimated: event.departureTimeEstimated,
      },
      event.isRealtimeControlled === true && !isOff,
    ),
    'no time',
  );
  const route = need(findRouteName(transportation), 'no route');
  const destination = need(findHeadsign(transportation, statuses), 'no headsign');
  const runId = findRunId(event.properties, transportation.properties);
  return {
    key: [runId ?? [transportation.id, route, destination], location?.id, planned.toISOString()].join(),
    platformId: location?.id ?? null,
    network: transportation.product?.id ?? null,
    runId,
    route,
    mode: need(mode, 'unknown product class'),
    destination,
    platform: location ? findPlatform(location, mode, stopName) : null,
    scheduledAt: planned,
    realtimeAt: realtime,
    isWheelchairAccessible: isWheelchairAccessible(event),
    occupancy: findOccupancy(location?.properties?.occupancy),
    alerts: mapAlerts(event.infos),
    isCancelled: isOff,
  };
}

/** Events that only their place in the list tells apart are numbered: none may be taken for a repeat of another. */
function withDistinctKeys(departures: readonly ListedDeparture[]): ListedDeparture[] {
  const counts = new Map<string, number>();
  return departures.map((departure) => {
    const number = counts.get(departure.key) ?? 0;
    counts.set(departure.key, number + 1);
    return { ...departure, key: `${departure.key} ${number}` };
  });
}

/** The name comes from `locations`: the events' own names carry a platform. */
function getStopName(payload: DepartureMonitorPayload, { stopId, at }: Asked): string {
  if (payload.stopEvents.length > 0) {
    const location = readStopPoint(payload.locations[0]);
    const point = readStopEvent(payload.stopEvents[0])?.location;
    const stop = point?.parent?.type === 'stop' ? point.parent : undefined;
    const names = [location, stop, point].map((place) => place && findStopName(place));
    return names.find((name) => name) ?? stopId;
  }
  if (saysDateInvalid(payload.systemMessages)) throw beyondTimetable(at?.date ?? null);
  const stop = findKnownStop(payload, stopId);
  if (!stop) throw unknownStop('stop', stopId);
  return findStopName(stop) ?? stopId;
}

function findLastPlanned(stopEvents: readonly unknown[]): Date | null {
  const planned = stopEvents
    .map((event) => parseTimestamp(readText(readObject(event)?.departureTimePlanned))?.getTime())
    .filter((time) => time !== undefined);
  return planned.length > 0 ? new Date(Math.max(...planned)) : null;
}

function findOccupancy(text: string | undefined): Occupancy | null {
  return OCCUPANCIES.find((occupancy) => occupancy === text) ?? null;
}

import { mapAlerts } from '../efa/alerts.ts';
import { findKnownStop } from '../efa/known-stop.ts';
import { type DepartureMonitorPayload, type StopEvent, stopEventSchema, stopPointSchema } from '../efa/payload.ts';
import { findMode } from '../efa/product-class.ts';
import { findTime, isCancelled } from '../efa/realtime.ts';
import { LeftOut, type LeftOutCounts, mapRecords, need } from '../efa/record.ts';
import type { DepartureMonitorQuestion } from '../efa/request.ts';
import { findPlatform, findStopName } from '../efa/stop-point.ts';
import { saysDateInvalid } from '../efa/system-message.ts';
import { findRouteName } from '../efa/transportation.ts';
import { beyondTimetable, unknownStop } from '../error-messages.ts';
import { parseTimestamp } from '../transit/time.ts';
import { OCCUPANCIES, type Occupancy, type ScheduledDeparture } from './departure.ts';

/** The stop, and the time; null means now. */
type Asked = Pick<DepartureMonitorQuestion, 'stopId' | 'at'>;

/** One answer of the departure monitor. */
export interface DeparturePage {
  stopName: string;
  departures: (ScheduledDeparture & { key: string })[];
  leftOut: LeftOutCounts;
  /** How many events upstream listed, shown or not. */
  eventCount: number;
  /** The latest planned time among them; null when there is none. */
  lastPlanned: Date | null;
}

/**
 * Throws `STOP_NOT_FOUND` when the authority does not know the stop, `DATE_OUT_OF_RANGE` when it has no timetable for
 * the day. A known stop with nothing leaving is a page without departures.
 */
export function mapDepartures(payload: DepartureMonitorPayload, question: Asked): DeparturePage {
  const stopName = getStopName(payload, question);
  const { kept, leftOut } = mapRecords(payload.stopEvents, stopEventSchema, mapStopEvent);
  return {
    stopName,
    departures: kept,
    leftOut,
    eventCount: payload.stopEvents.length,
    lastPlanned: findLastPlanned(payload.stopEvents),
  };
}

function mapStopEvent(event: StopEvent): ScheduledDeparture & { key: string } {
  const { location, transportation } = event;
  const statuses = [event.realtimeStatus, location?.properties?.realtimeStatus];
  if (isCancelled('departure', event.isCancelled, ...statuses)) throw new LeftOut('cancelled');

  const mode = findMode(need(transportation.product?.class ?? transportation.product?.iconId, 'malformed'));
  const { planned, realtime } = need(
    findTime(
      {
        planned: event.departureTimePlanned,
        baseTimetable: event.departureTimeBaseTimetable,
        estimated: event.departureTimeEstimated,
      },
      event.isRealtimeControlled === true,
    ),
    'no time',
  );
  const route = need(findRouteName(transportation), 'no route');
  const destination = need(transportation.destination?.name?.trim(), 'no headsign');
  return {
    key: [transportation.id, eventTripId(event), location?.id, planned.toISOString(), route, destination].join(),
    route,
    mode: need(mode, 'unknown product class'),
    destination,
    platform: location ? findPlatform(location, mode) : null,
    scheduledAt: planned,
    realtimeAt: realtime,
    isWheelchairAccessible: event.properties?.WheelchairAccess === true,
    occupancy: findOccupancy(location?.properties?.occupancy),
    alerts: mapAlerts(event.infos),
  };
}

function eventTripId({ transportation: { properties } }: StopEvent): string | undefined {
  return properties?.RealtimeTripId ?? properties?.tripCode;
}

/** The name comes from `locations`: the events' own names carry a platform. */
function getStopName(payload: DepartureMonitorPayload, { stopId, at }: Asked): string {
  const location = stopPointSchema.safeParse(payload.locations[0]).data;
  if (payload.stopEvents.length > 0) {
    const point = stopEventSchema.safeParse(payload.stopEvents[0]).data?.location;
    const stop = point?.parent?.type === 'stop' ? point.parent : undefined;
    const place = [location, stop, point].find((one) => one && findStopName(one));
    return (place && findStopName(place)) ?? stopId;
  }
  if (saysDateInvalid(payload.systemMessages)) {
    throw beyondTimetable(at?.date ?? null);
  }
  const stop = findKnownStop(payload, stopId);
  if (!stop) throw unknownStop('stop', stopId);
  return findStopName(stop) ?? stopId;
}

const plannedTimeSchema = stopEventSchema.pick({ departureTimePlanned: true });

function findLastPlanned(stopEvents: readonly unknown[]): Date | null {
  const planned = stopEvents
    .map((event) => parseTimestamp(plannedTimeSchema.safeParse(event).data?.departureTimePlanned)?.getTime())
    .filter((time) => time !== undefined);
  return planned.length > 0 ? new Date(Math.max(...planned)) : null;
}

function findOccupancy(text: string | undefined): Occupancy | null {
  return OCCUPANCIES.find((occupancy) => occupancy === text) ?? null;
}

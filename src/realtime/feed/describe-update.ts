import { toSydneyClock } from '../../transit/time.ts';
import type { Feed, StopTime, StopUpdate } from './feed.ts';
import { TRIP } from './packed-feed.ts';

/** A trip update as text for operators. */
export interface DescribedUpdate {
  /** Position among the readable trip updates of the feed, from 1. */
  number: number;
  /** The trip, its day and its relationship, as in the feed. */
  trip: string;
  /** The stop updates for the requested stops and those that name no stop, one text each. */
  stops: string[];
}

/** Describes the trip update in this row, and its stop updates at these stops. Times are in Sydney. */
export function describeUpdate(feed: Feed, row: number, stopIds: readonly string[]): DescribedUpdate {
  const { tripId, routeId, startDate, relationship, stopUpdates } = feed.trip(row);
  const count = `${stopUpdates.length} stop update${stopUpdates.length === 1 ? '' : 's'}`;
  const dated = startDate && `start date ${startDate}`;
  const parts = [`trip ${tripId}`, routeId && `route ${routeId}`, dated, relationship, count];
  return {
    number: row / TRIP.words + 1,
    trip: parts.filter(Boolean).join(', '),
    stops: stopUpdates
      .filter(({ stopId, sequence }) => (stopId === null ? sequence !== null : stopIds.includes(stopId)))
      .map(describeStop),
  };
}

function describeStop({ stopId, sequence, relationship, arrival, departure }: StopUpdate): string {
  const parts = [
    stopId === null ? 'no stop' : `stop ${stopId}`,
    sequence !== null && `sequence ${sequence}`,
    relationship !== 'SCHEDULED' && relationship,
    describeTime('arrival', arrival),
    describeTime('departure', departure),
  ];
  return parts.filter(Boolean).join(', ');
}

function describeTime(end: string, { at, delaySeconds }: StopTime): string | null {
  const parts = [at !== null && toSydneyClock(at, 'HH:mm:ss'), delaySeconds !== null && `delay ${delaySeconds} s`];
  const text = parts.filter(Boolean).join(' ');
  return text && `${end} ${text}`;
}

import { expect } from 'vitest';
import { overlayStop } from '#src/realtime/overlay.ts';
import type { Departure } from '#src/transit/departure.ts';
import type { Mode } from '#src/transit/mode.ts';
import { departure } from '#test/support/departure.ts';
import { feedOf, type StopSpec, type TripSpec } from './feed-bytes.ts';

/** GTFS-realtime's numbers of a trip's relationship. */
export const TRIP = { scheduled: 0, added: 1, unscheduled: 2, canceled: 3, replacement: 5, duplicated: 6 } as const;
/** And of a stop update's. */
export const STOP = { scheduled: 0, skipped: 1, noData: 2 } as const;

/** 14:00 in Sydney, standard time of these tests unless they say otherwise. */
const NOW = '2026-01-14T03:00:00Z';

export const seconds = (text: string) => new Date(text).getTime() / 1000;

/** A moment of 2026-01-14, UTC: "03:05" or "03:05:30". */
export const at = (time: string) => new Date(`2026-01-14T${time}Z`.replace(/T(\d\d:\d\d)Z/, 'T$1:00Z')).getTime();

/** A departure at stop P1 of run R that is planned for 03:05, but for what the test says. */
export function call(planned = '03:05', more: Partial<Departure> = {}): Departure {
  return departure({ plannedAt: at(planned), ...more });
}

export const train = (planned?: string, more: Partial<Departure> = {}) => call(planned, { mode: 'train', ...more });

/** A stop update as buses and ferries have them: planned time and delay in seconds. */
export function timed(stopId: string, planned: string, delay = 0, more: StopSpec = {}): StopSpec {
  const time = { delay, time: at(planned) / 1000 + delay };
  return { stopId, arrival: time, departure: time, scheduleRelationship: STOP.scheduled, ...more };
}

/** A stop update as scheduled trains have them. */
export function delayed(stopId: string, delay: number, more: StopSpec = {}): StopSpec {
  return { stopId, arrival: { delay }, departure: { delay }, scheduleRelationship: STOP.scheduled, ...more };
}

export function skipped(stopId: string): StopSpec {
  return { stopId, scheduleRelationship: STOP.skipped };
}

/** Trip R, but for what the test says. */
export function trip(stops: StopSpec[], more: TripSpec = {}): TripSpec {
  return { tripId: 'R', scheduleRelationship: TRIP.scheduled, stops, ...more };
}

/** Lays one feed over the calls of a stop with the platforms P1 to P3. `modes` are those whose runs the feed carries. */
export function overlayOf(
  calls: Departure[],
  trips: TripSpec[],
  { now = NOW, modes = calls.map(({ mode }) => mode) }: { now?: string; modes?: Mode[] } = {},
) {
  const feed = feedOf({ timestamp: seconds(now), trips });
  const stopIds = new Set(['S', 'P1', 'P2', 'P3']);
  const coveredUntil = new Date(now).getTime() + 2 * 3_600_000;
  return overlayStop({ stopIds, calls, coveredUntil }, [{ source: 'buses', modes, feed }], new Date(now).getTime());
}

export const live = (time: string, more: object = {}) => ({
  kind: 'live',
  leavesAt: at(time),
  occupancy: null,
  headerAt: new Date(NOW).getTime(),
  ...more,
});
export const scheduled = { kind: 'scheduled' };
export const cancelled = { kind: 'cancelled' };
export const departed = { kind: 'departed' };

/** One row of a table of tests: the calls of the stop, the trips of the feed, the states that follow from both. */
export interface Row {
  calls: Departure[];
  trips: TripSpec[];
  states: object[];
  /** Beginnings of the keys of the changes about which the departure monitor is asked. */
  asks?: string[];
}

export function check({ calls, trips, states, asks = [] }: Row): void {
  const overlay = overlayOf(calls, trips);
  expect(overlay.states).toEqual(states);
  expect(overlay.changes.map(({ key }) => key.split(', ')[0])).toEqual(asks);
}

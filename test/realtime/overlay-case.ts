import { expect } from 'vitest';
import { overlayStop, type StopCall } from '#src/realtime/overlay.ts';
import type { Mode } from '#src/transit/mode.ts';
import { feedOf, type StopSpec, type TripSpec } from './feed-bytes.ts';

/** The schedule relationships of a trip in GTFS-realtime. */
export const TRIP = { scheduled: 0, added: 1, unscheduled: 2, canceled: 3, replacement: 5, duplicated: 6 } as const;
/** The schedule relationships of a stop update. */
export const STOP = { scheduled: 0, skipped: 1, noData: 2 } as const;

/** 14:00 in Sydney, the default time of these tests. */
const NOW = '2026-01-14T03:00:00Z';

export const seconds = (text: string) => new Date(text).getTime() / 1000;

/** A time on 2026-01-14 in UTC: "03:05" or "03:05:30". */
export const at = (time: string) => new Date(`2026-01-14T${time}Z`.replace(/T(\d\d:\d\d)Z/, 'T$1:00Z')).getTime();

/** A departure of run R at stop P1, by default planned for 03:05. */
export function call(planned = '03:05', more: Partial<StopCall> = {}): StopCall {
  return { runId: 'R', mode: 'bus', stopId: 'P1', plannedAt: at(planned), ...more };
}

export const train = (planned?: string, more: Partial<StopCall> = {}) => call(planned, { mode: 'train', ...more });

/** A stop update as buses and ferries have it: planned time, and delay in seconds. */
export function timed(stopId: string, planned: string, delay = 0, more: StopSpec = {}): StopSpec {
  const time = { delay, time: at(planned) / 1000 + delay };
  return { stopId, arrival: time, departure: time, scheduleRelationship: STOP.scheduled, ...more };
}

/** A stop update as scheduled trains have it: a delay only. */
export function delayed(stopId: string, delay: number, more: StopSpec = {}): StopSpec {
  return { stopId, arrival: { delay }, departure: { delay }, scheduleRelationship: STOP.scheduled, ...more };
}

export function skipped(stopId: string): StopSpec {
  return { stopId, scheduleRelationship: STOP.skipped };
}

export function trip(stops: StopSpec[], more: TripSpec = {}): TripSpec {
  return { tripId: 'R', scheduleRelationship: TRIP.scheduled, stops, ...more };
}

/** Overlays one feed on the calls of a stop with platforms P1 to P3. `modes` are the modes in the feed. */
export function overlayOf(
  calls: StopCall[],
  trips: TripSpec[],
  { now = NOW, modes = calls.map(({ mode }) => mode), ...more }: OverlayOptions = {},
) {
  const feed = feedOf({ timestamp: seconds(now), trips });
  const stopIds = new Set(['S', 'P1', 'P2', 'P3']);
  return overlayStop({ stopIds, calls, ...more }, [{ source: 'buses', modes, feed }], new Date(now).getTime());
}

type OverlayOptions = { now?: string; modes?: Mode[] } & Pick<
  Parameters<typeof overlayStop>[0],
  'isArrival' | 'isPlanned'
>;

export const statesOf = (...overlay: Parameters<typeof overlayOf>) =>
  overlayOf(...overlay).calls.map(({ state }) => state);

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

/** A row of a test table: the calls of the stop, the trips of the feed, and the expected result. */
export interface Row extends OverlayOptions {
  calls: StopCall[];
  trips: TripSpec[];
  states: object[];
  /** The stop that each call moved to, or null. */
  moved?: (string | null)[];
  /** The expected added calls: trip, stop and time. */
  adds?: string[];
}

export function check({ calls, trips, states, moved = calls.map(() => null), adds = [], ...options }: Row): void {
  const overlay = overlayOf(calls, trips, options);
  expect(overlay.calls.map(({ state }) => state)).toEqual(states);
  expect(overlay.calls.map(({ movedTo }) => movedTo)).toEqual(moved);
  const added = overlay.added.map(({ trip, update, departsAt }) => {
    return `${trip.tripId} ${update.stopId} ${new Date(departsAt).toISOString().slice(11, 16)}`;
  });
  expect(added).toEqual(adds);
}

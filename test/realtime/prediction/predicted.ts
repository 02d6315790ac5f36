import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { CALL } from '#src/realtime/prediction/run-columns.ts';
import { Snapshot } from '#src/realtime/snapshot.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { type MadeSchedule, type MadeTrip, scheduleFile } from '#test/support/schedule-file.ts';
import { timetableOf } from '#test/support/timetable.ts';
import { type FeedSpec, feedOf, type StopSpec, type TripSpec } from '../feed-bytes.ts';

/** The minute 0 of these tests: 09:00 in Sydney, the time of the feed. */
export const NOW = Date.parse('2026-11-26T22:00:00Z');
export const TODAY = '20261127';
export const YESTERDAY = '20261126';

/** The relationships of stop updates and trips in GTFS-realtime. */
const STOP = { scheduled: 0, skipped: 1, noData: 2 } as const;
export const TRIP = {
  added: 1,
  unscheduled: 2,
  canceled: 3,
  replacement: 5,
  duplicated: 6,
  deleted: 7,
  new: 8,
} as const;

/** "HH:MM:SS" of the service day, `minutes` after `NOW`. */
export function clock(minutes: number): string {
  const seconds = Math.round((9 * 60 + minutes) * 60);
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  return `${two(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** Seconds since 1970, `minutes` after `NOW`. */
export const at = (minutes: number) => NOW / 1000 + Math.round(minutes * 60);

/** A run that calls at A, B, C … at these minutes after `NOW`; or at named stops, as ['A', 5]. */
export function run(
  id: string,
  calls: readonly (number | readonly [string, number, number?])[],
  more: Partial<MadeTrip> = {},
) {
  return {
    id,
    days: [TODAY],
    calls: calls.map((call, index) => {
      const [stop, arrives, departs = arrives] =
        typeof call === 'number' ? [String.fromCharCode(65 + index), call] : call;
      return [stop, clock(arrives), { departure: clock(departs) }] as const;
    }),
    ...more,
  } satisfies MadeTrip;
}

export const STOPS: MadeSchedule['stops'] = [
  ...Array.from({ length: 14 }, (_, index) => ({
    id: String.fromCharCode(65 + index),
    lat: -33.5 - index / 50,
    lng: 151,
  })),
  { id: 'S', isStation: true, lat: -34, lng: 151 },
  { id: 'S1', parentId: 'S', lat: -34, lng: 151 },
  { id: 'S2', parentId: 'S', lat: -34, lng: 151.0001 },
];

export function timetable(
  trips: readonly MadeTrip[],
  file: 'buses' | 'sydneytrains' | 'sydneyferries' = 'buses',
): Timetable {
  const mode = file === 'buses' ? 'bus' : file === 'sydneytrains' ? 'train' : 'ferry';
  return timetableOf(scheduleFile(file, { stops: STOPS, routes: [{ id: 'R', mode }], trips }));
}

/** A time of a stop update: live and planned in minutes after `NOW`, a delay in seconds, or some of these. */
export interface TimeAt {
  time?: number;
  delay?: number;
  planned?: number;
}

const toTime = ({ time, delay, planned }: TimeAt) => ({
  ...(time !== undefined && { time: at(time) }),
  ...(delay !== undefined && { delay }),
  ...(planned !== undefined && { scheduledTime: at(planned) }),
});

/** A stop update whose departure and arrival are the same unless `more` has others. */
export function update(stopId: string | null, time: TimeAt = {}, more: StopSpec = {}): StopSpec {
  const ends = Object.keys(time).length === 0 ? {} : { arrival: toTime(time), departure: toTime(time) };
  return { ...(stopId !== null && { stopId }), ...ends, ...more };
}

export const departs = (stopId: string | null, time: TimeAt, more: StopSpec = {}): StopSpec => ({
  ...(stopId !== null && { stopId }),
  departure: toTime(time),
  ...more,
});
export const arrives = (stopId: string | null, time: TimeAt, more: StopSpec = {}): StopSpec => ({
  ...(stopId !== null && { stopId }),
  arrival: toTime(time),
  ...more,
});
export const skipped = (stopId: string | null, more: StopSpec = {}): StopSpec => ({
  ...(stopId !== null && { stopId }),
  scheduleRelationship: STOP.skipped,
  ...more,
});
export const noData = (stopId: string): StopSpec => ({
  ...update(stopId, { time: 0, delay: 0 }),
  scheduleRelationship: STOP.noData,
});

export function trip(tripId: string, stops: StopSpec[], more: TripSpec = {}): TripSpec {
  return { tripId, startDate: TODAY, scheduleRelationship: 0, stops, ...more };
}

export function predict(
  planned: Timetable,
  trips: TripSpec[],
  {
    source = 'buses',
    now = NOW,
    vehicles,
  }: { source?: FeedSourceId; now?: number; vehicles?: FeedSpec['vehicles'] } = {},
): Snapshot {
  const feed = feedOf({ timestamp: now / 1000, trips });
  const positions = vehicles ? feedOf({ timestamp: now / 1000, vehicles }) : null;
  return new Snapshot(predictFeed(createPlannedRuns(planned), { source, feed, positions }));
}

/** Minutes after `NOW`, to a hundredth. */
const minutes = (snapshot: Snapshot, seconds: number) => Math.round((snapshot.momentOf(seconds) - NOW) / 600) / 100;

/**
 * The calls of each run, one text each: the stop, planned times and, after ">", live ones, in minutes after `NOW`. Arrival and
 * departure are written apart if they differ. "left", "skipped", "ends" and "begins" follow.
 */
export function calls(planned: Timetable, snapshot: Snapshot, run: number): string[] {
  const { sections } = snapshot;
  if (snapshot.isCancelled(run)) return ['cancelled'];
  const [first, end] = snapshot.callsOf(run);
  return Array.from({ length: end - first }, (_, index) => {
    const call = first + index;
    const state = sections.state[call] as number;
    const both = (one: number, other: number) =>
      one === other ? `${minutes(snapshot, one)}` : `${minutes(snapshot, one)}/${minutes(snapshot, other)}`;
    const planTimes = both(sections.plannedArrival[call] as number, sections.plannedDeparture[call] as number);
    const live =
      state & CALL.live ? `>${both(sections.arrival[call] as number, sections.departure[call] as number)}` : '';
    const words = (['left', 'skipped', 'end', 'start'] as const).filter((name) => state & CALL[name]);
    const stop = sections.stop[call] as number;
    return [`${stop < 0 ? '?' : planned.stop(stop).id} ${planTimes}${live}`, ...words].join(' ');
  });
}

/** The calls of a run of the timetable; null if the feed says nothing about it. */
export function callsOf(planned: Timetable, snapshot: Snapshot, tripId: string, day = 20_784): string[] | null {
  const [trip] = planned.listTripsBetween(tripId);
  const run = trip === undefined ? -1 : snapshot.findRun(trip, day);
  return run < 0 ? null : calls(planned, snapshot, run);
}

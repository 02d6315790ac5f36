import type { RunRecord } from '#src/extensions/punctuality/run-record.ts';
import { serviceDayStart, toDate, toDayNumber } from '#src/timetable/service-day.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import type { FeedSpec, StopSpec, TripSpec } from '../../realtime/feed-bytes.ts';
import { datesFrom, type MadeTrip, scheduleFile } from '../../support/schedule-file.ts';
import { snapshotOf } from '../../support/snapshots.ts';
import { timetableOf } from '../../support/timetable.ts';

/*
 * A week of buses with known lateness, and its feeds: every minute one publication with the calls ahead. What the record should
 * say is counted from the same numbers, without the service.
 */

/** Monday 23 November 2026. */
export const MONDAY = toDayNumber('20261123') as number;
const STOPS = ['S0', 'S1', 'S2', 'S3', 'S4'];
const GAP_MINUTES = 5;
const MINUTE = 60;
const PUBLISHED_EVERY = 60;
const CANCELED = 3;
const SKIPPED = 1;

/** A run on one day. Seconds count from the start of the service day. */
export interface KnownRun {
  id: string;
  line: string;
  day: number;
  planned: number[];
  late: number[];
  isCancelled: boolean;
  /** The call that it skips; -1 for none. */
  skips: number;
}

export interface Gap {
  day: number;
  from: number;
  until: number;
}

function createLuck(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/** Runs of two lines from five in the morning until after midnight, on each day of a week. */
export function makeWeek(seed: number): { runs: KnownRun[]; timetable: Timetable } {
  const luck = createLuck(seed);
  const trips: MadeTrip[] = [];
  const runs: KnownRun[] = [];
  for (const line of ['A', 'B']) {
    for (let minute = 5 * 60 + luck(9); minute < 25 * 60; minute += 25 + luck(20)) {
      const id = `${line}${minute}`;
      const planned = STOPS.map((_, call) => (minute + call * GAP_MINUTES) * MINUTE);
      trips.push({
        id,
        route: line,
        days: datesFrom('20261120', '20261212'),
        calls: STOPS.map((stop, call) => [stop, planned[call] as number]),
      });
      for (let day = MONDAY; day < MONDAY + 7; day++) {
        let late = luck(700) - 150;
        runs.push({
          id,
          line,
          day,
          planned,
          late: STOPS.map(() => {
            late += luck(120) - 50;
            return late;
          }),
          isCancelled: luck(15) === 0,
          skips: luck(10) === 0 ? 1 + luck(3) : -1,
        });
      }
    }
  }
  const stops = STOPS.map((id, index) => ({ id, lat: -33 - index / 20, lng: 151 }));
  const routes = ['A', 'B'].map((id) => ({ id, mode: 'bus' as const }));
  return { runs, timetable: timetableOf(scheduleFile('buses', { stops, routes, trips })) };
}

/** What the feed predicts at a moment for a call that is `ahead` seconds away: it is wrong until two minutes before. */
const errorAt = (ahead: number) => (ahead > 2 * MINUTE ? 30 : 0);

function feedAt(runs: readonly KnownRun[], moment: number): FeedSpec {
  const trips = runs.flatMap(({ id, day, planned, late, isCancelled, skips }): TripSpec[] => {
    const now = (moment - serviceDayStart(day)) / 1000;
    const [start, end] = [planned[0] as number, (planned.at(-1) as number) + (late.at(-1) as number)];
    if (now < start - 20 * MINUTE || now >= end) return [];
    const head = { tripId: id, startDate: toDate(day) };
    if (isCancelled) return [{ ...head, scheduleRelationship: CANCELED }];
    const stops = STOPS.flatMap((stopId, call): StopSpec[] => {
      const at = (planned[call] as number) + (late[call] as number);
      if (at <= now) return [];
      if (call === skips) return [{ stopId, scheduleRelationship: SKIPPED }];
      const time = { time: serviceDayStart(day) / 1000 + at + errorAt(at - now) };
      return [{ stopId, arrival: time, departure: time }];
    });
    return stops.length > 0 ? [{ ...head, stops }] : [];
  });
  return { timestamp: moment / 1000, trips };
}

const isIn = (gaps: readonly Gap[], moment: number) =>
  gaps.some(({ day, from, until }) => {
    const now = (moment - serviceDayStart(day)) / 1000;
    return now >= from && now < until;
  });

/** Plays the feeds of the week into a record. `everyMinute` may replace the record. */
export function playWeek(
  { runs, timetable }: ReturnType<typeof makeWeek>,
  gaps: readonly Gap[],
  everyMinute: (moment: number) => RunRecord,
): void {
  const byDay = Map.groupBy(runs, ({ day }) => day);
  for (let day = MONDAY; day < MONDAY + 8; day++) {
    const near = [...(byDay.get(day - 1) ?? []), ...(byDay.get(day) ?? [])];
    for (let second = 0; second < 24 * 3600; second += PUBLISHED_EVERY) {
      const moment = serviceDayStart(day) + second * 1000;
      const record = everyMinute(moment);
      if (isIn(gaps, moment)) continue;
      const feed = feedAt(near, moment);
      if (feed.trips?.length) record.record(snapshotOf(timetable, feed));
    }
  }
}

export interface KnownCall {
  line: string;
  stop: string;
  run: string;
  /** 0 is Monday, by the planned time. */
  weekday: number;
  hour: number;
  minute: number;
  /** Null if cancelled. */
  late: number | null;
}

/** What should be recorded of each call: nothing where no publication was near enough. */
export function listKnownCalls(runs: readonly KnownRun[], gaps: readonly Gap[]): KnownCall[] {
  return runs.flatMap((run) =>
    STOPS.flatMap((stop, call): KnownCall[] => {
      const planned = run.planned[call] as number;
      const late = run.late[call] as number;
      const plain = {
        line: run.line,
        stop,
        run: `${run.id} ${run.day}`,
        weekday: (run.day - MONDAY + Math.floor(planned / 86_400)) % 7,
        hour: Math.floor(planned / 3600) % 24,
        minute: Math.floor(planned / 60) % 60,
      };
      const start = serviceDayStart(run.day) / 1000;
      const isPublished = (second: number) => !isIn(gaps, (start + second) * 1000);
      if (run.isCancelled || call === run.skips) {
        // Said from twenty minutes before the start until the run ends, or, if skipped, until it is passed.
        const until = run.isCancelled ? (run.planned.at(-1) as number) + (run.late.at(-1) as number) : planned + late;
        for (
          let at = Math.ceil((until - 1) / 60) * 60 - (until % 60 === 0 ? 60 : 0);
          at >= (run.planned[0] as number) - 1200;
          at -= 60
        ) {
          if (at < until && isPublished(at)) return [{ ...plain, late: null }];
        }
        return [];
      }
      const passes = planned + late;
      const last = Math.ceil(passes / 60) * 60 - 60;
      for (let at = last; at >= (run.planned[0] as number) - 1200; at -= 60) {
        if (!isPublished(at)) continue;
        const ahead = passes + errorAt(passes - at) - at;
        return ahead <= 300 ? [{ ...plain, late: late + errorAt(passes - at) }] : [];
      }
      return [];
    }),
  );
}

/** The figures of some calls, counted from a sorted list. */
export function countKnown(calls: readonly KnownCall[], rule: { earliest: number; latest: number }) {
  const sorted = calls.flatMap(({ late }) => (late === null ? [] : [late])).sort((one, other) => one - other);
  // The smallest value that at least this share does not exceed.
  const rank = (tenths: number) => sorted.find((_, index) => (index + 1) * 10 >= sorted.length * tenths) ?? null;
  return {
    runs: new Set(calls.map(({ run }) => run)).size,
    calls: sorted.length,
    cancelledCalls: calls.length - sorted.length,
    onTimeCalls: sorted.filter((late) => late >= rule.earliest && late <= rule.latest).length,
    median: rank(5),
    p90: rank(9),
  };
}

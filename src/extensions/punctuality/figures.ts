import { DateTime } from 'luxon';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../core/clock.ts';
import type { Int32Column } from '../../core/columns.ts';
import { DAYS_OF_WEEK, serviceDayStart, weekdayOf } from '../../timetable/service-day.ts';
import type { OnTimeRule } from '../../transit/on-time-rule.ts';
import type { Figures, LinePunctuality } from '../../transit/punctuality.ts';
import { SYDNEY } from '../../transit/region.ts';
import { CANCELLED, UNKNOWN } from './day-runs.ts';

/** A recorded run with the stops and planned times of its calls, in seconds of the service day. */
export interface RunOfDay {
  stopIds: readonly string[];
  seconds: Int32Column;
  late: Int32Column;
}

const HOURS = 24;
const HOUR_SECONDS = 3600;

/** Counts calls by lateness and computes their figures. */
class CallTally {
  runs = 0;
  #calls = 0;
  #cancelled = 0;
  #onTime = 0;
  /** Number of calls by seconds late. */
  readonly #counts = new Map<number, number>();
  readonly #rule: OnTimeRule;

  constructor(rule: OnTimeRule) {
    this.#rule = rule;
  }

  add(late: number): void {
    if (late === CANCELLED) {
      this.#cancelled++;
      return;
    }
    const { earliestSeconds, latestSeconds } = this.#rule;
    this.#calls++;
    if (late <= latestSeconds && (earliestSeconds === null || late >= earliestSeconds)) this.#onTime++;
    this.#counts.set(late, (this.#counts.get(late) ?? 0) + 1);
  }

  figures(): Figures {
    const sorted = [...this.#counts].sort(([one], [other]) => one - other);
    return {
      runs: this.runs,
      calls: this.#calls,
      cancelledCalls: this.#cancelled,
      onTimeCalls: this.#onTime,
      median: this.#rank(sorted, 0.5),
      p90: this.#rank(sorted, 0.9),
    };
  }

  /** The nearest rank: the smallest value that at least this share of the calls does not exceed. */
  #rank(sorted: readonly (readonly [number, number])[], share: number): number | null {
    // A product such as 0.9 × 10 can be a little more than the whole number.
    const rank = Math.ceil(Number((this.#calls * share).toFixed(6)));
    let seen = 0;
    for (const [late, count] of sorted) {
      seen += count;
      if (seen >= rank) return late;
    }
    return null;
  }
}

/** The clock in Sydney at seconds of a service day. Clocks change at whole hours, on two nights a year. */
export function createClock(day: number) {
  const start = serviceDayStart(day);
  const isPlain =
    serviceDayStart(day + 1) - start === DAY_MS &&
    serviceDayStart(day + 2) - start === 2 * DAY_MS &&
    start - serviceDayStart(day - 1) === DAY_MS;
  const hours = new Map<number, { weekday: number; hour: number }>();
  return (seconds: number): { weekday: number; hour: number } => {
    const index = Math.floor(seconds / HOUR_SECONDS);
    let known = hours.get(index);
    if (!known) {
      known = isPlain
        ? { weekday: weekdayOf(day + Math.floor(index / HOURS)), hour: ((index % HOURS) + HOURS) % HOURS }
        : onClock(start + index * HOUR_MS);
      hours.set(index, known);
    }
    return known;
  };
}

function onClock(moment: number): { weekday: number; hour: number } {
  const { weekday, hour } = DateTime.fromMillis(moment, { zone: SYDNEY });
  return { weekday: weekday - 1, hour };
}

/** Counts the calls of a line that meet the conditions; null is no condition. */
export function createLineCount(conditions: {
  rule: OnTimeRule;
  stopIds: ReadonlySet<string> | null;
  weekdays: readonly number[] | null;
  hours: readonly number[] | null;
  /** Minutes after midnight. */
  minute: number | null;
}) {
  const { rule, stopIds, weekdays, hours, minute } = conditions;
  const total = new CallTally(rule);
  const byWeekday = Array.from({ length: DAYS_OF_WEEK }, () => new CallTally(rule));
  const byHour = Array.from({ length: HOURS }, () => new CallTally(rule));
  const days: number[] = [];

  return {
    addDay(day: number, runs: Iterable<RunOfDay>): void {
      const clock = createClock(day);
      let isRecorded = false;
      for (const { stopIds: stops, seconds, late } of runs) {
        const touched = new Set<CallTally>();
        for (let call = 0; call < late.length; call++) {
          const value = late.valueAt(call);
          if (value === UNKNOWN || (stopIds && !stopIds.has(stops[call] as string))) continue;
          const second = seconds.valueAt(call);
          const { weekday, hour } = clock(second);
          if (weekdays && !weekdays.includes(weekday)) continue;
          if (hours && !hours.includes(hour)) continue;
          if (minute !== null && minute !== hour * 60 + Math.floor((second % HOUR_SECONDS) / 60)) continue;
          for (const bucket of [total, byWeekday[weekday] as CallTally, byHour[hour] as CallTally]) {
            bucket.add(value);
            touched.add(bucket);
          }
        }
        for (const bucket of touched) bucket.runs++;
        isRecorded ||= touched.size > 0;
      }
      if (isRecorded) days.push(day);
    },

    figures(): Omit<LinePunctuality, 'days'> & { days: number[] } {
      return {
        total: total.figures(),
        byWeekday: byWeekday.map((bucket) => bucket.figures()),
        byHour: byHour.map((bucket) => bucket.figures()),
        days,
      };
    },
  };
}

/** 0 for Monday to Friday, else the weekday. */
const kindOf = (weekday: number) => (weekday < 5 ? 0 : weekday);

/** Counts the calls of a line at one stop, by the kind of day and the planned minute. */
export function createStopCount(stopId: string, rule: OnTimeRule) {
  const buckets = new Map<string, CallTally>();
  const bucketOf = (key: string) => {
    let bucket = buckets.get(key);
    if (!bucket) {
      bucket = new CallTally(rule);
      buckets.set(key, bucket);
    }
    return bucket;
  };

  return {
    addDay(day: number, runs: Iterable<RunOfDay>): void {
      const clock = createClock(day);
      for (const { stopIds, seconds, late } of runs) {
        const touched = new Set<CallTally>();
        for (let call = stopIds.indexOf(stopId); call >= 0; call = stopIds.indexOf(stopId, call + 1)) {
          const value = late.valueAt(call);
          // Riders do not board at the last stop.
          if (value === UNKNOWN || call === late.length - 1) continue;
          const second = seconds.valueAt(call);
          const { weekday, hour } = clock(second);
          const ofHour = `${kindOf(weekday)} ${hour}`;
          for (const key of [ofHour, `${ofHour}:${Math.floor((second % HOUR_SECONDS) / 60)}`]) {
            bucketOf(key).add(value);
            touched.add(bucketOf(key));
          }
        }
        for (const bucket of touched) bucket.runs++;
      }
    },

    figures: () => new Map([...buckets].map(([key, bucket]) => [key, bucket.figures()])),
  };
}

/** The keys that a call planned for this moment is counted under: that of its hour, and that of its minute. */
export function keysAt(moment: number): { hour: string; minute: string } {
  const { weekday, hour } = onClock(moment);
  const ofHour = `${kindOf(weekday)} ${hour}`;
  // Sydney is whole hours ahead of UTC.
  return { hour: ofHour, minute: `${ofHour}:${Math.floor((moment % HOUR_MS) / (60 * SECOND_MS))}` };
}

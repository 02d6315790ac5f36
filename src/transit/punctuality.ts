import { z } from 'zod';
import type { Mode } from './mode.ts';
import type { OnTimeRule } from './on-time-rule.ts';
import { count, field } from './schema.ts';

/** How late runs were, recorded from the feeds that this service has read. */

/** Figures about a set of recorded calls. */
export interface Figures {
  /** Runs with at least one of the calls. */
  runs: number;
  /** Calls with a known time. */
  calls: number;
  cancelledCalls: number;
  onTimeCalls: number;
  /** Seconds late by nearest rank; null without calls. */
  median: number | null;
  p90: number | null;
}

export const figureFields = {
  runs: count('Number of runs behind these figures, cancelled ones included', 41),
  calls: count('Number of calls at stops with a known time', 812),
  cancelled_calls: count('Number of calls that were cancelled or skipped', 8),
  on_time_share: field(
    z.number().min(0).max(1).nullable(),
    'Share of `calls` that were on time, a number from 0 to 1 with four decimals; null without any',
    0.9212,
  ),
  median_late_seconds: field(
    z.int().nullable(),
    'Median of the seconds after the timetable, by nearest rank; negative if early, null without `calls`',
    65,
  ),
  p90_late_seconds: field(z.int().nullable(), '90th percentile of the same seconds; null without `calls`', 290),
  cancelled_share: field(
    z.number().min(0).max(1).nullable(),
    'Share of `cancelled_calls` in all recorded calls, a number from 0 to 1; null without any',
    0.0098,
  ),
};

export function toFiguresBody({ runs, calls, cancelledCalls, onTimeCalls, median, p90 }: Figures) {
  const all = calls + cancelledCalls;
  return {
    runs,
    calls,
    cancelled_calls: cancelledCalls,
    on_time_share: calls === 0 ? null : share(onTimeCalls, calls),
    median_late_seconds: median,
    p90_late_seconds: p90,
    cancelled_share: all === 0 ? null : share(cancelledCalls, all),
  };
}

const share = (part: number, whole: number) => Number((part / whole).toFixed(4));

export const USUAL_BASES = ['run', 'hour'] as const;
export interface Usual extends Figures {
  basis: (typeof USUAL_BASES)[number];
}

export const usualField = z
  .strictObject({
    based_on: field(
      z.enum(USUAL_BASES),
      '`run`: departures of this line from this stop planned at the same minute, on the same kind of day (Monday to Friday, Saturday, Sunday). `hour`: those planned in the same hour, where fewer than five of them are recorded',
    ),
    ...figureFields,
  })
  .nullable()
  .optional()
  .meta({
    id: 'Usual',
    description:
      'How late this departure usually is, from the days before today; null if nothing is recorded. Only with `include=usual`',
  });

export const USUAL_ADDED =
  '`usual`: how late this departure usually is, the share on time and cancelled, and how many runs that is based on.';

export function toUsualBody(usual: Usual | null | undefined) {
  return usual ? { based_on: usual.basis, ...toFiguresBody(usual) } : null;
}

/** A departure to look up. `stopId` is the platform or pole. */
export interface UsualLookup {
  /** In upper case. */
  lineId: string;
  mode: Mode;
  route: string;
  stopId: string;
  /** Milliseconds since 1970. */
  plannedAt: number;
}

/** Selects recorded calls of a line. Days, hours and minutes are those of the planned time in Sydney. */
export interface PunctualityQuery {
  /** In upper case, as all lines are recorded. */
  lineId: string;
  rule: OnTimeRule;
  /** The number of service days, today included. */
  days: number;
  /** Platforms and poles; null for all stops. */
  stopIds: readonly string[] | null;
  /** 0 is Monday; null for all days. */
  weekdays: readonly number[] | null;
  /** 0 to 23; null for all hours. */
  hours: readonly number[] | null;
  /** Minutes after midnight; null for all. */
  minute: number | null;
}

/** How punctual a line was: in total, by weekday and by hour. */
export interface LinePunctuality {
  total: Figures;
  /** Monday first; days without calls are empty figures. */
  byWeekday: Figures[];
  byHour: Figures[];
  /** The service days with recorded calls, as `YYYYMMDD`, oldest first. */
  days: string[];
}

/** The record of past runs. `load` rejects with an `ApiError` while nothing can be read. */
export interface Punctuality {
  load(query: PunctualityQuery): Promise<LinePunctuality>;
  /** In the order of the lookups; null for one without recorded calls. All are null if they cannot be read in time. */
  loadUsual(lookups: readonly UsualLookup[]): Promise<(Usual | null)[]>;
  state(): PunctualityState;
}

/** The state of the record, for the status page and the metrics. */
export interface PunctualityState {
  /** When the first recorded run began, in milliseconds since 1970; null before. */
  since: number | null;
  /** Why nothing is recorded; null while it is. */
  problem: string | null;
  bytes: number;
}

const NO_FIGURES: Figures = { runs: 0, calls: 0, cancelledCalls: 0, onTimeCalls: 0, median: null, p90: null };

/** The record of a service that has read no feed yet. */
export const emptyRecord: Punctuality = {
  load: async () => ({ total: NO_FIGURES, byWeekday: [], byHour: [], days: [] }),
  loadUsual: async (lookups) => lookups.map(() => null),
  state: () => ({ since: null, problem: null, bytes: 0 }),
};

import { DAY_MS, HOUR_MS } from '../core/clock.ts';
import type { Mode } from './mode.ts';

/** A call of a vehicle, used to find the alerts that apply to it. */
export interface AlertSubject {
  mode: Mode;
  /** Short route name. */
  route: string;
  /** Upstream's number for the network; null if unknown. */
  network: number | null;
  /** The run as in `RealtimeTripId`; null if unknown. */
  tripId: string | null;
  /** The platform, stand or pole first, then its station. */
  stopIds: readonly [string, ...string[]];
  /** The time of the call, in milliseconds since 1970. */
  at: number;
}

export interface AlertText {
  text: string;
  /** Whether wheelchair users may not be able to board. */
  restrictsWheelchairs: boolean;
}

/** Returns the alerts for a call in the order of the departure monitor: stop, line, run. */
export type FindAlerts = (subject: AlertSubject) => AlertText[];

/** Severities, most severe first. */
export const SEVERITIES = ['very_high', 'high', 'normal', 'low', 'very_low'] as const;

/** The kind of subject of an alert, fewest affected riders first. */
export const ALERT_KINDS = ['run', 'line', 'stop', 'facility', 'general'] as const;

/** Upstream's categories of alerts. */
export const ALERT_CATEGORIES = ['trackwork', 'service_change', 'lifts_escalators'] as const;

/** A stop where a lift is out of service. */
export interface LiftOut {
  alertId: string;
  stopId: string;
  /** The platforms that the alert names; empty if it is about the whole stop. */
  platforms: readonly string[];
}

/** Returns the lifts that are out of service at the given time, in milliseconds since 1970; null if no alerts are known. */
export type FindLiftsOut = (at: number) => readonly LiftOut[] | null;

/** An alert from upstream's list, and its subject. Times are in milliseconds since 1970. */
export interface CurrentAlert extends AlertText {
  title: string | null;
  kind: (typeof ALERT_KINDS)[number];
  /** Null if upstream gives none, or an unknown one. */
  category: (typeof ALERT_CATEGORIES)[number] | null;
  /** Upstream's term in snake case, such as `lift_failure`; null if there is none. */
  cause: string | null;
  severity: (typeof SEVERITIES)[number];
  url: string | null;
  /** Validity periods; null means no start or no end. */
  periods: readonly { from: number | null; until: number | null }[];
  /** All IDs of each stop, its own first, and the platforms that the alert names there. */
  stops: readonly { ids: readonly string[]; name: string | null; platforms: readonly string[] }[];
  routes: readonly { route: string; mode: Mode; network: number | null }[];
  /** The runs that the alert names. `endsAt` is an estimate when only the start is known. */
  runs: readonly { tripId: string | null; startsAt: number | null; endsAt: number | null; route: string | null }[];
  /** Whether the alert also affects runs that it does not name. */
  isOnWholeLines: boolean;
  updatedAt: number | null;
}

/** A late vehicle may still be running this long after its planned end. */
const MAX_LATE_MS = 3 * HOUR_MS;
/** An alert on runs without times stays valid this long. */
const UNDATED_MS = 2 * DAY_MS;

/**
 * Whether the alert applies at the given time. Upstream still lists years-old alerts without an end, so the times of the runs
 * decide for alerts about runs.
 */
export function holdsAt(alert: Omit<CurrentAlert, 'stops'>, at: number): boolean {
  const { kind, periods, runs, isOnWholeLines, updatedAt } = alert;
  const isValid = ({ from, until }: (typeof periods)[number]) => (from ?? at) <= at && at < (until ?? at + 1);
  if (periods.length > 0 && !periods.some(isValid)) return false;
  if (isOnWholeLines && kind !== 'run') return true;
  if (runs.some(({ endsAt }) => endsAt !== null)) return runs.some((run) => runsAt(run, at));
  return kind !== 'run' || updatedAt === null || at < updatedAt + UNDATED_MS;
}

const LIFT = /\blifts?\b/i;

/** Whether the alert says that a lift, and not only an escalator, is out of service. */
export function isOfLift({ category, cause, text }: Pick<CurrentAlert, 'category' | 'cause' | 'text'>): boolean {
  if (category !== 'lifts_escalators') return false;
  return cause === 'lift_failure' || (cause !== 'escalator_failure' && LIFT.test(text));
}

/** Whether the run may still be ahead or under way at the given time; false if its end is unknown. */
export function runsAt({ endsAt }: CurrentAlert['runs'][number], at: number): boolean {
  return endsAt !== null && at < endsAt + MAX_LATE_MS;
}

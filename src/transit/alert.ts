import { DAY_MS, HOUR_MS } from '../core/clock.ts';
import type { Mode } from './mode.ts';

/** A call of a vehicle, for the notices that concern it. */
export interface AlertSubject {
  mode: Mode;
  /** Short route name. */
  route: string;
  /** The trip planner's number of the network; null where it is not known. */
  network: number | null;
  /** As `RealtimeTripId` names the run; null where it is not known. */
  tripId: string | null;
  /** The platform, stand or pole, then its station. */
  stopIds: readonly [string, ...string[]];
  /** The time of the call, in milliseconds since 1970. */
  at: number;
}

export interface AlertText {
  text: string;
  /** Whether it says that a wheelchair may find no place on the vehicle. */
  restrictsWheelchairs: boolean;
}

/** The notices that concern a call, in the order of the departure monitor: those of the stop, the line, the run. */
export type FindAlerts = (subject: AlertSubject) => AlertText[];

/** How grave an alert is, the gravest first. */
export const SEVERITIES = ['very_high', 'high', 'normal', 'low', 'very_low'] as const;

/** The subject of an alert, that of the fewest riders first. */
export const ALERT_KINDS = ['run', 'line', 'stop', 'facility', 'general'] as const;

/** An alert of the authority's list, and what it is about. Moments in milliseconds since 1970. */
export interface CurrentAlert extends AlertText {
  title: string | null;
  kind: (typeof ALERT_KINDS)[number];
  severity: (typeof SEVERITIES)[number];
  url: string | null;
  /** When it is valid; null is without beginning or end. */
  periods: readonly { from: number | null; until: number | null }[];
  /** Every identifier of each stop, its own first, and the platforms that are named of it. */
  stops: readonly { ids: readonly string[]; name: string | null; platforms: readonly string[] }[];
  routes: readonly { route: string; mode: Mode; network: number | null }[];
  /** Runs that it names. `endsAt` is estimated where only the start is known. */
  runs: readonly { tripId: string | null; startsAt: number | null; endsAt: number | null; route: string | null }[];
  /** Whether it is about more than the runs that it names. */
  isOnWholeLines: boolean;
  updatedAt: number | null;
}

/** A late vehicle is on its way for so long after its planned end. */
const MOST_LATE_MS = 3 * HOUR_MS;
/** A notice on runs without times is believed for so long. */
const UNDATED_MS = 2 * DAY_MS;

/**
 * Whether the alert holds at that moment. Upstream goes on listing notices on runs of years ago, valid without end: the times
 * of their runs tell.
 */
export function holdsAt(alert: Omit<CurrentAlert, 'stops'>, at: number): boolean {
  const { kind, periods, runs, isOnWholeLines, updatedAt } = alert;
  const isValid = ({ from, until }: (typeof periods)[number]) => (from ?? at) <= at && at < (until ?? at + 1);
  if (periods.length > 0 && !periods.some(isValid)) return false;
  if (isOnWholeLines && kind !== 'run') return true;
  if (runs.some(({ endsAt }) => endsAt !== null)) return runs.some((run) => runsAt(run, at));
  return kind !== 'run' || updatedAt === null || at < updatedAt + UNDATED_MS;
}

/** False where the run is over by then. */
export function runsAt({ endsAt }: CurrentAlert['runs'][number], at: number): boolean {
  return endsAt !== null && at < endsAt + MOST_LATE_MS;
}

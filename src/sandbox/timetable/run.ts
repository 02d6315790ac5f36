import type { PatternNode } from '../network/network-index.ts';

/** One vehicle's journey along a pattern on one service day. */
export interface Run {
  pattern: PatternNode;
  /** The service day, in days since 1970-01-01. */
  day: number;
  /** Minute of the service day at which it departs its first call. */
  minute: number;
  /** The same in epoch seconds. */
  startSeconds: number;
  /** Made of line, pattern, service day and minute only, so that the run's traits never change. */
  seed: number;
}

export function classOf({ pattern }: Run): number {
  return pattern.line.product.class;
}

/** Planned time at a call, epoch seconds. Vehicles arrive and depart at the same planned time. */
export function plannedSeconds(run: Run, call: number): number {
  return run.startSeconds + (run.pattern.offsetSeconds[call] ?? 0);
}

/** Planned time at a call, cut to the minute as on boards. */
export function plannedMinuteSeconds(run: Run, call: number): number {
  const planned = plannedSeconds(run, call);
  return planned - (planned % 60);
}

/**
 * The run's identifiers in the realtime feeds: `AVMSTripID` only while the run reports, none on lines that never
 * report.
 */
export function runIdentifiers(run: Run, isReported: boolean): { RealtimeTripId?: string; AVMSTripID?: string } {
  if (!run.pattern.line.monitored) return {};
  const RealtimeTripId = realtimeTripId(run);
  return { RealtimeTripId, ...(isReported && { AVMSTripID: RealtimeTripId }) };
}

/** The only identifier of the extra run that replaces a cancelled one, an `AVMSTripID`. */
export function extraTripId(cancelled: Run): string {
  return `${realtimeTripId(cancelled).replace(/:1000$/, '')}-R:X`;
}

/** Number of the run, unique within its line and service day. */
export function tripCode(run: Run): number {
  return 1 + run.pattern.ordinal * 2000 + run.minute;
}

/** Each mode spells its identifiers in another way. No two runs have the same one. */
export function realtimeTripId(run: Run): string {
  const { pattern, minute, day } = run;
  const clock = `${String(Math.floor(minute / 60)).padStart(2, '0')}${String(minute % 60).padStart(2, '0')}`;
  const number = pattern.index * 2000 + minute;
  switch (pattern.line.product.class) {
    case 1:
    case 2:
      return `${clock.slice(0, 2)}-${'ABCDEFGH'[pattern.index % 8]}.${day % 10_000}.${pattern.index}.${minute}.B.8.${90_000_000 + number}`;
    case 4:
      return `${day}-${number}:1000`;
    case 9:
      return `${pattern.line.route ?? 'FY'}${clock}-${pattern.direction === 0 ? 'OUT' : 'IN'}.${day}.${pattern.ordinal}.${clock}`;
    default:
      return String((day % 100) * 1_000_000 + number);
  }
}

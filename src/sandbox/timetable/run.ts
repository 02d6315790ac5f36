import type { PatternNode } from '../network/network-index.ts';
import { seedWith } from '../trait.ts';
import type { RunList } from './timetable.ts';

/** One vehicle's journey along a pattern on one service day. */
export interface Run {
  pattern: PatternNode;
  day: number;
  /** Minute of the service day at which it departs its first call. */
  minute: number;
  /** The same in epoch seconds. */
  startSeconds: number;
  /** Made of line, pattern, service day and minute only, so that the run's traits never change. */
  seed: number;
}

export function runAt(pattern: PatternNode, list: RunList, position: number): Run {
  const day = list.days[position] ?? 0;
  const minute = list.minutes[position] ?? 0;
  const seed = seedWith(seedWith(pattern.seed, day), minute);
  return { pattern, day, minute, startSeconds: list.starts[position] ?? 0, seed };
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

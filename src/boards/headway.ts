import { MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import type { RunFacts } from '../realtime/live-timetable.ts';
import type { Timetable } from '../timetable/timetable.ts';

/**
 * The text for riders about a run without fixed times; empty if its times are fixed or live. The planned times of such a run
 * assume that vehicles keep the headway exactly.
 */
export function describeHeadway(timetable: Timetable, { like }: RunFacts, isLive: boolean): string[] {
  const headway = like < 0 || isLive ? null : timetable.headwayOf(like);
  if (headway === null) return [];
  const minutes = Math.ceil((headway * SECOND_MS) / MINUTE_MS);
  return [`No fixed times: one leaves about every ${minutes === 1 ? 'minute' : `${minutes} minutes`}.`];
}

import { dayBefore, toSydneyWallClock } from '../transit/time.ts';
import type { Operation } from './operation.ts';

/** Part of the descriptions of operations that search the timetable. */
export const DAY_PRICE = 'A day other than yesterday, today and tomorrow costs one more';

export function priceOf({ price }: Operation, query: Readonly<Record<string, unknown>>, now: number): number {
  return price?.(query, priceOfDay(query, now)) ?? 1;
}

/**
 * The requests that the day of a search costs in addition: none for yesterday, today and tomorrow, which are kept ready (see
 * `KEPT_DAYS` in journeys/engine-messages.ts), else one.
 */
function priceOfDay({ date, time }: { date?: string; time?: string }, now: number): number {
  const day = time?.includes('T') ? time.split('T')[0] : date;
  if (day === undefined) return 0;
  const { date: today } = toSydneyWallClock(now);
  return [dayBefore(today), today].includes(day) || dayBefore(day) === today ? 0 : 1;
}

import { dayBefore, toSydneyWallClock } from '../transit/time.ts';

/** Part of the descriptions of operations that search the timetable. */
export const DAY_PRICE = 'A day other than yesterday, today and tomorrow costs one more';

/**
 * The further requests that a search of this day costs: 1 for a day other than yesterday, today and tomorrow, which are kept ready (see
 * `KEPT_DAYS` in journeys/engine-messages.ts). Without a clock no day costs more.
 */
export function priceOfDay(
  { date, time }: { date?: string | undefined; time?: string | undefined },
  now: (() => Date) | undefined,
): number {
  const day = time?.includes('T') ? time.split('T')[0] : date;
  if (day === undefined || !now) return 0;
  const { date: today } = toSydneyWallClock(now());
  return [dayBefore(today), today].includes(day) || dayBefore(day) === today ? 0 : 1;
}

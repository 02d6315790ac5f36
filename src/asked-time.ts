import { pastDate } from './errors/messages.ts';
import { toSydneyWallClock, type WallClock } from './transit/time.ts';

/**
 * The moment a query asks for; null when it names neither date nor time, which means now. With a time only it is today,
 * with a date only the present time of day. Throws `DATE_OUT_OF_RANGE` for a day gone by.
 */
export function askedWallClock(
  { date, time }: { date?: string | undefined; time?: string | undefined },
  now: Date,
): WallClock | null {
  if (date === undefined && time === undefined) return null;
  const present = toSydneyWallClock(now);
  const asked = { date: date ?? present.date, time: time ?? present.time };
  if (asked.date < present.date) throw pastDate(asked.date, present.date);
  return asked;
}

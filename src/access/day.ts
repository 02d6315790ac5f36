/** A UTC day, `YYYYMMDD`. Part of a counter's name, so that a new day is a new counter. */
export type UtcDay = string;

const DAY_MS = 86_400_000;

export function utcDay(now: Date): UtcDay {
  return now.toISOString().slice(0, 10).replaceAll('-', '');
}

/** The day so many days after (before, when negative) the one of `now`. */
export function utcDayFrom(now: Date, days: number): UtcDay {
  return utcDay(new Date(now.getTime() + days * DAY_MS));
}

/** 00:00 UTC after the day. */
export function endOfDay(day: UtcDay): Date {
  const [year, month, date] = [day.slice(0, 4), day.slice(4, 6), day.slice(6, 8)].map(Number) as [
    number,
    number,
    number,
  ];
  return new Date(Date.UTC(year, month - 1, date + 1));
}

/** Whole seconds until then, rounded up: who waits that long is not too early. */
export function secondsUntil(instant: Date, now: Date): number {
  return Math.max(0, Math.ceil((instant.getTime() - now.getTime()) / 1000));
}

import type { SandboxCalendar, SandboxPattern, SandboxService } from '../network/network.ts';

/** The minutes of a service day at which a pattern departs, ascending. Two services at the same minute are one departure. */
export function departureMinutes(services: readonly SandboxService[], day: number): number[] {
  const minutes = new Set<number>();
  for (const { calendar, firstMinute, lastMinute, everyMinutes } of services) {
    if (!runsOn(calendar, day)) continue;
    for (let minute = firstMinute; minute <= lastMinute; minute += everyMinutes) minutes.add(minute);
  }
  return [...minutes].sort((a, b) => a - b);
}

/** The days of the week, Monday first, on which a pattern departs at a minute of the service day. */
export function weekdaysAt({ services }: SandboxPattern, minute: number): boolean[] {
  const departing = services.filter(
    ({ firstMinute, lastMinute, everyMinutes }) =>
      minute >= firstMinute && minute <= lastMinute && (minute - firstMinute) % everyMinutes === 0,
  );
  return Array.from({ length: 7 }, (_, day) => departing.some(({ calendar }) => calendar.weekdays[day]));
}

function runsOn({ weekdays, firstDay, lastDay }: SandboxCalendar, day: number): boolean {
  // 1970-01-01 was a Thursday.
  return day >= firstDay && day <= lastDay && weekdays[(day + 3) % 7] === true;
}

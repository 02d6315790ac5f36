import { EVENTS_PER_PAGE } from '#src/efa/departure-page.ts';
import type { SandboxNetwork } from '#src/sandbox/network/network.ts';
import { type Request, SYDNEY_HOURS_AHEAD } from './demand.ts';
import { createTimetabledNetwork } from './timetabled-network.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** Timetables of the evening before until the morning after. */
const DAYS = [-1, 0, 1];

/**
 * The fewest pages of timetables with which each board of the day has so many departures: each page is asked for at the
 * last moment, has the next forty departures, and is kept for the day. Cancellations and delays are left out.
 */
export function countFewestPages(demand: readonly Request[], stops: number, departuresOfABoard: number): number {
  const timetable = listDepartures(createTimetabledNetwork(stops));
  const known = Array<number>(stops).fill(0);
  let pages = 0;
  for (const request of demand) {
    if (request.kind !== 'departures') continue;
    const times = timetable[request.stop] ?? [];
    const next = countBefore(times, request.at);
    while ((known[request.stop] ?? 0) < Math.min(times.length, next + departuresOfABoard)) {
      known[request.stop] = Math.max(next, known[request.stop] ?? 0) + EVENTS_PER_PAGE;
      if (request.at >= 0) pages++;
    }
  }
  return pages;
}

/** The departures of each stop, in order, in milliseconds since the beginning of the day. */
function listDepartures({ stops, lines }: SandboxNetwork): number[][] {
  const stopOf = new Map(stops.flatMap(({ points }, stop) => points.map(({ id }) => [id, stop] as const)));
  const times = stops.map((): number[] => []);
  for (const { calls, services } of lines.flatMap(({ patterns }) => patterns)) {
    for (const { firstMinute, lastMinute, everyMinutes } of services) {
      for (let start = firstMinute; start <= lastMinute; start += everyMinutes) {
        // Nothing leaves at the last stop of a run.
        for (const { point, minutes } of calls.slice(0, -1)) times[stopOf.get(point) ?? 0]?.push(start + minutes);
      }
    }
  }
  return times.map((ofStop) =>
    DAYS.flatMap((day) =>
      ofStop.map((minute) => (minute + day * DAY_MINUTES - SYDNEY_HOURS_AHEAD * 60) * MINUTE_MS),
    ).sort((one, other) => one - other),
  );
}

/** How many of the times are earlier, by halving. */
function countBefore(times: readonly number[], moment: number): number {
  let low = 0;
  for (let high = times.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

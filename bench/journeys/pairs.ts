import { readFileSync } from 'node:fs';
import { DAY_MS } from '#src/core/clock.ts';
import { toDayNumber } from '#src/timetable/service-day.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import { distanceMetres } from '#src/transit/place.ts';

const CENTRAL: [number, number] = [-33.8832, 151.207];
const REACH_METRES = 25_000;

/**
 * A timetable as written by the import, and journey queries for it: each between two different random stops within 25 km of
 * Central, at a random time of a weekday between 06:00 and 22:00, on the third day of the timetable or later, and not before
 * `earliestDay`.
 */
export function openPairs(file: string, seed: number, earliestDay = 0) {
  const bytes = readFileSync(file);
  const packed = new SharedArrayBuffer(bytes.length);
  new Uint8Array(packed).set(bytes);
  const timetable = new Timetable(packed);
  const firstDay = Math.max(earliestDay, (toDayNumber(timetable.files[0]?.firstDay ?? '') ?? 0) + 2);
  // Day 0 was a Thursday.
  const weekday = firstDay + Math.max(0, 2 - ((firstDay + 5) % 7));
  const date = new Date(weekday * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
  const stops = Array.from({ length: timetable.stopCount }, (_, index) => timetable.stop(index)).filter(
    ({ lat, lng, modes, index }) =>
      modes.length > 0 && timetable.patternsAt(index).length > 0 && distanceMetres([lat, lng], CENTRAL) < REACH_METRES,
  );
  let state = seed;

  /** Mulberry32. */
  function random(below: number): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  }

  function nextPair() {
    const index = random(stops.length);
    const from = stops[index];
    const to = stops[(index + 1 + random(stops.length - 1)) % stops.length];
    const minute = 360 + random(960);
    const time = `${String(Math.floor(minute / 60)).padStart(2, '0')}${String(minute % 60).padStart(2, '0')}`;
    return { from: from?.id ?? '', to: to?.id ?? '', date, time };
  }

  /** What is within 45 minutes of a position within some 2 km of the middle of the city. */
  function nextReach() {
    const { date, time } = nextPair();
    const [lat, lng] = [-33.873, 151.207].map((degrees) => (degrees + (random(40_000) - 20_000) / 1e6).toFixed(6));
    return { from: `${lat},${lng}`, date, time, minutes: '45' };
  }

  /** A pair with nine more destinations: all are different, and none is the origin. */
  function nextTimes() {
    const { to, ...query } = nextPair();
    const destinations = new Set([to]);
    while (destinations.size < 10) {
      const next = nextPair().to;
      if (next !== query.from) destinations.add(next);
    }
    return { ...query, to: [...destinations].join() };
  }

  return { packed, timetable, weekday, stopCount: stops.length, random, nextPair, nextReach, nextTimes };
}

import { expect, it } from 'vitest';
import type { SandboxLine, SandboxPattern, SandboxService } from '#sandbox/network/network.ts';
import {
  at,
  CENTRAL,
  called,
  DECOMMISSIONED,
  lines,
  metres,
  minutesOf,
  patterns,
  places,
  stopOf,
  stops,
} from './own-network.ts';

const TOWN_HALL = '200070';
const CIRCULAR_QUAY = '200020';
const ISLAND = ['G99006001', 'G99006002', 'G99006003', 'G99006004'];

/** The departures from a stop on a weekday, in minutes after midnight. */
function departures(stopId: string, from: string, until: string, wanted: (line: SandboxLine) => boolean): number {
  let count = 0;
  for (const { line, pattern } of patterns) {
    if (!wanted(line)) continue;
    const call = pattern.calls.slice(0, -1).find(({ point }) => at(point).stop.id === stopId);
    if (!call) continue;
    for (const start of starts(pattern)) {
      const time = start + call.minutes;
      if (time >= minutesOf(from) && time < minutesOf(until)) count++;
    }
  }
  return count;
}

/** The first departures on a Wednesday, in minutes; those past midnight exceed 24 × 60. */
function starts(pattern: SandboxPattern): number[] {
  return pattern.services
    .filter((service) => service.calendar.weekdays[2])
    .flatMap(({ firstMinute, lastMinute, everyMinutes }) => {
      const length = Math.floor((lastMinute - firstMinute) / everyMinutes) + 1;
      return Array.from({ length }, (_, index) => firstMinute + index * everyMinutes);
    });
}

const runsOnWeekend = ({ calendar }: SandboxService) => calendar.weekdays.slice(5).some(Boolean);
const runsOnWeekdays = ({ calendar }: SandboxService) => calendar.weekdays.slice(0, 5).some(Boolean);

it('Town Hall in the sandbox has enough departures for several pages', () => {
  expect(departures(TOWN_HALL, '13:00', '13:20', () => true)).toBeGreaterThan(40);
  expect(departures(TOWN_HALL, '13:00', '15:00', (line) => line.product.class === 1)).toBeGreaterThanOrEqual(50);
  expect(departures(TOWN_HALL, '13:00', '16:00', (line) => line.product.class === 5)).toBeGreaterThanOrEqual(50);
});

it('the large interchanges of the sandbox have departures in every hour of the night', () => {
  for (const stop of [TOWN_HALL, CENTRAL, CIRCULAR_QUAY]) {
    for (const hour of ['00', '01', '02', '03', '04']) {
      expect(
        departures(stop, `${hour}:00`, `${hour}:59`, () => true),
        `${stop} ${hour}`,
      ).toBeGreaterThan(0);
    }
  }
});

it('one sandbox stop near Central is served by nothing', () => {
  const ghost = stopOf(DECOMMISSIONED);
  expect(ghost.points.some((point) => called.has(point.id))).toBe(false);
  expect(metres(ghost, stopOf(CENTRAL))).toBeLessThan(500);
});

it('Merimbula is isolated in the sandbox: no line goes there, and all other stops are far away', () => {
  const island = new Set(ISLAND);
  for (const { pattern } of patterns) {
    const there = pattern.calls.filter((call) => island.has(at(call.point).stop.id)).length;
    expect([0, pattern.calls.length]).toContain(there);
  }
  for (const id of ISLAND) {
    expect(stopOf(id).points.some((point) => called.has(point.id))).toBe(true);
    const others = stops.filter((stop) => !island.has(stop.id));
    expect(Math.min(...others.map((stop) => metres(stop, stopOf(id))))).toBeGreaterThan(3000);
  }
});

it('two sandbox stops have school buses only, on weekdays only', () => {
  for (const id of ['G99005001', 'G99005002']) {
    const here = patterns.filter(({ pattern }) => pattern.calls.some((call) => at(call.point).stop.id === id));
    expect(here.length).toBeGreaterThan(0);
    for (const { line, pattern } of here) {
      expect(line.product.class).toBe(11);
      expect(pattern.services.some(runsOnWeekend)).toBe(false);
    }
  }
});

it('one sandbox line runs on weekends only, and some lines never report', () => {
  const weekends = lines.filter((line) => line.patterns.every((pattern) => !pattern.services.some(runsOnWeekdays)));
  expect(weekends.map((line) => line.route)).toEqual(['CCSH']);
  expect(lines.filter((line) => !line.monitored).map((line) => line.number.split(' ')[0])).toEqual(
    expect.arrayContaining(['CCTZ', '611', '165', 'S120']),
  );
});

it('sandbox places share words with stops', () => {
  expect(places.length).toBeGreaterThanOrEqual(60);
  for (const word of ['Central', 'Epping', 'Town Hall', 'Circular Quay', 'Manly']) {
    expect(
      places.some((place) => place.name.includes(word)),
      word,
    ).toBe(true);
    expect(
      stops.some((stop) => stop.name.includes(word)),
      word,
    ).toBe(true);
  }
});

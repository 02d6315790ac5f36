import { describe, expect, it } from 'vitest';
import type { Position } from '#sandbox/network/network.ts';
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
  pointsById,
  stopOf,
  stops,
} from './own-network.ts';

/** The distance from a position to a line, in metres. */
function metresToPath(path: readonly Position[], to: Position): number {
  let nearest = Number.POSITIVE_INFINITY;
  const scale = Math.cos((to.lat * Math.PI) / 180);
  for (let i = 1; i < path.length; i++) {
    const [from, end] = [path[i - 1], path[i]] as [Position, Position];
    const [x, y] = [(end.lng - from.lng) * scale, end.lat - from.lat];
    const [px, py] = [(to.lng - from.lng) * scale, to.lat - from.lat];
    const square = x * x + y * y;
    const along = square === 0 ? 0 : Math.min(1, Math.max(0, (px * x + py * y) / square));
    nearest = Math.min(nearest, Math.hypot(px - along * x, py - along * y) * 111_320);
  }
  return nearest;
}

function duplicates(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

describe('IDs of the sandbox network', () => {
  it('sandbox IDs are unique among stops and points together, and among internal numbers, lines and places', () => {
    expect(duplicates([...stops.map((stop) => stop.id), ...pointsById.keys()])).toEqual([]);
    expect(duplicates(stops.map((stop) => stop.stopId))).toEqual([]);
    expect(duplicates(lines.map((line) => line.id))).toEqual([]);
    expect(duplicates(places.map((place) => place.id))).toEqual([]);
  });

  it('each sandbox point belongs to one stop', () => {
    expect(pointsById.size).toBe(stops.reduce((sum, stop) => sum + stop.points.length, 0));
  });

  it('at least 80 sandbox stops have real IDs, and all others have IDs from the sandbox range', () => {
    expect(stops.filter((stop) => !/^G?99/.test(stop.id)).length).toBeGreaterThanOrEqual(80);
    for (const stop of stops) expect(stop.id).toMatch(/^(?!G?99)G?\d{5,7}$|^G?9900\d{4}$/);
    for (const id of pointsById.keys()) expect(id).toMatch(/^(?!99)\d{5,7}$|^99(?!00)\d{6}$/);
    for (const stop of stops) expect(stop.stopId).toMatch(/^101\d{5}$|^98\d{6}$/);
  });

  it('the ID of a sandbox street stop group can differ from the IDs of its poles', () => {
    const group = stopOf('G2151152');
    expect(group.points.map((point) => `G${point.id}`)).not.toContain(group.id);
  });
});

describe('points of the sandbox network', () => {
  it('sandbox points have names and codes', () => {
    for (const stop of stops) {
      expect([stop.name, stop.locality].every((text) => text.trim() === text && text.length > 0)).toBe(true);
      expect(stop.points.length).toBeGreaterThan(0);
      for (const point of stop.points) expect(point.code.length * point.platformName.length).toBeGreaterThan(0);
    }
  });

  it('sandbox points lie in New South Wales or the ACT, near their stop', () => {
    for (const stop of stops) {
      for (const { lat, lng } of [stop, ...stop.points]) {
        expect(lat).toBeGreaterThan(-37.6);
        expect(lat).toBeLessThan(-28);
        expect(lng).toBeGreaterThan(140.9);
        expect(lng).toBeLessThan(153.7);
      }
      for (const point of stop.points) expect(metres(stop, point), point.id).toBeLessThan(700);
    }
  });

  it('all sandbox points are served, except spare platforms of Central and the decommissioned stop', () => {
    const idle = [...pointsById.values()].filter(({ point }) => !called.has(point.id)).map(({ stop }) => stop.id);
    expect([...new Set(idle)].sort()).toEqual([CENTRAL, DECOMMISSIONED]);
  });

  it('exactly the sandbox suburbs in the ACT end in (ACT)', () => {
    for (const stop of stops) {
      const inTerritory = stop.lat > -35.6 && stop.lat < -35.1 && stop.lng > 148.9 && stop.lng < 149.4;
      expect(stop.locality.endsWith(' (ACT)'), stop.name).toBe(inTerritory);
    }
  });

  it('one sandbox point is named by its code', () => {
    const glitches = [...pointsById.values()].filter(({ point }) => point.code === point.platformName);
    expect(glitches.map(({ point }) => point.platformName)).toEqual(['THL6']);
  });
});

describe('lines of the sandbox network', () => {
  it('sandbox lines cover all seven product classes', () => {
    expect([...new Set(lines.map((line) => line.product.class))].sort((a, b) => a - b)).toEqual([1, 2, 4, 5, 7, 9, 11]);
  });

  it('exactly the coaches and school buses of the sandbox have no short name', () => {
    for (const line of lines) expect(line.route === null, line.id).toBe([7, 11].includes(line.product.class));
  });

  it('sandbox lines run in both directions', () => {
    for (const line of lines) {
      const sequences = line.patterns.map(({ calls }) => calls.map((call) => at(call.point).stop));
      const boarded = sequences.flatMap((sequence) => sequence.slice(0, -1));
      // The same line leads back from the last stop or from across the street.
      for (const sequence of sequences) {
        const end = sequence.at(-1);
        expect(end && boarded.some((stop) => metres(stop, end) < 100), `${line.number} ${end?.name}`).toBe(true);
      }
    }
  });

  it('sandbox lines call at known points, once per stop, at a plausible speed', () => {
    for (const { line, pattern } of patterns) {
      expect(pattern.calls.length).toBeGreaterThanOrEqual(2);
      expect(pattern.calls[0]?.minutes).toBe(0);
      expect(duplicates(pattern.calls.map((call) => at(call.point).stop.id))).toEqual([]);
      const [slowest, fastest] = line.product.class === 9 ? [5, 60] : [3, 130];
      for (let i = 1; i < pattern.calls.length; i++) {
        const [from, to] = [pattern.calls[i - 1], pattern.calls[i]];
        if (!from || !to) throw new Error('unreachable');
        expect(to.minutes).toBeGreaterThan(from.minutes);
        const speed = metres(at(from.point).point, at(to.point).point) / 1000 / ((to.minutes - from.minutes) / 60);
        const where = `${line.number} ${from.point} ${to.point}`;
        expect(speed, where).toBeGreaterThan(slowest);
        expect(speed, where).toBeLessThan(fastest);
      }
    }
  });

  it('sandbox services stay within one service day', () => {
    for (const { line, pattern } of patterns) {
      expect(pattern.services.length, line.id).toBeGreaterThan(0);
      for (const service of pattern.services) {
        expect(service.lastMinute).toBeGreaterThanOrEqual(service.firstMinute);
        expect(service.lastMinute).toBeLessThan(minutesOf('26:00'));
        expect(service.calendar.weekdays).toHaveLength(7);
        expect(service.calendar.lastDay).toBeGreaterThan(Date.parse('2090-01-01') / 86_400_000);
      }
    }
    expect(
      patterns.some(({ pattern }) => pattern.services.some(({ lastMinute }) => lastMinute > minutesOf('24:00'))),
    ).toBe(true);
  });

  it('paths of sandbox lines begin and end at their calls and pass the others in order', () => {
    const drawn = patterns.filter(({ pattern }) => pattern.path);
    expect(drawn.length).toBeGreaterThanOrEqual(10);
    for (const { line, pattern } of drawn) {
      const path = pattern.path ?? [];
      expect(path.length, line.number).toBeLessThanOrEqual(150);
      let reached = 0;
      for (const call of pattern.calls) {
        const { point } = at(call.point);
        expect(metresToPath(path, point), `${line.number} ${call.point}`).toBeLessThan(150);
        const index = path.findIndex((place, i) => i >= reached && metres(place, point) < 150);
        expect(index, `${line.number} ${call.point}`).toBeGreaterThanOrEqual(reached);
        reached = index;
      }
      const [first, last] = [path[0], path.at(-1)];
      const [from, to] = [pattern.calls[0], pattern.calls.at(-1)];
      if (!first || !last || !from || !to) throw new Error('unreachable');
      expect(metres(first, at(from.point).point)).toBeLessThan(150);
      expect(metres(last, at(to.point).point)).toBeLessThan(150);
    }
  });
});

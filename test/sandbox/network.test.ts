import { describe, expect, it } from 'vitest';
import { SANDBOX_NETWORK } from '#src/sandbox/network/sandbox-network.ts';
import type { SandboxLine, SandboxPattern, SandboxPoint, SandboxStop } from '#src/sandbox/network.ts';

const { stops, lines, places } = SANDBOX_NETWORK;

const STATION = '200060';
const TOWN_HALL = '200070';
const DECOMMISSIONED = 'G99002099';
const ISLAND = ['G99006001', 'G99006002', 'G99006003', 'G99006004'];

const pointsById = new Map<string, { point: SandboxPoint; stop: SandboxStop }>();
for (const stop of stops) for (const point of stop.points) pointsById.set(point.id, { point, stop });

const runs = lines.flatMap((line) => line.patterns.map((pattern) => ({ line, pattern })));
const called = new Set(runs.flatMap(({ pattern }) => pattern.calls.map((call) => call.point)));

function at(id: string): { point: SandboxPoint; stop: SandboxStop } {
  const found = pointsById.get(id);
  if (!found) throw new Error(`no point ${id}`);
  return found;
}

function stopOf(id: string): SandboxStop {
  const stop = stops.find((candidate) => candidate.id === id);
  if (!stop) throw new Error(`no stop ${id}`);
  return stop;
}

function metres(a: { lat: number; lng: number }, b: { lat: number; lng: number }): number {
  const eastward = (b.lng - a.lng) * Math.cos((a.lat * Math.PI) / 180);
  return Math.hypot(eastward, b.lat - a.lat) * 111_320;
}

/** Distance of a position from a line, in metres. */
function metresToPath(path: readonly (readonly [number, number])[], to: { lat: number; lng: number }): number {
  let nearest = Number.POSITIVE_INFINITY;
  const scale = Math.cos((to.lat * Math.PI) / 180);
  for (let i = 1; i < path.length; i++) {
    const [fromLat, fromLng] = path[i - 1] as readonly [number, number];
    const [lat, lng] = path[i] as readonly [number, number];
    const [x, y] = [(lng - fromLng) * scale, lat - fromLat];
    const [px, py] = [(to.lng - fromLng) * scale, to.lat - fromLat];
    const square = x * x + y * y;
    const along = square === 0 ? 0 : Math.min(1, Math.max(0, (px * x + py * y) / square));
    nearest = Math.min(nearest, Math.hypot(px - along * x, py - along * y) * 111_320);
  }
  return nearest;
}

function minutesOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
}

function duplicates(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

/** Departures of a weekday from a stop, as minutes after midnight. */
function departures(stopId: string, from: string, until: string, wanted: (line: SandboxLine) => boolean): number {
  let count = 0;
  for (const { line, pattern } of runs) {
    if (!wanted(line)) continue;
    const call = pattern.calls.slice(0, -1).find(({ point }) => at(point).stop.id === stopId);
    if (!call) continue;
    for (const start of starts(pattern, 'weekdays')) {
      const time = start + call.minutes;
      if (time >= minutesOf(from) && time < minutesOf(until)) count++;
    }
  }
  return count;
}

/** All first departures of a kind of day, those past midnight too as minutes of the following morning. */
function starts(pattern: SandboxPattern, days: 'weekdays' | 'weekends'): number[] {
  return pattern.services
    .filter((service) => service.days === 'daily' || service.days === days)
    .flatMap((service) => {
      const [first, last] = [minutesOf(service.from), minutesOf(service.until)];
      const length = Math.floor((last - first) / service.everyMinutes) + 1;
      return Array.from({ length }, (_, index) => first + index * service.everyMinutes);
    });
}

describe('identifiers', () => {
  it('are unique among stops and points together, and among internal numbers, lines and places', () => {
    expect(duplicates([...stops.map((stop) => stop.id), ...pointsById.keys()])).toEqual([]);
    expect(duplicates(stops.map((stop) => stop.stopId))).toEqual([]);
    expect(duplicates(lines.map((line) => line.id))).toEqual([]);
    expect(duplicates(places.map((place) => place.id))).toEqual([]);
  });

  it('belong to one stop each, so that no point is shared', () => {
    expect(pointsById.size).toBe(stops.reduce((sum, stop) => sum + stop.points.length, 0));
  });

  it('are the true ones for at least 80 stops, and otherwise plainly the own', () => {
    expect(stops.filter((stop) => !/^G?99/.test(stop.id)).length).toBeGreaterThanOrEqual(80);
    for (const stop of stops) expect(stop.id).toMatch(/^(?!G?99)G?\d{5,7}$|^G?9900\d{4}$/);
    for (const id of pointsById.keys()) expect(id).toMatch(/^(?!99)\d{5,7}$|^99(?!00)\d{6}$/);
    for (const stop of stops) expect(stop.stopId).toMatch(/^101\d{5}$|^98\d{6}$/);
  });

  it('have poles numbered otherwise than their group somewhere', () => {
    const group = stopOf('G2151152');
    expect(group.points.map((point) => `G${point.id}`)).not.toContain(group.id);
  });
});

describe('places to stand', () => {
  it('have names and codes', () => {
    for (const stop of stops) {
      expect([stop.name, stop.locality].every((text) => text.trim() === text && text.length > 0)).toBe(true);
      expect(stop.points.length).toBeGreaterThan(0);
      for (const point of stop.points) expect(point.code.length * point.platformName.length).toBeGreaterThan(0);
    }
  });

  it('lie in New South Wales or the ACT, near their stop', () => {
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

  it('are all served, but spare ones of the great interchange and the decommissioned stop', () => {
    const idle = [...pointsById.values()].filter(({ point }) => !called.has(point.id)).map(({ stop }) => stop.id);
    expect([...new Set(idle)].sort()).toEqual([STATION, DECOMMISSIONED]);
  });

  it('carry the suffix of the ACT there, and only there', () => {
    for (const stop of stops) {
      const inTerritory = stop.lat > -35.6 && stop.lat < -35.1 && stop.lng > 148.9 && stop.lng < 149.4;
      expect(stop.locality.endsWith(' (ACT)'), stop.name).toBe(inTerritory);
    }
  });

  it('include one announced with its bare code', () => {
    const glitches = [...pointsById.values()].filter(({ point }) => point.code === point.platformName);
    expect(glitches.map(({ point }) => point.platformName)).toEqual(['THL6']);
  });
});

describe('lines', () => {
  it('are of all seven classes', () => {
    expect([...new Set(lines.map((line) => line.product.class))].sort((a, b) => a - b)).toEqual([1, 2, 4, 5, 7, 9, 11]);
  });

  it('have no short name exactly where they are coaches or school buses', () => {
    for (const line of lines) expect(line.route === null, line.id).toBe([7, 11].includes(line.product.class));
  });

  it('run both ways', () => {
    for (const line of lines) {
      const sequences = line.patterns.map(({ calls }) => calls.map((call) => at(call.point).stop));
      const boarded = sequences.flatMap((sequence) => sequence.slice(0, -1));
      // Where a vehicle ends, or across the street, there is a ride of the same line away again.
      for (const sequence of sequences) {
        const end = sequence.at(-1);
        expect(end && boarded.some((stop) => metres(stop, end) < 100), `${line.number} ${end?.name}`).toBe(true);
      }
    }
  });

  it('call at known points, once at a stop, at believable speed', () => {
    for (const { line, pattern } of runs) {
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

  it('have services which make sense', () => {
    for (const { line, pattern } of runs) {
      expect(pattern.services.length, line.id).toBeGreaterThan(0);
      for (const service of pattern.services) {
        expect(service.from).toMatch(/^[0-2]\d:[0-5]\d$/);
        expect(service.until).toMatch(/^[0-2]\d:[0-5]\d$/);
        expect(minutesOf(service.until)).toBeGreaterThanOrEqual(minutesOf(service.from));
        expect(minutesOf(service.until)).toBeLessThan(minutesOf('26:00'));
        expect(service.everyMinutes).toBeGreaterThan(0);
      }
    }
    expect(
      runs.some(({ pattern }) => pattern.services.some(({ until }) => minutesOf(until) > minutesOf('24:00'))),
    ).toBe(true);
  });

  it('follow ways that begin and end at their calls and pass the others in order', () => {
    const drawn = runs.filter(({ pattern }) => pattern.path);
    expect(drawn.length).toBeGreaterThanOrEqual(10);
    for (const { line, pattern } of drawn) {
      const path = pattern.path ?? [];
      expect(path.length, line.number).toBeLessThanOrEqual(150);
      let reached = 0;
      for (const call of pattern.calls) {
        const { point } = at(call.point);
        expect(metresToPath(path, point), `${line.number} ${call.point}`).toBeLessThan(150);
        const index = path.findIndex(([lat, lng], i) => i >= reached && metres({ lat, lng }, point) < 150);
        expect(index, `${line.number} ${call.point}`).toBeGreaterThanOrEqual(reached);
        reached = index;
      }
      const [first, last] = [path[0], path.at(-1)];
      const [from, to] = [pattern.calls[0], pattern.calls.at(-1)];
      if (!first || !last || !from || !to) throw new Error('unreachable');
      expect(metres({ lat: first[0], lng: first[1] }, at(from.point).point)).toBeLessThan(150);
      expect(metres({ lat: last[0], lng: last[1] }, at(to.point).point)).toBeLessThan(150);
    }
  });
});

describe('what the sandbox is for', () => {
  it('has a busy day at Town Hall', () => {
    expect(departures(TOWN_HALL, '13:00', '13:20', () => true)).toBeGreaterThan(40);
    expect(departures(TOWN_HALL, '13:00', '15:00', (line) => line.product.class === 1)).toBeGreaterThanOrEqual(50);
    expect(departures(TOWN_HALL, '13:00', '16:00', (line) => line.product.class === 5)).toBeGreaterThanOrEqual(50);
  });

  it('has something depart from the big interchanges in every hour of the night', () => {
    for (const stop of [TOWN_HALL, STATION, '200020']) {
      for (const hour of ['00', '01', '02', '03', '04']) {
        expect(
          departures(stop, `${hour}:00`, `${hour}:59`, () => true),
          `${stop} ${hour}`,
        ).toBeGreaterThan(0);
      }
    }
  });

  it('has a stop beside Central where nothing calls', () => {
    const ghost = stopOf(DECOMMISSIONED);
    expect(ghost.points.some((point) => called.has(point.id))).toBe(false);
    expect(metres(ghost, stopOf(STATION))).toBeLessThan(500);
  });

  it('has an island no line leads to, far from every other stop', () => {
    const island = new Set(ISLAND);
    for (const { pattern } of runs) {
      const there = pattern.calls.filter((call) => island.has(at(call.point).stop.id)).length;
      expect([0, pattern.calls.length]).toContain(there);
    }
    for (const id of ISLAND) {
      expect(stopOf(id).points.some((point) => called.has(point.id))).toBe(true);
      const others = stops.filter((stop) => !island.has(stop.id));
      expect(Math.min(...others.map((stop) => metres(stop, stopOf(id))))).toBeGreaterThan(3000);
    }
  });

  it('has stops with school buses only, on weekdays only', () => {
    for (const id of ['G99005001', 'G99005002']) {
      const here = runs.filter(({ pattern }) => pattern.calls.some((call) => at(call.point).stop.id === id));
      expect(here.length).toBeGreaterThan(0);
      for (const { line, pattern } of here) {
        expect(line.product.class).toBe(11);
        expect(pattern.services.every((service) => service.days === 'weekdays')).toBe(true);
      }
    }
  });

  it('has a line of weekends only, and lines which do not report', () => {
    const weekends = lines.filter((line) =>
      line.patterns.every((pattern) => pattern.services.every((service) => service.days === 'weekends')),
    );
    expect(weekends.map((line) => line.route)).toEqual(['CCSH']);
    expect(lines.filter((line) => !line.monitored).map((line) => line.number.split(' ')[0])).toEqual(
      expect.arrayContaining(['CCTZ', '611', '165', 'S120']),
    );
  });

  it('has places which share words with stops', () => {
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
});

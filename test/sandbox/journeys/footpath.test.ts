import { expect, it } from 'vitest';
import { footpathsFrom } from '#sandbox/journeys/footpath.ts';
import type { SandboxStop } from '#sandbox/network/network.ts';
import { distanceMetres } from '#sandbox/network/network.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';

const METRE = 1 / 111_195;

/** Stops along a meridian. Each number is the position of a point, in metres. */
function footpathsAlong(stops: number[][]) {
  const index = indexNetwork({
    stops: stops.map((metres, i): SandboxStop => {
      const points = metres.map((at) => ({
        id: `${at}`,
        code: 'X',
        platformName: 'X',
        lat: -33 + at * METRE,
        lng: 151,
      }));
      const position = { lat: points[0]?.lat ?? 0, lng: 151 };
      return { id: `s${i}`, stopId: `n${i}`, name: 'X', locality: 'X', wheelchairAccess: true, ...position, points };
    }),
    lines: [],
    places: [],
  });
  return (from: number) => {
    const node = index.pointById.get(`${from}`);
    if (node === undefined) throw new Error(`no point at ${from} m`);
    return Object.fromEntries(footpathsFrom(index, node).map(({ to, seconds }) => [to.id, seconds]));
  };
}

it('a change takes one minute at the same platform, at least two within the stop, and more for a longer walk', () => {
  const from = footpathsAlong([[0, 10, 200]]);
  expect(from(0)).toEqual({ 0: 60, 10: 120, 200: 300 });
});

it('a footpath is at most 400 metres between stops, and of any length within a stop', () => {
  const from = footpathsAlong([[0, 700], [395], [405]]);
  expect(from(0)).toEqual({ 0: 60, 700: 900, 395: 540 });
  expect(from(395)).toEqual({ 0: 540, 700: 480, 395: 60, 405: 120 });
});

it('a degree of longitude is shorter than a degree of latitude', () => {
  expect(distanceMetres({ lat: -33, lng: 151 }, { lat: -34, lng: 151 })).toBeCloseTo(111_195, -2);
  expect(distanceMetres({ lat: -60, lng: 151 }, { lat: -60, lng: 152 })).toBeCloseTo(55_600, -2);
});

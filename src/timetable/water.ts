import type { Position } from '../transit/place.ts';
import { METRES_PER_MICRO_DEGREE } from './import/simplify.ts';
import type { Sections } from './packed-timetable.ts';

/** A walk that comes this close to a ferry's path is over water too: between two wharves, both run along nearly the same line. */
const NEAR_METRES = 20;
/** Size of a cell in millionths of a degree: about 550 m from south to north. */
const CELL = 5000;
const CELLS_AROUND = 100_000;

/** [south to north, west to east] in metres from latitude 0 and longitude 0, scaled for the latitude of the timetable's ferries. */
type Point = readonly [y: number, x: number];

/**
 * Returns a function that reports whether a straight line of up to some kilometres crosses a ferry's path. It detects only waters
 * with ferries whose shape is known.
 */
export function createWater({ ferryWays }: Pick<Sections, 'ferryWays'>): (from: Position, to: Position) => boolean {
  const cells = new Map<number, number[]>();
  const east = Math.cos(((ferryWays[0] ?? 0) / 1e6) * (Math.PI / 180));
  const pointAt = (at: number): Point => toMetres(ferryWays.valueAt(at), ferryWays.valueAt(at + 1));
  const toMetres = (lat: number, lng: number): Point => [
    lat * METRES_PER_MICRO_DEGREE,
    lng * METRES_PER_MICRO_DEGREE * east,
  ];
  for (let at = 0; at < ferryWays.length; at += 4) {
    for (const cell of cellsBetween(...(ferryWays.subarray(at, at + 4) as unknown as Ends))) {
      const there = cells.get(cell);
      if (there) there.push(at);
      else cells.set(cell, [at]);
    }
  }
  return ([fromLat, fromLng], [toLat, toLng]) => {
    const ends = [fromLat, fromLng, toLat, toLng].map((degrees) => degrees * 1e6) as unknown as Ends;
    for (const cell of cells.size > 0 ? cellsBetween(...ends) : []) {
      for (const at of cells.get(cell) ?? []) {
        if (areNear([toMetres(ends[0], ends[1]), toMetres(ends[2], ends[3])], [pointAt(at), pointAt(at + 2)]))
          return true;
      }
    }
    return false;
  };
}

type Ends = readonly [fromLat: number, fromLng: number, toLat: number, toLng: number];

/** The cells around a line, with a margin. */
function* cellsBetween(...[fromLat, fromLng, toLat, toLng]: Ends): Generator<number> {
  const reach = NEAR_METRES / METRES_PER_MICRO_DEGREE;
  const [south, north] = [Math.min(fromLat, toLat), Math.max(fromLat, toLat)];
  const [west, east] = [Math.min(fromLng, toLng), Math.max(fromLng, toLng)];
  for (let row = Math.floor((south - reach) / CELL); row <= Math.floor(north / CELL); row++) {
    for (let column = Math.floor((west - reach) / CELL); column <= Math.floor(east / CELL); column++) {
      yield row * CELLS_AROUND + column;
    }
  }
}

type Segment = readonly [Point, Point];

function areNear(a: Segment, b: Segment): boolean {
  if (sideOf(a, b[0]) * sideOf(a, b[1]) < 0 && sideOf(b, a[0]) * sideOf(b, a[1]) < 0) return true;
  const ends = [...a.map((point) => metresTo(b, point)), ...b.map((point) => metresTo(a, point))];
  return Math.min(...ends) < NEAR_METRES;
}

function sideOf([[startY, startX], [endY, endX]]: Segment, [y, x]: Point): number {
  return (endX - startX) * (y - startY) - (endY - startY) * (x - startX);
}

function metresTo([[startY, startX], [endY, endX]]: Segment, [y, x]: Point): number {
  const [dy, dx] = [endY - startY, endX - startX];
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - startX) * dx + (y - startY) * dy) / length));
  return Math.hypot(x - startX - along * dx, y - startY - along * dy);
}

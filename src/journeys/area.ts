import { contours } from 'd3-contour';
import type { Timetable } from '../timetable/timetable.ts';
import type { Choices } from '../transit/choices.ts';
import { distanceMetres, METRES_PER_DEGREE, type Position } from '../transit/position.ts';
import { LONGEST_WALK_METRES, walkMetres } from '../transit/walking.ts';
import type { Reached } from './reached.ts';

/** A place from which a rider can walk this far. */
export interface Circle {
  position: Position;
  metres: number;
  /** The metres to the water in each direction, clockwise from north; null if there is no water nearby. */
  shore: Float32Array | null;
  /** The circle of the stop where the walk to this one began. */
  walkedFrom?: Circle | undefined;
}

const DIRECTIONS = 32;
/** The direction in which a point lies, as a number below `DIRECTIONS`: clockwise from north. */
const directionOf = (north: number, east: number) =>
  Math.round((Math.atan2(east, north) / (2 * Math.PI)) * DIRECTIONS + DIRECTIONS) % DIRECTIONS;
/** The distance to the water is found by this many halvings, to a 16th of the maximum. */
const HALVINGS = 4;

/** Polygons as in GeoJSON: each has an outer ring and its holes, of `[lng, lat]` in degrees. */
export type MultiPolygon = [lng: number, lat: number][][][];

/** Polygons in columns: threads exchange them several times faster than thousands of short arrays. */
export interface PackedPolygons {
  /** Longitude and latitude of each point. */
  degrees: Float64Array;
  /** For each polygon, the number of points in each ring. */
  rings: number[][];
}

export function packPolygons(polygons: MultiPolygon): PackedPolygons {
  return {
    degrees: Float64Array.from(polygons.flat(3)),
    rings: polygons.map((polygon) => polygon.map((ring) => ring.length)),
  };
}

export function unpackPolygons({ degrees, rings }: PackedPolygons): MultiPolygon {
  let at = 0;
  return rings.map((polygon) =>
    polygon.map((length) =>
      Array.from({ length }, (): [number, number] => [degrees[at++] as number, degrees[at++] as number]),
    ),
  );
}

/** The least distance between two points of the grid. It is greater for areas that would have more than `MAX_POINTS`. */
const GRID_METRES = 100;
const MAX_POINTS = 1_000_000;
/** Coordinates are rounded to five decimals, about a metre. */
const PER_DEGREE = 1e5;

/** The value of points well inside a circle: more metres than any walk has left. */
const DEEP = 1e6;

/** Draws the area that a rider can reach in time: on foot from the origin, and from each stop reached with the time left there. */
export function createAreas(timetable: Timetable) {
  /** The shore around each stop, found on first use. */
  const shores = new Map<number, Float32Array | null>();
  const shoreAt = (position: Position) =>
    findShore(position, LONGEST_WALK_METRES, (...ends) => timetable.isOverWater(...ends));

  function circleAt({ stop, arrivesAt }: Reached, latest: number, choices: Choices | undefined): Circle {
    const position = timetable.positionOf(stop);
    const cached = shores.get(stop);
    const shore = cached === undefined ? shoreAt(position) : cached;
    shores.set(stop, shore);
    return { position, metres: walkMetres(latest - arrivesAt, choices), shore };
  }

  return {
    draw(
      origin: Position,
      reached: readonly Reached[],
      { at, latest, choices }: { at: number; latest: number; choices: Choices | undefined },
    ): MultiPolygon {
      const originCircle = { position: origin, metres: walkMetres(latest - at, choices), shore: shoreAt(origin) };
      const circleOf = new Map(reached.map((arrival) => [arrival.stop, circleAt(arrival, latest, choices)]));
      for (const { stop, alightedAt } of reached) {
        const circle = circleOf.get(stop) as Circle;
        if (alightedAt !== stop) circle.walkedFrom = circleOf.get(alightedAt);
      }
      return mergeCircles([originCircle, ...circleOf.values()]);
    },
  };
}

/** Finds how far a rider can walk in each direction before the water, up to `maxMetres`. Null if there is no water that near. */
export function findShore(
  [lat, lng]: Position,
  maxMetres: number,
  isOverWater: (from: Position, to: Position) => boolean,
): Float32Array | null {
  const perDegree = METRES_PER_DEGREE * Math.cos((lat * Math.PI) / 180);
  const shore = Float32Array.from({ length: DIRECTIONS }, (_, direction) => {
    const angle = (direction / DIRECTIONS) * 2 * Math.PI;
    const isWet = (metres: number) =>
      isOverWater(
        [lat, lng],
        [lat + (Math.cos(angle) * metres) / METRES_PER_DEGREE, lng + (Math.sin(angle) * metres) / perDegree],
      );
    if (!isWet(maxMetres)) return maxMetres;
    let dry = 0;
    for (let step = maxMetres / 2; step >= maxMetres / 2 ** HALVINGS; step /= 2) if (!isWet(dry + step)) dry += step;
    return dry;
  });
  return shore.every((metres) => metres === maxMetres) ? null : shore;
}

/**
 * Merges the circles on a grid of points: each point has the metres left there, and the outline runs where nothing is left.
 * Every circle is at least as large as a square of the grid, so that its middle lies within the area.
 */
export function mergeCircles(circles: readonly Circle[]): MultiPolygon {
  const [[south, west], [north, east]] = boundsOf(circles);
  const perDegree = [METRES_PER_DEGREE, METRES_PER_DEGREE * Math.cos((((south + north) / 2) * Math.PI) / 180)] as const;
  const longest = Math.max(...circles.map(({ metres }) => metres));
  const [height, width] = [(north - south) * perDegree[0], (east - west) * perDegree[1]];
  const step = Math.max(GRID_METRES, Math.sqrt(((height + 2 * longest) * (width + 2 * longest)) / MAX_POINTS));
  const minRadius = step * 1.5;
  // The outermost points of the grid must lie outside the area, so that its outline closes.
  const margin = Math.ceil(Math.max(longest, minRadius) / step) + 1;
  const [rows, columns] = [Math.ceil(height / step) + 2 * margin, Math.ceil(width / step) + 2 * margin];
  const left = new Float32Array(rows * columns).fill(-step);
  for (const { position, metres, shore, walkedFrom } of circles) {
    const y = ((position[0] - south) * perDegree[0]) / step + margin;
    const x = ((position[1] - west) * perDegree[1]) / step + margin;
    const radius = Math.max(metres, minRadius) / step;
    // A circle reached on foot usually lies within the one where the walk begins, and adds nothing.
    if (
      walkedFrom &&
      !walkedFrom.shore &&
      distanceMetres(position, walkedFrom.position) + radius * step <= walkedFrom.metres
    )
      continue;
    const longestReach = radius * step;
    // Without a shore, exact values matter only at the edge, where the outline runs: points further in are only marked.
    const inner = shore ? 0 : Math.max(0, radius - 2);
    // A point more than one step outside the circle would get less than its initial value.
    for (let row = Math.ceil(y - radius - 1); row <= y + radius + 1; row++) {
      const north = row - y;
      const half = Math.sqrt((radius + 1) * (radius + 1) - north * north);
      const deep = inner > Math.abs(north) ? Math.sqrt(inner * inner - north * north) : 0;
      const firstDeep = Math.ceil(x - deep);
      for (let column = Math.ceil(x - half); column <= x + half; column++) {
        if (deep > 0 && column === firstDeep) {
          for (; column <= x + deep; column++) left[row * columns + column] = DEEP;
        }
        const east = column - x;
        const at = row * columns + column;
        // Most points already have more metres from another circle. This check is faster than computing the distance.
        const more = longestReach - (left[at] as number);
        const square = north * north + east * east;
        if (more <= 0 || square * step * step > more * more) continue;
        const reach = shore
          ? Math.max(minRadius, Math.min(longestReach, shore[directionOf(north, east)] as number))
          : longestReach;
        const rest = reach - Math.sqrt(square) * step;
        if (rest > (left[at] as number)) left[at] = rest;
      }
    }
  }
  const { coordinates } = contours()
    .size([columns, rows])
    .contour(left as unknown as number[], 0);
  // The first point of the grid lies in the middle of a pixel.
  const degrees = (pixel: number, start: number, metresPerDegree: number) =>
    Math.round((start + ((pixel - 0.5 - margin) * step) / metresPerDegree) * PER_DEGREE) / PER_DEGREE;
  return coordinates.map((polygon) =>
    polygon.map((ring) =>
      ring
        .map(([x, y]): [number, number] => [
          degrees(x as number, west, perDegree[1]),
          degrees(y as number, south, perDegree[0]),
        ])
        // GeoJSON has outer rings counterclockwise.
        .reverse(),
    ),
  );
}

function boundsOf(circles: readonly Circle[]): [Position, Position] {
  const bounds: [Position, Position] = [
    [90, 180],
    [-90, -180],
  ];
  for (const { position } of circles) {
    for (const axis of [0, 1] as const) {
      bounds[0][axis] = Math.min(bounds[0][axis], position[axis]);
      bounds[1][axis] = Math.max(bounds[1][axis], position[axis]);
    }
  }
  return bounds;
}

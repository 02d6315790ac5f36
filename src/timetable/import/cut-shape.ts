import { Float64Column, Int32Column } from '../../core/columns.ts';
import type { ScheduleShapes } from './schedule-file.ts';
import { METRES_PER_MICRO_DEGREE } from './simplify.ts';

/** The maximum distance from a stop to the shape of its trip; the centre of a large station can be this far away. */
const MAX_METRES = 500;
/** The maximum distance from a stop to its place on the shape, if the file's distances give that place. */
const MAX_METRES_BY_DISTANCE = 150;
/** The limit of points times calls. Upstream's trips have less than a tenth of it. */
const MAX_WORK = 10_000_000;

/** The calls of a trip in order: positions in millionths of a degree, and distances as in `toDistance`. */
export type ShapedCalls = Pick<ScheduleShapes, 'lat' | 'lng' | 'distance'>;

/** A path from the first call to the last one. */
export interface CutPath {
  /** For each call, the index of its point. */
  calls: number[];
  points: { lat: number; lng: number }[];
}

/** A place on a line; segment `n` goes from point `n` to the next one. */
interface PlaceOnShape {
  segment: number;
  /** How far along the segment, from 0 to 1. */
  along: number;
}

/**
 * Cuts a shape at the calls of a trip. Null if a stop is so far from the shape that it cannot be the path of this trip, or if
 * there are too many points and calls.
 */
export function cutShape(shapes: ScheduleShapes, shape: number, calls: ShapedCalls): CutPath | null {
  const line = openLine(shapes, shape);
  if (calls.lat.length * line.lat.length > MAX_WORK) return null;
  const places = placeByDistance(line, calls) ?? placeByPosition(line, calls);
  return places && pathThrough(line, places);
}

interface ShapeLine extends ShapedCalls {
  distanceTo(segment: number, lat: number, lng: number): { along: number; squared: number };
}

function openLine({ start, lat, lng, distance }: ScheduleShapes, shape: number): ShapeLine {
  const range = [start.valueAt(shape), start.valueAt(shape + 1)] as const;
  const points = { lat: lat.subarray(...range), lng: lng.subarray(...range), distance: distance.subarray(...range) };
  const east = METRES_PER_MICRO_DEGREE * Math.cos((points.lat.valueAt(0) / 1e6) * (Math.PI / 180));
  return {
    ...points,
    /** Returns where on a segment a position is nearest, and the squared distance in metres. */
    distanceTo(segment, toLat, toLng) {
      const [baseLat, baseLng] = [points.lat.valueAt(segment), points.lng.valueAt(segment)];
      const dy = (points.lat.valueAt(segment + 1) - baseLat) * METRES_PER_MICRO_DEGREE;
      const dx = (points.lng.valueAt(segment + 1) - baseLng) * east;
      const y = (toLat - baseLat) * METRES_PER_MICRO_DEGREE;
      const x = (toLng - baseLng) * east;
      const length = dx * dx + dy * dy;
      const along = length === 0 ? 0 : Math.min(1, Math.max(0, (x * dx + y * dy) / length));
      return { along, squared: (x - along * dx) ** 2 + (y - along * dy) ** 2 };
    },
  };
}

/**
 * Places the calls by the file's distances. Null if those of the calls or of the shape are unknown or decrease, or if they
 * disagree with the positions.
 */
function placeByDistance(line: ShapeLine, { lat, lng, distance }: ShapedCalls): PlaceOnShape[] | null {
  if (!grows(distance) || !grows(line.distance)) return null;
  const places: PlaceOnShape[] = [];
  let segment = 0;
  for (const [call, targetDistance] of distance.entries()) {
    while (segment < line.distance.length - 2 && line.distance.valueAt(segment + 1) < targetDistance) segment++;
    const [from, to] = [line.distance.valueAt(segment), line.distance.valueAt(segment + 1)];
    const along = to === from ? 0 : Math.min(1, Math.max(0, (targetDistance - from) / (to - from)));
    const nearest = pointAt(line, { segment, along });
    const metres = Math.hypot(
      (nearest.lat - lat.valueAt(call)) * METRES_PER_MICRO_DEGREE,
      (nearest.lng - lng.valueAt(call)) * METRES_PER_MICRO_DEGREE,
    );
    if (metres > MAX_METRES_BY_DISTANCE) return null;
    places.push({ segment, along });
  }
  return places;
}

function grows(distances: Int32Column): boolean {
  return (
    distances.valueAt(0) >= 0 &&
    distances.valueAt(distances.length - 1) > distances.valueAt(0) &&
    distances.every((distance, index) => index === 0 || distance >= distances.valueAt(index - 1))
  );
}

/** Finds the sequence of segments nearest to the calls, by the minimum sum of squared distances. */
function placeByPosition(line: ShapeLine, { lat, lng }: ShapedCalls): PlaceOnShape[] | null {
  const segments = line.lat.length - 1;
  const calls = lat.length;
  /** By segment: the minimum sum for the calls so far, if the last of them lies in this segment or before. */
  let sums = new Float64Column(segments);
  const choices = new Int32Column(calls * segments);
  for (let call = 0; call < calls; call++) {
    const next = new Float64Column(segments);
    let [best, choice] = [Number.POSITIVE_INFINITY, -1];
    for (let segment = 0; segment < segments; segment++) {
      const { squared } = line.distanceTo(segment, lat.valueAt(call), lng.valueAt(call));
      const sum = squared > MAX_METRES ** 2 ? Number.POSITIVE_INFINITY : sums.valueAt(segment) + squared;
      if (sum < best) [best, choice] = [sum, segment];
      next[segment] = best;
      choices[call * segments + segment] = choice;
    }
    if (best === Number.POSITIVE_INFINITY) return null;
    sums = next;
  }
  const places: PlaceOnShape[] = [];
  let segment = segments - 1;
  for (let call = calls - 1; call >= 0; call--) {
    segment = choices.valueAt(call * segments + segment);
    const { along } = line.distanceTo(segment, lat.valueAt(call), lng.valueAt(call));
    const after = places[0];
    places.unshift({ segment, along: after?.segment === segment ? Math.min(along, after.along) : along });
  }
  return places;
}

function pointAt({ lat, lng }: ShapeLine, { segment, along }: PlaceOnShape): { lat: number; lng: number } {
  const between = (column: Int32Column) =>
    Math.round(column.valueAt(segment) * (1 - along) + column.valueAt(segment + 1) * along);
  return { lat: between(lat), lng: between(lng) };
}

function pathThrough(line: ShapeLine, places: readonly PlaceOnShape[]): CutPath {
  const path: CutPath = { calls: [], points: [] };
  const add = (lat: number, lng: number) => {
    const last = path.points.at(-1);
    if (last?.lat !== lat || last.lng !== lng) path.points.push({ lat, lng });
  };
  let next = (places[0] as PlaceOnShape).segment + 1;
  for (const place of places) {
    for (; next <= place.segment; next++) add(line.lat.valueAt(next), line.lng.valueAt(next));
    const { lat, lng } = pointAt(line, place);
    add(lat, lng);
    path.calls.push(path.points.length - 1);
  }
  return path;
}

/** The path is left out this close to a wharf, because there may be land. */
const WHARF_METRES = 60;

/** Yields the straight parts of a ferry's path, as latitude and longitude of both ends, without the parts near its calls. */
export function* partsAfloat({ calls, points }: CutPath): Generator<[number, number, number, number]> {
  const atWharf = new Set(calls);
  const wharves = points.filter((_, at) => atWharf.has(at));
  for (const [at, point] of points.entries()) {
    const from = points[at - 1];
    if (!from) continue;
    const { lat: fromLat, lng: fromLng } = from;
    const [byLat, byLng] = [point.lat - fromLat, point.lng - fromLng];
    const east = Math.cos((fromLat / 1e6) * (Math.PI / 180));
    const y = byLat * METRES_PER_MICRO_DEGREE;
    const x = byLng * METRES_PER_MICRO_DEGREE * east;
    const length = Math.hypot(x, y);
    // Each wharf removes the part within a circle around it.
    let rest: [from: number, to: number][] = length > 0 ? [[0, 1]] : [];
    for (const wharf of wharves) {
      const toY = (wharf.lat - fromLat) * METRES_PER_MICRO_DEGREE;
      const toX = (wharf.lng - fromLng) * METRES_PER_MICRO_DEGREE * east;
      const middle = (toX * x + toY * y) / length ** 2;
      const half = WHARF_METRES ** 2 - (toX - middle * x) ** 2 - (toY - middle * y) ** 2;
      if (half <= 0) continue;
      const reach = Math.sqrt(half) / length;
      rest = rest.flatMap(([from, to]) => {
        const parts: [number, number][] = [
          [from, Math.min(to, middle - reach)],
          [Math.max(from, middle + reach), to],
        ];
        return parts.filter(([start, end]) => end > start);
      });
    }
    for (const [from, to] of rest) {
      const positionAt = (along: number) => [fromLat + along * byLat, fromLng + along * byLng].map(Math.round);
      yield [...positionAt(from), ...positionAt(to)] as [number, number, number, number];
    }
  }
}

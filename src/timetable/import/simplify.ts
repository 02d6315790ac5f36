import type { Int32Column } from '../../core/columns.ts';

/** Details smaller than this are not visible on a city map. */
const TOLERANCE_METRES = 7;
/** A shape is simplified in pieces of this many points, so that the time is linear in its length. */
const PIECE = 1000;
export const METRES_PER_MICRO_DEGREE = 0.111195;

/**
 * Douglas-Peucker. Returns the indices of the points to keep, including the first and the last; all others lie within the
 * tolerance of the line. Coordinates are in millionths of a degree.
 */
export function simplify(lat: Int32Column, lng: Int32Column): number[] {
  const last = lat.length - 1;
  const keptPoints = [0];
  for (let from = 0; from < last; from += PIECE)
    addPiece(from, Math.min(last, from + PIECE), { lat, lng, kept: keptPoints });
  return keptPoints;
}

interface ShapePoints {
  lat: Int32Column;
  lng: Int32Column;
  kept: number[];
}

/** Adds the points to keep after `first` up to and including `last`. */
function addPiece(first: number, last: number, { lat, lng, kept }: ShapePoints): void {
  const east = METRES_PER_MICRO_DEGREE * Math.cos((lat.valueAt(first) / 1e6) * (Math.PI / 180));
  const ends = [last];
  let start = first;
  for (let end: number | undefined = last; end !== undefined; end = ends.at(-1)) {
    let [farthest, maxSquared] = [-1, TOLERANCE_METRES ** 2];
    const [baseLat, baseLng] = [lat.valueAt(start), lng.valueAt(start)];
    const dy = (lat.valueAt(end) - baseLat) * METRES_PER_MICRO_DEGREE;
    const dx = (lng.valueAt(end) - baseLng) * east;
    const squared = dx * dx + dy * dy;
    for (let point = start + 1; point < end; point++) {
      const y = (lat.valueAt(point) - baseLat) * METRES_PER_MICRO_DEGREE;
      const x = (lng.valueAt(point) - baseLng) * east;
      const along = squared === 0 ? 0 : Math.min(1, Math.max(0, (x * dx + y * dy) / squared));
      const squaredDistance = (x - along * dx) ** 2 + (y - along * dy) ** 2;
      if (squaredDistance > maxSquared) [farthest, maxSquared] = [point, squaredDistance];
    }
    if (farthest >= 0) ends.push(farthest);
    else {
      kept.push(end);
      start = end;
      ends.pop();
    }
  }
}

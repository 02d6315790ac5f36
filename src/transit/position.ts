import type { Bounds } from './region.ts';

/** `[lat, lng]`, EPSG:4326. */
export type Position = [lat: number, lng: number];

export const METRES_PER_DEGREE = 111_195;

/** The bounding box of a circle, with its radius in metres. */
export function boundsAround([lat, lng]: Position, radiusMetres: number): Bounds {
  const north = radiusMetres / METRES_PER_DEGREE;
  const east = north / Math.max(0.01, Math.cos((lat * Math.PI) / 180));
  return { south: lat - north, west: lng - east, north: lat + north, east: lng + east };
}

export function isWithin({ south, west, north, east }: Bounds, lat: number, lng: number): boolean {
  return lat >= south && lat <= north && lng >= west && lng <= east;
}

export function middleOf({ south, west, north, east }: Bounds): Position {
  return [(south + north) / 2, (west + east) / 2];
}

const EARTH_RADIUS_METRES = 6_371_009;

/** Great-circle distance in metres, unrounded. */
export function distanceMetres([fromLat, fromLng]: Position, [toLat, toLng]: Position): number {
  const radians = Math.PI / 180;
  const latHalf = Math.sin(((toLat - fromLat) * radians) / 2);
  const lngHalf = Math.sin(((toLng - fromLng) * radians) / 2);
  const chord = latHalf ** 2 + Math.cos(fromLat * radians) * Math.cos(toLat * radians) * lngHalf ** 2;
  return 2 * EARTH_RADIUS_METRES * Math.asin(Math.min(1, Math.sqrt(chord)));
}

/** Length of a polyline in metres, unrounded; 0 for fewer than two points. */
export function pathLengthMetres(path: readonly Position[]): number {
  return path.slice(1).reduce((sum, point, index) => sum + distanceMetres(path[index] as Position, point), 0);
}

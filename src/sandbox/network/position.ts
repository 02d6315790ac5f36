export interface Position {
  lat: number;
  lng: number;
}

const METRES_PER_DEGREE = 111_195;

/** Straight line on a flat earth, which is exact enough for the few kilometres that it is used for. */
export function distanceMetres(from: Position, to: Position): number {
  const north = (to.lat - from.lat) * METRES_PER_DEGREE;
  const east = (to.lng - from.lng) * METRES_PER_DEGREE * Math.cos(((from.lat + to.lat) / 2) * (Math.PI / 180));
  return Math.hypot(north, east);
}

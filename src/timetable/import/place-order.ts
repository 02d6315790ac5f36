import { AUSTRALIA } from '../../transit/region.ts';

/** A step of the curve in degrees: some 200 m. */
const STEP_DEGREES = 0.002;

/**
 * Returns the indices of places along a Z-order curve: places near each other mostly follow each other. Stops are numbered like
 * this, so that what a journey search reads of the stops around it shares cache lines.
 */
export function orderByPlace(places: readonly { lat: number; lng: number }[]): number[] {
  const along = places.map(({ lat, lng }, index) => ({ index, place: placeAlongCurve(lat, lng) }));
  return along.sort((a, b) => a.place - b.place).map(({ index }) => index);
}

/** Interleaves the bits of the two coordinates. */
function placeAlongCurve(lat: number, lng: number): number {
  let x = Math.floor((lng - AUSTRALIA.west) / STEP_DEGREES);
  let y = Math.floor((lat - AUSTRALIA.south) / STEP_DEGREES);
  let place = 0;
  for (let weight = 1; x > 0 || y > 0; weight *= 4) {
    place += weight * ((x & 1) + 2 * (y & 1));
    x >>= 1;
    y >>= 1;
  }
  return place;
}

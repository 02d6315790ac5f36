import type { Position } from '../transit/place.ts';

/** The ellipsoid of GDA94 and WGS84. */
const EQUATORIAL_RADIUS_METRES = 6_378_137;
const SQUARED_ECCENTRICITY = 0.006_694_38;
/** Upstream's distances are larger than real ones by this factor, as all 134 distances of a recorded list show. */
const UPSTREAM_SCALE = 1.0015;

/**
 * The distance as upstream measures it, accurate to the metre for a few kilometres. A sphere would be off by up to three metres
 * per kilometre, which changes the order of stops at similar distances.
 */
export function upstreamMetres([fromLat, fromLng]: Position, [toLat, toLng]: Position): number {
  const radians = Math.PI / 180;
  const middle = ((fromLat + toLat) / 2) * radians;
  const flattening = 1 - SQUARED_ECCENTRICITY * Math.sin(middle) ** 2;
  const alongParallel = EQUATORIAL_RADIUS_METRES / Math.sqrt(flattening);
  const alongMeridian = (alongParallel * (1 - SQUARED_ECCENTRICITY)) / flattening;
  const north = (toLat - fromLat) * radians * alongMeridian;
  const east = (toLng - fromLng) * radians * alongParallel * Math.cos(middle);
  return UPSTREAM_SCALE * Math.hypot(north, east);
}

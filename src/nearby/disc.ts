import type { Position } from '../transit/place.ts';

/*
 * The discs in which upstream is asked for stops: around the middle of a cell of a grid, and so large that the circle of every
 * request from the cell lies inside. All phones in a cell share one response.
 */

/** A cell is about a kilometre from north to south and from west to east. */
const CELL_DEGREES = 0.009;
/** From the middle of a cell to its corner. */
const HALF_DIAGONAL_METRES = 710;
/** The middle is sent in ten-thousandths of a degree. */
const MARGIN_METRES = 20;
/** Radii of requests are rounded up to these, so that most requests of a cell have the same disc. */
const RADII_METRES = [500, 1000, 2000];

/** The disc that holds the circle of the request. */
export function discOf({ lat, lng, radius }: { lat: number; lng: number; radius: number }) {
  const middleLat = middleOf(lat, CELL_DEGREES, 90);
  // Every row of cells has its own width in degrees.
  const width = CELL_DEGREES / Math.max(0.01, Math.cos((middleLat * Math.PI) / 180));
  const covered = RADII_METRES.find((metres) => metres >= radius) ?? radius;
  return {
    lat: middleLat,
    lng: middleOf(lng, width, 180),
    radiusMetres: covered + HALF_DIAGONAL_METRES + MARGIN_METRES,
  };
}

/** The ellipsoid of GDA94 and WGS84. */
const EQUATORIAL_RADIUS_METRES = 6_378_137;
const SQUARED_ECCENTRICITY = 0.006_694_38;
/** Upstream's map is larger than life by this, as all 134 distances of a recorded list show. */
const UPSTREAM_SCALE = 1.0015;

/**
 * The distance as upstream measures it, to the metre, for the few kilometres of a disc. On a sphere a kilometre would be wrong by
 * up to three metres, and stops that are about equally far would be in another order.
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

/** The middle of the cell along one axis. */
function middleOf(degrees: number, cellDegrees: number, most: number): number {
  const middle = (Math.floor(degrees / cellDegrees) + 0.5) * cellDegrees;
  return Math.max(-most, Math.min(most, middle));
}

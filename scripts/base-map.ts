/*
 * Makes web/assets/base-map.json: the land of New South Wales, the ACT and around, as rings of [lat, lng] (lakes are
 * rings too), strips of water and of land that it lacks at stops, and the names of places as [name, lat, lng], those of the busiest
 * stations first. The land is GSHHG 2.3.7 at full resolution (LGPL 3), from Debian's packages gmt and gmt-gshhg-full, moved to where
 * the built-in stops say that it is; the places are the stations among them:
 *
 *   gmt coast -M -Df -R138/157/-40/-26 -W > coast.txt
 *   node scripts/base-map.ts coast.txt > web/assets/base-map.json
 */
import { readFileSync } from 'node:fs';
import { loadBuiltIn } from '../src/stops/file.ts';

type Point = readonly [lng: number, lat: number];

const BOX = { west: 138, east: 157, south: -40, north: -26 };
const DIGITS = 4;
const METRES_PER_DEGREE = 111_320;
/**
 * GSHHG lies up to 750 m too far east. At each place, the metres east and north by which the fewest bus stops are in the water and the
 * fewest wharves on land; between them by distance, and elsewhere less and less.
 */
const SHIFTS: [lng: number, lat: number, east: number, north: number][] = [
  [151.75, -32.92, -175, 275],
  [151.4, -33.4, -375, 25],
  [151.31, -33.63, -550, -100],
  [151.27, -33.84, -750, 75],
  [151.19, -33.85, -650, 0],
  [151.2, -33.97, -625, -25],
  [151.12, -34.05, -340, 320],
  [150.9, -34.42, -70, 150],
];
/** As many degrees away, a place shifts the shore half as far. */
const REACH = 1;
/** Stops in the water farther from the shore are on islands that GSHHG lacks; wharves farther inland are on a river that it lacks. */
const FAR_METRES = 300;
/** A wharf this close to the water is at the water. */
const AT_WATER_METRES = 50;
/** Maximum error of the simplified shore in degrees: about 8 m in Sydney, 60 m from Newcastle to Kiama, 300 m elsewhere. */
const TOLERANCES: [west: number, east: number, south: number, north: number, tolerance: number][] = [
  [150.9, 151.5, -34.15, -33.5, 0.00008],
  [150.6, 152.2, -34.8, -32.7, 0.0006],
  [BOX.west, BOX.east, BOX.south, BOX.north, 0.003],
];
/** Ends of two pieces this close are the same point, in degrees. */
const SAME_POINT = 0.0005;

const land = joined(readPieces(process.argv[2] ?? 'coast.txt'))
  .map(simplified)
  .filter((ring) => ring.length > 3)
  .map((ring) => ring.map(moved));
const stops = [...loadBuiltIn()].map(({ lng, lat, modes }) => ({
  at: [lng, lat] as Point,
  isWharf: modes.includes('ferry'),
}));
const { channels, causeways } = stripsAt(stops);
const places = [...loadBuiltIn()]
  .filter(({ name, modes }) => name.endsWith(' Station') && (modes.includes('train') || modes.includes('metro')))
  .sort((one, other) => other.modes.length - one.modes.length)
  .map(({ name, lat, lng }) => [name.replace(/ Station$/, ''), ...toLatLng([lng, lat])]);
const toLines = (lines: Point[][]) => lines.map((points) => points.map(toLatLng));
const base = { land: toLines(land), channels: toLines(channels), causeways: toLines(causeways), places };
process.stdout.write(`${JSON.stringify(base)}\n`);

function moved([lng, lat]: Point): Point {
  const narrower = Math.cos((lat * Math.PI) / 180);
  let [weights, east, north] = [1 / REACH ** 2, 0, 0];
  for (const [atLng, atLat, eastThere, northThere] of SHIFTS) {
    const weight = 1 / ((lat - atLat) ** 2 + ((lng - atLng) * narrower) ** 2 + 1e-5);
    weights += weight;
    east += weight * eastThere;
    north += weight * northThere;
  }
  return [lng + east / weights / METRES_PER_DEGREE / narrower, lat + north / weights / METRES_PER_DEGREE];
}

/**
 * Returns water from wharves on land to the shore, and land from other stops in the water to it. Wharves far inland are those of the
 * Parramatta River, which GSHHG lacks: water joins them from east to west.
 */
function stripsAt(all: { at: Point; isWharf: boolean }[]): { channels: Point[][]; causeways: Point[][] } {
  const onShore = all.flatMap(({ at, isWharf }) => {
    if (isWharf !== isOnLand(at)) return [];
    const nearest = nearestOnShore(at);
    return [{ at, isWharf, nearest, metres: metresBetween(at, nearest) }];
  });
  const isNear = ({ metres }: (typeof onShore)[number]) => metres < FAR_METRES;
  const wharves = onShore.filter(({ isWharf, metres }) => isWharf && metres > AT_WATER_METRES);
  const inland = wharves.filter((wharf) => !isNear(wharf)).sort((one, other) => other.at[0] - one.at[0]);
  const river = inland[0] ? [[inland[0].nearest, ...inland.map(({ at }) => at)]] : [];
  return {
    channels: [...river, ...wharves.filter(isNear).map(({ at, nearest }) => [at, nearest])],
    causeways: onShore.filter((stop) => !stop.isWharf && isNear(stop)).map(({ at, nearest }) => [at, nearest]),
  };
}

/** Whether a point is inside an odd number of rings; lakes are rings too. */
function isOnLand([lng, lat]: Point): boolean {
  let isInside = false;
  for (const ring of land)
    for (const [index, [toLng, toLat]] of ring.entries()) {
      const [fromLng, fromLat] = ring[index - 1] ?? (ring.at(-1) as Point);
      if (fromLat > lat === toLat > lat) continue;
      if (lng < ((fromLng - toLng) * (lat - toLat)) / (fromLat - toLat) + toLng) isInside = !isInside;
    }
  return isInside;
}

function nearestOnShore(point: Point): Point {
  let [nearest, least] = [point, Number.POSITIVE_INFINITY];
  for (const ring of land)
    for (const [index, to] of ring.entries()) {
      const at = nearestOnSegment(point, ring[index - 1] ?? to, to);
      const metres = metresBetween(point, at);
      if (metres < least) [nearest, least] = [at, metres];
    }
  return nearest;
}

function metresBetween([lng, lat]: Point, [otherLng, otherLat]: Point): number {
  const narrower = Math.cos((lat * Math.PI) / 180);
  return METRES_PER_DEGREE * Math.hypot((otherLng - lng) * narrower, otherLat - lat);
}

/** The shore, cut into pieces at whole degrees. */
function readPieces(file: string): Point[][] {
  const blocks = readFileSync(file, 'utf8').split(/^>.*\n/m);
  const toPoint = (row: string): Point => {
    const [lng = 0, lat = 0] = row.split('\t').map(Number);
    return [lng, lat];
  };
  return blocks.map((block) => block.split('\n').filter(Boolean).map(toPoint)).filter((piece) => piece.length > 1);
}

/** Joins pieces end to start. What leaves the box goes on where the border, with the land on its left, meets the next piece. */
function joined(pieces: Point[][]): Point[][] {
  const rest = new Set(pieces);
  const rings: Point[][] = [];
  for (const first of pieces) {
    if (!rest.delete(first)) continue;
    const ring = [...first];
    const start = first[0] as Point;
    for (;;) {
      const end = ring.at(-1) as Point;
      if (ring.length > 2 && distance(end, start) < SAME_POINT) break;
      const next = [...rest].find((piece) => distance(piece[0] as Point, end) < SAME_POINT);
      const starts = next ? [] : [first, ...rest].filter(([point]) => borderPlace(point as Point) !== null);
      const along = next ?? starts.sort((one, other) => ahead(end, one) - ahead(end, other))[0];
      if (!along) throw new Error(`the shore ends at ${end}`);
      if (!next) ring.push(...cornersBetween(end, along[0] as Point));
      if (along === first) break;
      rest.delete(along);
      ring.push(...along);
    }
    rings.push([...ring, start]);
  }
  return rings;
}

/** How far along the border of the box a point lies, anticlockwise from the south-west corner in degrees; null inside. */
function borderPlace([lng, lat]: Point): number | null {
  const [width, height] = [BOX.east - BOX.west, BOX.north - BOX.south];
  if (Math.abs(lat - BOX.south) < SAME_POINT) return lng - BOX.west;
  if (Math.abs(lng - BOX.east) < SAME_POINT) return width + lat - BOX.south;
  if (Math.abs(lat - BOX.north) < SAME_POINT) return width + height + BOX.east - lng;
  if (Math.abs(lng - BOX.west) < SAME_POINT) return 2 * width + height + BOX.north - lat;
  return null;
}

function ahead(from: Point, [to]: Point[]): number {
  const around = 2 * (BOX.east - BOX.west + BOX.north - BOX.south);
  const place = borderPlace(from);
  if (place === null) throw new Error(`the shore ends at ${from}`);
  return ((borderPlace(to as Point) ?? 0) - place + around) % around;
}

function cornersBetween(from: Point, to: Point): Point[] {
  const { west, east, south, north } = BOX;
  const corners: Point[] = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ];
  return corners
    .filter((corner) => ahead(from, [corner]) < ahead(from, [to]))
    .sort((one, other) => ahead(from, [one]) - ahead(from, [other]));
}

/** Douglas–Peucker, with the tolerance of the place. */
function simplified(ring: Point[]): Point[] {
  const kept = new Set([0, ring.length - 1]);
  const spans: [first: number, last: number][] = [[0, ring.length - 1]];
  for (let span = spans.pop(); span; span = spans.pop()) {
    const [first, last] = span;
    let [farthest, most] = [0, 1];
    for (let index = first + 1; index < last; index++) {
      const point = ring[index] as Point;
      const off = distanceToSegment(point, ring[first] as Point, ring[last] as Point) / toleranceAt(point);
      if (off > most) [farthest, most] = [index, off];
    }
    if (farthest === 0) continue;
    kept.add(farthest);
    spans.push([first, farthest], [farthest, last]);
  }
  return ring.filter((_, index) => kept.has(index));
}

function toleranceAt([lng, lat]: Point): number {
  const isIn = ([west, east, south, north]: (typeof TOLERANCES)[number]) =>
    lng >= west && lng <= east && lat >= south && lat <= north;
  return TOLERANCES.find(isIn)?.[4] ?? 1;
}

function distance([x, y]: Point, [otherX, otherY]: Point): number {
  return Math.hypot(x - otherX, y - otherY);
}

function distanceToSegment(point: Point, from: Point, to: Point): number {
  return distance(point, nearestOnSegment(point, from, to));
}

function nearestOnSegment(point: Point, from: Point, to: Point): Point {
  const [x, y] = [to[0] - from[0], to[1] - from[1]];
  const length = x * x + y * y;
  const part = length === 0 ? 0 : ((point[0] - from[0]) * x + (point[1] - from[1]) * y) / length;
  const share = Math.min(1, Math.max(0, part));
  return [from[0] + share * x, from[1] + share * y];
}

function toLatLng([lng, lat]: Point): Point {
  return [Number(lat.toFixed(DIGITS)), Number(lng.toFixed(DIGITS))];
}

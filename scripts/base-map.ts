/*
 * Makes src/beside/site/assets/base-map.json: the land of New South Wales, the ACT and around, as rings of [lat, lng], and the names
 * of places as [name, lat, lng], those of the busiest stations first. The land is Natural Earth 1:10m (public domain) as
 * TopoJSON, from the package world-atlas; the places are the stations of the built-in stops:
 *
 *   npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz
 *   node scripts/base-map.ts package/land-10m.json > src/beside/site/assets/base-map.json
 */
import { readFileSync } from 'node:fs';
import { readBuiltIn } from '../src/stops/file.ts';

type Point = readonly [lng: number, lat: number];

interface Topology {
  arcs: [number, number][][];
  transform: { scale: [number, number]; translate: [number, number] };
  objects: { land: { geometries: { arcs: number[][][] }[] } };
}

const BOX = { west: 138, east: 157, south: -40, north: -26 };
const DIGITS = 4;

const topology = JSON.parse(readFileSync(process.argv[2] ?? 'land-10m.json', 'utf8')) as Topology;
const arcs = topology.arcs.map(decode);
const rings = topology.objects.land.geometries.flatMap(({ arcs: polygons }) => polygons.flat().map(join));
const land = rings.map(clip).filter((ring) => ring.length > 3);
const places = [...readBuiltIn()]
  .filter(({ name, modes }) => name.endsWith(' Station') && (modes.includes('train') || modes.includes('metro')))
  .sort((one, other) => other.modes.length - one.modes.length)
  .map(({ name, lat, lng }) => [name.replace(/ Station$/, ''), ...toLatLng([lng, lat])]);
process.stdout.write(`${JSON.stringify({ land: land.map((ring) => ring.map(toLatLng)), places })}\n`);

/** A TopoJSON arc: integers, each relative to the previous one. */
function decode(arc: [number, number][]): Point[] {
  const { scale, translate } = topology.transform;
  let [x, y] = [0, 0];
  return arc.map(([dx, dy]) => {
    x += dx;
    y += dy;
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
  });
}

/** The ring of several arcs; a negative index means a reversed arc, and each arc begins where the previous one ended. */
function join(indexes: number[]): Point[] {
  return indexes.flatMap((index) => {
    const arc = index < 0 ? (arcs[~index] ?? []).toReversed() : (arcs[index] ?? []);
    return arc.slice(1);
  });
}

/** Sutherland–Hodgman: the part of a ring inside the box, clipped at one edge after another. */
function clip(ring: Point[]): Point[] {
  const edges: [axis: 0 | 1, bound: number, sign: 1 | -1][] = [
    [0, BOX.west, 1],
    [0, BOX.east, -1],
    [1, BOX.south, 1],
    [1, BOX.north, -1],
  ];
  return edges.reduce((points, [axis, bound, sign]) => {
    const isInside = (point: Point) => sign * (point[axis] - bound) >= 0;
    return points.flatMap((point, index) => {
      const before = points.at(index - 1) as Point;
      if (isInside(point) === isInside(before)) return isInside(point) ? [point] : [];
      const share = (bound - before[axis]) / (point[axis] - before[axis]);
      const crossing: Point = [before[0] + share * (point[0] - before[0]), before[1] + share * (point[1] - before[1])];
      return isInside(point) ? [crossing, point] : [crossing];
    });
  }, ring);
}

function toLatLng([lng, lat]: Point): Point {
  return [Number(lat.toFixed(DIGITS)), Number(lng.toFixed(DIGITS))];
}

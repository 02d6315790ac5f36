import { distanceMetres, type LatLng } from './network.ts';
import type { PatternNode } from './network-index.ts';

/** Computed once for each pattern. */
const anchors = new WeakMap<PatternNode, Int32Array>();

/** The geometry of a pattern from one call to another, both ends included, as `[lat, lng]`. */
export function wayBetween(pattern: PatternNode, fromCall: number, toCall: number): LatLng[] {
  const from = pointAt(pattern, fromCall);
  const to = pointAt(pattern, toCall);
  const { path } = pattern.pattern;
  if (path === undefined) {
    return pattern.points.slice(fromCall, toCall + 1).map((node) => [node.point.lat, node.point.lng]);
  }
  const anchorAt = anchorsOf(pattern, path);
  return withoutRepeats([from, ...path.slice(anchorAt[fromCall], (anchorAt[toCall] ?? 0) + 1), to]);
}

/** A path often has a point exactly at the platform. */
function withoutRepeats(way: readonly LatLng[]): LatLng[] {
  return way.filter(([lat, lng], index) => lat !== way[index - 1]?.[0] || lng !== way[index - 1]?.[1]);
}

/** Finds the nearest point of the path for every call, from that of the call before onwards. */
function anchorsOf(pattern: PatternNode, path: readonly LatLng[]): Int32Array {
  const known = anchors.get(pattern);
  if (known !== undefined) return known;
  const found = new Int32Array(pattern.points.length);
  let behind = 0;
  for (let call = 0; call < found.length; call++) {
    found[call] = call === found.length - 1 ? path.length - 1 : nearest(path, behind, pointAt(pattern, call));
    behind = found[call] ?? 0;
  }
  anchors.set(pattern, found);
  return found;
}

function nearest(path: readonly LatLng[], behind: number, to: LatLng): number {
  let best = behind;
  let bestMetres = Infinity;
  for (let i = behind; i < path.length; i++) {
    const [lat, lng] = path[i] as LatLng;
    const metres = distanceMetres({ lat, lng }, { lat: to[0], lng: to[1] });
    if (metres >= bestMetres) continue;
    best = i;
    bestMetres = metres;
  }
  return best;
}

function pointAt(pattern: PatternNode, call: number): LatLng {
  const point = pattern.points[call]?.point;
  return [point?.lat ?? 0, point?.lng ?? 0];
}

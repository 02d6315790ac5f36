import { seedOf } from '../trait.ts';
import {
  BUS,
  distanceMetres,
  type Position,
  type SandboxLine,
  type SandboxNetwork,
  type SandboxPattern,
  type SandboxPoint,
  type SandboxStop,
} from './network.ts';

export interface StopNode extends Omit<SandboxStop, 'points'> {
  points: PointNode[];
  /** Product classes of the lines that call here, ascending; bus for a decommissioned stop. */
  classes: readonly number[];
  /** Whether no line calls here. */
  isDecommissioned: boolean;
}

export interface PointNode extends SandboxPoint {
  home: StopNode;
  /** Upstream's number of the part of the stop, "1". */
  area: string;
  calls: { pattern: PatternNode; call: number }[];
  /** The points to which a rider walks from here, once `footpathsFrom` has looked for them. */
  footpaths?: readonly { to: PointNode; seconds: number }[];
}

export interface PatternNode extends SandboxPattern {
  /** Position in `NetworkIndex.patterns`. */
  index: number;
  line: SandboxLine;
  /** Position among the line's patterns. */
  ordinal: number;
  points: readonly PointNode[];
  /** Seconds from the first call to each call. */
  offsetSeconds: readonly number[];
  seed: number;
  /** The place in the path of each call, once `wayBetween` has looked for them. */
  anchors?: readonly number[];
}

export interface NetworkIndex {
  network: SandboxNetwork;
  stops: readonly StopNode[];
  points: readonly PointNode[];
  patterns: readonly PatternNode[];
  /** Each stop stands under its `id` and under upstream's internal `stopId`. */
  stopById: ReadonlyMap<string, StopNode>;
  pointById: ReadonlyMap<string, PointNode>;
}

/** Throws where a pattern calls at a point that is not in the network. */
export function indexNetwork(network: SandboxNetwork): NetworkIndex {
  const stops = network.stops.map((stop) => {
    const home: StopNode = { ...stop, points: [], classes: [], isDecommissioned: false };
    home.points = stop.points.map((point, i) => ({ ...point, home, area: String(i + 1), calls: [] }));
    return home;
  });
  const points = stops.flatMap((stop) => stop.points);
  const pointById = new Map(points.map((point) => [point.id, point]));
  const patterns = network.lines.flatMap((line) => patternsOf(line, pointById));
  for (const [index, pattern] of patterns.entries()) {
    pattern.index = index;
    for (const [call, point] of pattern.points.entries()) point.calls.push({ pattern, call });
  }
  for (const stop of stops) {
    const classes = stop.points.flatMap(({ calls }) => calls.map(({ pattern }) => pattern.line.product.class));
    stop.isDecommissioned = classes.length === 0;
    stop.classes = stop.isDecommissioned ? [BUS] : [...new Set(classes)].sort((a, b) => a - b);
  }
  const stopById = new Map(stops.flatMap((stop) => [[stop.stopId, stop] as const, [stop.id, stop] as const]));
  return { network, stops, points, patterns, stopById, pointById };
}

function patternsOf(line: SandboxLine, pointById: ReadonlyMap<string, PointNode>): PatternNode[] {
  return line.patterns.map((pattern, ordinal) => ({
    ...pattern,
    index: 0,
    line,
    ordinal,
    points: pattern.calls.map(({ point }) => {
      const node = pointById.get(point);
      if (node === undefined) throw new Error(`${line.id} calls at ${point}, which is no point of the network`);
      return node;
    }),
    offsetSeconds: pattern.calls.map((call) => Math.round(call.minutes * 60)),
    seed: seedOf(`${line.id}/${ordinal}`),
  }));
}

/** The geometry of a pattern from one call to another, both ends included. */
export function wayBetween(pattern: PatternNode, fromCall: number, toCall: number): Position[] {
  const { points, path } = pattern;
  const calls = points.slice(fromCall, toCall + 1);
  if (path === undefined) return calls;
  pattern.anchors ??= anchorsOf(points, path);
  const between = path.slice(pattern.anchors[fromCall], (pattern.anchors[toCall] ?? 0) + 1);
  const way = [...calls.slice(0, 1), ...between, ...calls.slice(-1)];
  // A path often has a point exactly at the platform.
  return way.filter(({ lat, lng }, i) => lat !== way[i - 1]?.lat || lng !== way[i - 1]?.lng);
}

/** Finds the nearest point of the path for every call, from that of the call before onwards. */
function anchorsOf(points: readonly PointNode[], path: readonly Position[]): number[] {
  let behind = 0;
  return points.map((point, call) => {
    if (call === points.length - 1) return path.length - 1;
    const metres = path.slice(behind).map((place) => distanceMetres(place, point));
    behind += metres.indexOf(Math.min(...metres));
    return behind;
  });
}

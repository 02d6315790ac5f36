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

/** A stop with links to what calls there. */
export interface StopNode extends Omit<SandboxStop, 'points'> {
  points: PointNode[];
  /** Product classes of the lines that call here, ascending; bus for a decommissioned stop. */
  classes: readonly number[];
  /** Whether no line calls here. */
  isDecommissioned: boolean;
}

/** A platform, stand or wharf with links to its stop and to the calls there. */
export interface PointNode extends SandboxPoint {
  /** Index in `NetworkIndex.points`. */
  index: number;
  home: StopNode;
  /** The number that upstream gives to this part of the stop, such as "1". */
  area: string;
  calls: { pattern: PatternNode; call: number }[];
  /** The points within walking distance, once `footpathsFrom` has found them. */
  footpaths?: readonly { to: PointNode; seconds: number }[];
}

/** A pattern with links to its line and points. */
export interface PatternNode extends SandboxPattern {
  /** Index in `NetworkIndex.patterns`. */
  index: number;
  line: SandboxLine;
  /** Index among the line's patterns. */
  ordinal: number;
  points: readonly PointNode[];
  /** Seconds from the first call to each call. */
  offsetSeconds: readonly number[];
  seed: number;
  /** The index in the path for each call, once `pathBetween` has found them. */
  anchors?: readonly number[];
}

/** The network with links in both directions, as the responses need it. */
export interface NetworkIndex {
  network: SandboxNetwork;
  stops: readonly StopNode[];
  points: readonly PointNode[];
  patterns: readonly PatternNode[];
  /** Each stop has two keys: its `id` and upstream's internal `stopId`. */
  stopById: ReadonlyMap<string, StopNode>;
  pointById: ReadonlyMap<string, PointNode>;
}

/** Throws if a pattern calls at a point that is not in the network. */
export function indexNetwork(network: SandboxNetwork): NetworkIndex {
  const stops = network.stops.map((stop) => {
    const home: StopNode = { ...stop, points: [], classes: [], isDecommissioned: false };
    home.points = stop.points.map((point, i) => ({ ...point, index: 0, home, area: String(i + 1), calls: [] }));
    return home;
  });
  const points = stops.flatMap((stop) => stop.points);
  for (const [index, point] of points.entries()) point.index = index;
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
      if (node === undefined) throw new Error(`${line.id} calls at ${point}, which is not a point of the network`);
      return node;
    }),
    offsetSeconds: pattern.calls.map((call) => Math.round(call.minutes * 60)),
    seed: seedOf(`${line.id}/${ordinal}`),
  }));
}

/** The path of a pattern from one call to another, including both ends. */
export function pathBetween(pattern: PatternNode, fromCall: number, toCall: number): Position[] {
  const { points, path } = pattern;
  const calls = points.slice(fromCall, toCall + 1);
  if (path === undefined) return calls;
  pattern.anchors ??= anchorsOf(points, path);
  const between = path.slice(pattern.anchors[fromCall], (pattern.anchors[toCall] ?? 0) + 1);
  const positions = [...calls.slice(0, 1), ...between, ...calls.slice(-1)];
  // A path often has a point exactly at the platform.
  return positions.filter(({ lat, lng }, i) => lat !== positions[i - 1]?.lat || lng !== positions[i - 1]?.lng);
}

/** Finds the nearest point of the path for each call, at or after that of the previous call. */
function anchorsOf(points: readonly PointNode[], path: readonly Position[]): number[] {
  let behind = 0;
  return points.map((point, call) => {
    if (call === points.length - 1) return path.length - 1;
    const metres = path.slice(behind).map((place) => distanceMetres(place, point));
    behind += metres.indexOf(Math.min(...metres));
    return behind;
  });
}

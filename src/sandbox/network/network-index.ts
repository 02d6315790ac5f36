import { seedOf } from '../trait.ts';
import {
  BUS,
  type SandboxLine,
  type SandboxNetwork,
  type SandboxPattern,
  type SandboxPoint,
  type SandboxStop,
} from './network.ts';

export interface StopNode {
  stop: SandboxStop;
  points: PointNode[];
  /** Product classes of the lines that call here, ascending; bus for a decommissioned stop. */
  classes: readonly number[];
  /** Whether no line calls here. */
  isDecommissioned: boolean;
}

export interface PointNode {
  /** Position in `NetworkIndex.points`. */
  index: number;
  point: SandboxPoint;
  home: StopNode;
  /** Upstream's number of the part of the stop, "1". */
  area: string;
  calls: { pattern: PatternNode; call: number }[];
}

export interface PatternNode {
  /** Position in `NetworkIndex.patterns`. */
  index: number;
  line: SandboxLine;
  pattern: SandboxPattern;
  /** Position among the line's patterns. */
  ordinal: number;
  points: readonly PointNode[];
  /** Seconds from the first call to each call. */
  offsetSeconds: Int32Array;
  seed: number;
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
  const stops: StopNode[] = network.stops.map((stop) => ({ stop, points: [], classes: [], isDecommissioned: false }));
  const points: PointNode[] = [];
  for (const home of stops) {
    home.stop.points.forEach((point, i) => {
      const node = { index: points.length, point, home, area: String(i + 1), calls: [] };
      home.points.push(node);
      points.push(node);
    });
  }
  const pointById = new Map(points.map((node) => [node.point.id, node]));
  const patterns = network.lines.flatMap((line) => patternsOf(line, pointById));
  patterns.forEach((pattern, i) => {
    pattern.index = i;
    for (const [call, point] of pattern.points.entries()) point.calls.push({ pattern, call });
  });
  for (const stop of stops) {
    stop.isDecommissioned = stop.points.every((point) => point.calls.length === 0);
    stop.classes = stop.isDecommissioned ? [BUS] : classesAt(stop);
  }
  const stopById = new Map(stops.flatMap((node) => [[node.stop.stopId, node] as const, [node.stop.id, node] as const]));
  return { network, stops, points, patterns, stopById, pointById };
}

function patternsOf(line: SandboxLine, pointById: ReadonlyMap<string, PointNode>): PatternNode[] {
  return line.patterns.map((pattern, ordinal) => ({
    index: 0,
    line,
    pattern,
    ordinal,
    points: pattern.calls.map(({ point }) => {
      const node = pointById.get(point);
      if (node === undefined) throw new Error(`${line.id} calls at ${point}, which is no point of the network`);
      return node;
    }),
    offsetSeconds: Int32Array.from(pattern.calls, (call) => Math.round(call.minutes * 60)),
    seed: seedOf(`${line.id}/${ordinal}`),
  }));
}

function classesAt(stop: StopNode): number[] {
  const classes = new Set(stop.points.flatMap((point) => point.calls.map((call) => call.pattern.line.product.class)));
  return [...classes].sort((a, b) => a - b);
}

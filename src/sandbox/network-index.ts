import type { SandboxLine, SandboxNetwork, SandboxPattern, SandboxPoint, SandboxStop } from './network.ts';
import { seedOf } from './trait.ts';

export interface StopNode {
  stop: SandboxStop;
  points: PointNode[];
  /** Product classes of the lines that call here, ascending; a stop nobody calls at any more still says bus. */
  classes: readonly number[];
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
  /** Upstream's name of the direction: out ("H") or back ("R"). */
  direction: 'H' | 'R';
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
  /** By `id` and by the authority's internal `stopId`. */
  stopById: ReadonlyMap<string, StopNode>;
  pointById: ReadonlyMap<string, PointNode>;
}

/** Throws where a pattern calls at a point the network does not have. */
export function indexNetwork(network: SandboxNetwork): NetworkIndex {
  const stops: StopNode[] = network.stops.map((stop) => ({ stop, points: [], classes: [] }));
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
  for (const stop of stops) stop.classes = classesAt(stop);
  const stopById = new Map(stops.flatMap((node) => [[node.stop.stopId, node] as const, [node.stop.id, node] as const]));
  return { network, stops, points, patterns, stopById, pointById };
}

function patternsOf(line: SandboxLine, pointById: ReadonlyMap<string, PointNode>): PatternNode[] {
  const called = line.patterns.map((pattern) =>
    pattern.calls.map(({ point }) => {
      const node = pointById.get(point);
      if (node === undefined) throw new Error(`${line.id} calls at ${point}, which no stop has`);
      return node;
    }),
  );
  const outward = (called[0] ?? []).map((node) => node.home);
  return line.patterns.map((pattern, ordinal) => {
    const points = called[ordinal] ?? [];
    const start = outward.indexOf(points[0]?.home ?? ({} as StopNode));
    const end = outward.indexOf(points.at(-1)?.home ?? ({} as StopNode));
    return {
      index: 0,
      line,
      pattern,
      ordinal,
      direction: ordinal > 0 && (start > end || (start < 0 && end < 0)) ? 'R' : 'H',
      points,
      offsetSeconds: Int32Array.from(pattern.calls, (call) => Math.round(call.minutes * 60)),
      seed: seedOf(`${line.id}/${ordinal}`),
    };
  });
}

function classesAt(stop: StopNode): number[] {
  const classes = new Set(stop.points.flatMap((point) => point.calls.map((call) => call.pattern.line.product.class)));
  return classes.size === 0 ? [5] : [...classes].sort((a, b) => a - b);
}

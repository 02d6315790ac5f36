import type { SandboxLine, SandboxNetwork, SandboxPattern } from './network.ts';

/** About a metre. */
const DIGITS = 5;

/** Returns the network for a map: the lines of the requested modes in one direction, and their stops. */
export function networkMap<Mode extends string>(
  { stops, lines }: SandboxNetwork,
  findWantedMode: (productClass: number) => Mode | null,
) {
  const points = new Map(stops.flatMap((stop) => stop.points.map((point) => [point.id, { stop, point }] as const)));
  const mapLines = lines.flatMap((line) => {
    const mode = findWantedMode(line.product.class);
    if (!mode) return [];
    return outboundPatterns(line).map(({ calls, path }) => {
      const calledStops = calls.flatMap(({ point }) => points.get(point) ?? []);
      return { line, mode, called: calledStops, path: path ?? calledStops.map(({ point }) => point) };
    });
  });
  const calledStops = new Set(mapLines.flatMap((pattern) => pattern.called.map(({ stop }) => stop)));
  return {
    lines: mapLines.map(({ line, mode, path }) => ({
      route: line.route ?? line.number,
      mode,
      path: path.map(({ lat, lng }) => [round(lat), round(lng)] as const),
    })),
    stops: stops.filter((stop) => calledStops.has(stop)).map(({ name, lat, lng }) => ({ name, lat, lng })),
  };
}

/** Drops patterns whose calls are all part of another pattern of the line. */
function outboundPatterns({ patterns }: SandboxLine): SandboxPattern[] {
  const outbound = patterns.filter(({ direction }) => direction === 0);
  const callsOf = ({ calls }: SandboxPattern) => new Set(calls.map(({ point }) => point));
  return outbound.filter((pattern, index) => {
    const calls = callsOf(pattern);
    return !outbound.some((other, otherIndex) => {
      const otherCalls = callsOf(other);
      const isLonger = otherCalls.size > calls.size || (otherCalls.size === calls.size && otherIndex < index);
      return other !== pattern && isLonger && calls.isSubsetOf(otherCalls);
    });
  });
}

function round(degrees: number): number {
  return Number(degrees.toFixed(DIGITS));
}

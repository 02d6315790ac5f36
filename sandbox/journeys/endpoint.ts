import { distanceMetres, type Position, type SandboxPlace } from '../network/network.ts';
import type { NetworkIndex, PointNode, StopNode } from '../network/network-index.ts';
import { ADDRESS_REACH_METRES, changeSeconds, STOP_REACH_METRES, walkSeconds } from './footpath.ts';
import type { Entrance } from './journey-search.ts';

/** The origin or destination of a journey. */
export type Endpoint =
  | { kind: 'stop'; at: StopNode }
  | { kind: 'point'; at: PointNode }
  | {
      kind: 'address';
      /** The suburb is absent for bare coordinates. */
      at: Position & { id: string; name: string; locality?: string; type: SandboxPlace['type'] | 'address' };
    };

/** Finds a stop, point or place by its identifier; `lng:lat:EPSG:4326` is an address without a suburb. */
export function findEndpoint(index: NetworkIndex, name: string): Endpoint | undefined {
  const stop = index.stopById.get(name);
  if (stop !== undefined) return { kind: 'stop', at: stop };
  const point = index.pointById.get(name);
  if (point !== undefined) return { kind: 'point', at: point };
  const place = index.network.places.find((candidate) => candidate.id === name);
  if (place !== undefined) return { kind: 'address', at: place };
  const position = parseCoord(name);
  if (position === undefined) return undefined;
  const at = { id: `coord:${name}`, name: name.split(':EPSG')[0] ?? name, type: 'address' as const, ...position };
  return { kind: 'address', at };
}

/** Reads a position of the form `lng:lat:EPSG:4326`; undefined for any other text. */
export function parseCoord(text: string): Position | undefined {
  const match = /^(-?\d+(?:\.\d+)?):(-?\d+(?:\.\d+)?):EPSG:4326$/.exec(text);
  if (match === null) return undefined;
  return { lng: Number(match[1]), lat: Number(match[2]) };
}

export function homeOf(endpoint: Endpoint): StopNode | undefined {
  if (endpoint.kind === 'stop') return endpoint.at;
  return endpoint.kind === 'point' ? endpoint.at.home : undefined;
}

/** Returns all points of the endpoint's own stop, and other points within walking distance. */
export function entrancesOf(index: NetworkIndex, endpoint: Endpoint): Entrance[] {
  const home = homeOf(endpoint);
  const reachMetres = home === undefined ? ADDRESS_REACH_METRES : STOP_REACH_METRES;
  return index.points.flatMap((point) => {
    if (point.home === home) return [{ point, walkSeconds: withinStopSeconds(endpoint, point) }];
    if (distanceMetres(endpoint.at, point) > reachMetres) return [];
    return [{ point, walkSeconds: walkSeconds(endpoint.at, point) }];
  });
}

/** There is no walk from a stop as a whole to its platforms, but there is one between platforms. */
function withinStopSeconds(endpoint: Endpoint, point: PointNode): number {
  if (endpoint.kind !== 'point' || endpoint.at === point) return 0;
  return changeSeconds(endpoint.at, point);
}

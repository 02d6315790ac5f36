import {
  ADDRESS_REACH_METRES,
  changeSeconds,
  distanceMetres,
  type Position,
  STOP_REACH_METRES,
  walkSeconds,
} from './footpath.ts';
import type { Entrance } from './journey-search.ts';
import type { SandboxPlace } from './network.ts';
import type { NetworkIndex, PointNode, StopNode } from './network-index.ts';

/** Where a journey is asked to begin or end. */
export type Endpoint =
  | { kind: 'stop'; stop: StopNode }
  | { kind: 'point'; point: PointNode }
  | { kind: 'address'; address: Address };

interface Address extends Position {
  id: string;
  name: string;
  /** Suburb; absent for a bare coordinate. */
  locality?: string;
  type: SandboxPlace['type'] | 'address';
}

/** The place a request names by a stop's, point's or address's identifier, or as `lng:lat:EPSG:4326`; else undefined. */
export function findEndpoint(index: NetworkIndex, name: string): Endpoint | undefined {
  const stop = index.stopById.get(name);
  if (stop !== undefined) return { kind: 'stop', stop };
  const point = index.pointById.get(name);
  if (point !== undefined) return { kind: 'point', point };
  const place = index.network.places.find((candidate) => candidate.id === name);
  if (place !== undefined) return { kind: 'address', address: place };
  const position = parseCoord(name);
  if (position === undefined) return undefined;
  return {
    kind: 'address',
    address: { id: `coord:${name}`, name: name.split(':EPSG')[0] ?? name, type: 'address', ...position },
  };
}

/** A position out of `lng:lat:EPSG:4326`. */
export function parseCoord(text: string): Position | undefined {
  const match = /^(-?\d+(?:\.\d+)?):(-?\d+(?:\.\d+)?):EPSG:4326$/.exec(text);
  if (match === null) return undefined;
  return { lng: Number(match[1]), lat: Number(match[2]) };
}

export function homeOf(endpoint: Endpoint): StopNode | undefined {
  if (endpoint.kind === 'stop') return endpoint.stop;
  return endpoint.kind === 'point' ? endpoint.point.home : undefined;
}

export function positionOf(endpoint: Endpoint): Position {
  if (endpoint.kind === 'stop') return endpoint.stop.stop;
  return endpoint.kind === 'point' ? endpoint.point.point : endpoint.address;
}

/** The points one can walk to from a place: a stop's own for nothing, others as far as people walk. */
export function entrancesOf(index: NetworkIndex, endpoint: Endpoint): Entrance[] {
  const home = homeOf(endpoint);
  const position = positionOf(endpoint);
  const reachMetres = home === undefined ? ADDRESS_REACH_METRES : STOP_REACH_METRES;
  return index.points.flatMap((point) => {
    if (point.home === home) return [{ point, walkSeconds: withinStopSeconds(endpoint, point) }];
    if (distanceMetres(position, point.point) > reachMetres) return [];
    return [{ point, walkSeconds: walkSeconds(position, point.point) }];
  });
}

/** Whoever names the stop may use any of its platforms; whoever names a platform has to walk to the others. */
function withinStopSeconds(endpoint: Endpoint, point: PointNode): number {
  if (endpoint.kind !== 'point' || endpoint.point === point) return 0;
  return changeSeconds(endpoint.point, point);
}

import { distanceMetres, type Position } from '../network/network.ts';
import type { NetworkIndex, PointNode } from '../network/network-index.ts';

export const STOP_REACH_METRES = 400;
export const ADDRESS_REACH_METRES = 800;
const SAME_POINT_CHANGE_SECONDS = 60;
const SAME_STOP_CHANGE_SECONDS = 120;
const DETOUR = 1.3;
const METRES_PER_SECOND = 1.1;

/**
 * Returns the footpaths from a point: to all points of its stop at any distance, including itself (a change), and to points of
 * other stops within 400 m. Both directions take equally long.
 */
export function footpathsFrom(index: NetworkIndex, from: PointNode) {
  from.footpaths ??= index.points
    .filter((to) => to.home === from.home || distanceMetres(from, to) <= STOP_REACH_METRES)
    .map((to) => ({ to, seconds: changeSeconds(from, to) }));
  return from.footpaths;
}

export function changeSeconds(from: PointNode, to: PointNode): number {
  if (from === to) return SAME_POINT_CHANGE_SECONDS;
  const seconds = SAME_POINT_CHANGE_SECONDS + walkSeconds(from, to);
  return from.home === to.home ? Math.max(SAME_STOP_CHANGE_SECONDS, seconds) : seconds;
}

/** The walking time, rounded to whole minutes. */
export function walkSeconds(from: Position, to: Position): number {
  return 60 * Math.ceil((DETOUR * distanceMetres(from, to)) / METRES_PER_SECOND / 60);
}

/** The length of the walk along streets, in whole metres. */
export function walkMetres(from: Position, to: Position): number {
  return Math.round(DETOUR * distanceMetres(from, to));
}

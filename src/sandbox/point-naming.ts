import type { PointNode } from './network-index.ts';
import { seedOf } from './trait.ts';

/*
 * How upstream names places: with the platform and the suburb in the name. `coord` is always `[lat, lng]`.
 */

export interface PointNaming {
  /** "Town Hall Station, Platform 1"; the suburb is not in it. */
  long: string;
  /** As in `long`, but for light rail, whose stop goes by its own name. */
  parent: string;
  platformName: string;
}

/** `platformName` is the internal code at an extra stop: "THL6" for "Platform 6". */
export function pointNaming(node: PointNode, isExtraStop = false): PointNaming {
  const stopName = node.home.stop.name;
  const platformName = isExtraStop ? node.point.code : node.point.platformName;
  if (platformName === stopName) return { long: stopName, parent: stopName, platformName };
  const long = isPartOfStop(platformName) || isExtraStop ? `${stopName}, ${platformName}` : platformName;
  if (platformName.endsWith('Light Rail'))
    return { long: `${stopName}, ${platformName}`, parent: stopName, platformName };
  return { long, parent: long, platformName };
}

/** "Platform 1" says nothing without its stop; "Town Hall, Park St, Stand K" does. */
function isPartOfStop(platformName: string): boolean {
  return /^(Platform|Stand|Wharf|Side|Bay|Coach Bay) |^[A-Z]{2,4}\d+$/.test(platformName);
}

export function coordOf(position: { lat: number; lng: number }): [number, number] {
  return [position.lat, position.lng];
}

/** Upstream's identifier of a suburb. */
export function placeId(locality: string): string {
  return `placeID:95${String((seedOf(locality) >>> 0) % 1_000_000).padStart(6, '0')}:1`;
}

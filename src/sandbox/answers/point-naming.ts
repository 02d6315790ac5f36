import type { PointNode } from '../network/network-index.ts';
import { seedOf } from '../trait.ts';

export interface PointNaming {
  /** "Town Hall Station, Platform 1"; the suburb is not in it. */
  long: string;
  /** The same as `long`, except for light rail: there it is the stop's name. */
  parent: string;
  platformName: string;
}

/** The authority's names for a point. At an extra stop `platformName` is the internal code, "THL6" for "Platform 6". */
export function pointNaming(node: PointNode, isExtraStop = false): PointNaming {
  const stopName = node.home.stop.name;
  const platformName = isExtraStop ? node.point.code : node.point.platformName;
  if (platformName === stopName) return { long: stopName, parent: stopName, platformName };
  const long = isPartOfStop(platformName) || isExtraStop ? `${stopName}, ${platformName}` : platformName;
  if (platformName.endsWith('Light Rail'))
    return { long: `${stopName}, ${platformName}`, parent: stopName, platformName };
  return { long, parent: long, platformName };
}

/** Whether the name is incomplete without the stop's: "Platform 1" is, "Town Hall, Park St, Stand K" is not. */
function isPartOfStop(platformName: string): boolean {
  return /^(Platform|Stand|Wharf|Side|Bay|Coach Bay) |^[A-Z]{2,4}\d+$/.test(platformName);
}

/** Latitude first, as everywhere in the authority's answers. */
export function coordOf(position: { lat: number; lng: number }): [number, number] {
  return [position.lat, position.lng];
}

/** The authority's identifier of a suburb. */
export function placeId(locality: string): string {
  return `placeID:95${String((seedOf(locality) >>> 0) % 1_000_000).padStart(6, '0')}:1`;
}

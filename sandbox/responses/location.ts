import type { PointNode, StopNode } from '../network/network-index.ts';
import type { Occupancy } from '../timetable/realtime.ts';
import { seedOf } from '../trait.ts';

/**
 * Upstream's names for a point. `long` is "Town Hall Station, Platform 1", without the suburb; `parent` is the same, except for
 * light rail, where it is the stop's name. At an extra stop `platformName` is the internal code, "THL6" for "Platform 6".
 */
export function pointNaming({ home, code, platformName: usualName }: PointNode, isExtraStop = false) {
  const platformName = isExtraStop ? code : usualName;
  if (platformName === home.name) return { long: home.name, parent: home.name, platformName };
  const isLightRail = platformName.endsWith('Light Rail');
  const isPart = isPartOfStop(platformName) || isExtraStop || isLightRail;
  const long = isPart ? `${home.name}, ${platformName}` : platformName;
  return { long, parent: isLightRail ? home.name : long, platformName };
}

/** Whether the name needs the stop's name: "Platform 1" does, "Town Hall, Park St, Stand K" does not. */
function isPartOfStop(platformName: string): boolean {
  return /^(Platform|Stand|Wharf|Side|Bay|Coach Bay) |^[A-Z]{2,4}\d+$/.test(platformName);
}

/** Latitude first, as everywhere in upstream's responses. */
export function coordOf(position: { lat: number; lng: number }): [number, number] {
  return [position.lat, position.lng];
}

export function nameWithSuburb({ name, locality }: { name: string; locality: string }): string {
  return `${name}, ${locality}`;
}

/** The suburb of a stop or place. */
export function suburbOf({ locality }: { locality: string }) {
  const number = String((seedOf(locality) >>> 0) % 1_000_000).padStart(6, '0');
  return { id: `placeID:95${number}:1`, name: locality, type: 'locality' };
}

/** The `location` of a departure: the platform where the vehicle calls, with the status of the vehicle there. */
export function boardLocation(
  node: PointNode,
  vehicle: {
    realtimeStatus?: string | undefined;
    occupancy?: Occupancy | undefined;
    isExtraStop?: boolean | undefined;
    isExtraTrip?: boolean;
  },
  planned = node,
): object {
  const { home, area } = node;
  const { locality, stopId } = home;
  const { long, parent, platformName } = pointNaming(node, vehicle.isExtraStop);
  return {
    id: vehicle.isExtraTrip ? home.id : node.id,
    isGlobalId: true,
    name: `${long}, ${locality}`,
    disassembledName: `${long}, ${locality}`,
    type: 'platform',
    coord: coordOf(node),
    properties: {
      ...(vehicle.realtimeStatus !== undefined && { realtimeStatus: [vehicle.realtimeStatus] }),
      ...(vehicle.occupancy !== undefined && { occupancy: vehicle.occupancy }),
      stopId,
      area,
      ...(!vehicle.isExtraTrip && { platform: node.code }),
      platformName,
      plannedPlatformName: planned === node ? platformName : pointNaming(planned).platformName,
    },
    parent: {
      id: home.id,
      isGlobalId: true,
      name: `${parent}, ${locality}`,
      disassembledName: parent,
      type: 'stop',
      parent: { name: locality, type: 'locality' },
      properties: { stopId },
    },
  };
}

/** A platform in a journey, with its stop and the stop's suburb as parents. */
export function journeyLocation(
  node: PointNode,
  vehicle: { occupancy?: Occupancy | undefined; isExtraStop?: boolean },
  planned = node,
) {
  const { home, area } = node;
  const { locality } = home;
  const naming = pointNaming(node, vehicle.isExtraStop);
  const long = naming.platformName.endsWith('Light Rail') ? naming.platformName : naming.long;
  const plannedPlatformName = planned === node ? naming.platformName : pointNaming(planned).platformName;
  return {
    isGlobalId: true,
    id: node.id,
    name: `${long}, ${locality}`,
    disassembledName: long,
    type: 'platform',
    coord: coordOf(node),
    niveau: 0,
    parent: {
      isGlobalId: true,
      id: home.id,
      name: `${naming.parent}, ${locality}`,
      disassembledName: naming.parent,
      type: 'stop',
      parent: suburbOf(home),
      properties: { stopId: home.stopId },
      coord: coordOf(home),
      niveau: 0,
    },
    modes: home.classes,
    properties: {
      WheelchairAccess: String(home.wheelchairAccess),
      AREA_NIVEAU_DIVA: '0',
      stoppingPointPlanned: plannedPlatformName,
      ...(vehicle.occupancy !== undefined && { occupancy: vehicle.occupancy }),
      area,
      platform: node.code,
      platformName: naming.platformName,
      plannedPlatformName,
    },
  };
}

/** A whole stop as the end of a walk. */
export function journeyStop(stop: StopNode) {
  return {
    isGlobalId: true,
    id: stop.id,
    name: nameWithSuburb(stop),
    disassembledName: stop.name,
    type: 'stop',
    coord: coordOf(stop),
    parent: { ...suburbOf(stop), disassembledName: '' },
    properties: { stopId: stop.stopId },
  };
}

/** The stop with this identifier, in the form of `departure_mon` and `stop_finder`. */
export function uniqueStop(stop: StopNode, classes: 'modes' | 'productClasses'): object {
  const name = { name: nameWithSuburb(stop), disassembledName: stop.name };
  return {
    id: stop.id,
    isGlobalId: true,
    ...name,
    coord: coordOf(stop),
    type: 'stop',
    matchQuality: 100_000,
    isBest: true,
    parent: suburbOf(stop),
    assignedStops: [
      {
        id: stop.id,
        isGlobalId: true,
        ...name,
        type: 'stop',
        coord: coordOf(stop),
        parent: { name: stop.locality, type: 'locality' },
        connectingMode: 100,
        properties: { stopId: stop.stopId },
        [classes]: stop.classes,
      },
    ],
    properties: { stopId: stop.stopId },
  };
}

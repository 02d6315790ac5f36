import type { PointNode, StopNode } from '../network/network-index.ts';
import type { Occupancy } from '../timetable/realtime.ts';
import { seedOf } from '../trait.ts';

/**
 * Upstream's names for a point. `long` is "Town Hall Station, Platform 1", without the suburb; `parent` is the same,
 * except for light rail, where it is the stop's name. At an extra stop `platformName` is the internal code, "THL6" for
 * "Platform 6".
 */
export function pointNaming(node: PointNode, isExtraStop = false) {
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

/** Latitude first, as everywhere in upstream's responses. */
export function coordOf(position: { lat: number; lng: number }): [number, number] {
  return [position.lat, position.lng];
}

/** Upstream's identifier of a suburb. */
export function placeId(locality: string): string {
  return `placeID:95${String((seedOf(locality) >>> 0) % 1_000_000).padStart(6, '0')}:1`;
}

/** `location` of a departure: the platform where the vehicle calls, with the state of the vehicle there. */
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
  const { home, point, area } = node;
  const { long, parent, platformName } = pointNaming(node, vehicle.isExtraStop);
  const { locality } = home.stop;
  return {
    id: vehicle.isExtraTrip ? home.stop.id : point.id,
    isGlobalId: true,
    name: `${long}, ${locality}`,
    disassembledName: `${long}, ${locality}`,
    type: 'platform',
    coord: coordOf(point),
    properties: {
      ...(vehicle.realtimeStatus !== undefined && { realtimeStatus: [vehicle.realtimeStatus] }),
      ...(vehicle.occupancy !== undefined && { occupancy: vehicle.occupancy }),
      stopId: home.stop.stopId,
      area,
      ...(!vehicle.isExtraTrip && { platform: point.code }),
      platformName,
      plannedPlatformName: planned === node ? platformName : pointNaming(planned).platformName,
    },
    parent: {
      id: home.stop.id,
      isGlobalId: true,
      name: `${parent}, ${locality}`,
      disassembledName: parent,
      type: 'stop',
      parent: { name: locality, type: 'locality' },
      properties: { stopId: home.stop.stopId },
    },
  };
}

/** A platform in a journey, with its stop and the stop's suburb as parents. */
export function journeyLocation(
  node: PointNode,
  vehicle: { occupancy?: Occupancy | undefined; isExtraStop?: boolean },
  planned = node,
) {
  const { home, point, area } = node;
  const naming = pointNaming(node, vehicle.isExtraStop);
  const long = naming.platformName.endsWith('Light Rail') ? naming.platformName : naming.long;
  const plannedPlatformName = planned === node ? naming.platformName : pointNaming(planned).platformName;
  const { locality } = home.stop;
  return {
    isGlobalId: true,
    id: point.id,
    name: `${long}, ${locality}`,
    disassembledName: long,
    type: 'platform',
    coord: coordOf(point),
    niveau: 0,
    parent: {
      isGlobalId: true,
      id: home.stop.id,
      name: `${naming.parent}, ${locality}`,
      disassembledName: naming.parent,
      type: 'stop',
      parent: { id: placeId(locality), name: locality, type: 'locality' },
      properties: { stopId: home.stop.stopId },
      coord: coordOf(home.stop),
      niveau: 0,
    },
    modes: home.classes,
    properties: {
      WheelchairAccess: String(home.stop.wheelchairAccess),
      AREA_NIVEAU_DIVA: '0',
      stoppingPointPlanned: plannedPlatformName,
      ...(vehicle.occupancy !== undefined && { occupancy: vehicle.occupancy }),
      area,
      platform: point.code,
      platformName: naming.platformName,
      plannedPlatformName,
    },
  };
}

/** A stop as a whole, as an end of a walk. */
export function journeyStop(home: StopNode) {
  const { stop } = home;
  return {
    isGlobalId: true,
    id: stop.id,
    name: `${stop.name}, ${stop.locality}`,
    disassembledName: stop.name,
    type: 'stop',
    coord: coordOf(stop),
    parent: { id: placeId(stop.locality), name: stop.locality, type: 'locality', disassembledName: '' },
    properties: { stopId: stop.stopId },
  };
}

/** The one stop that an identifier means, in the form of `departure_mon` and `stop_finder`. */
export function uniqueStop(home: StopNode, classes: 'modes' | 'productClasses'): object {
  const { stop } = home;
  const name = { name: `${stop.name}, ${stop.locality}`, disassembledName: stop.name };
  return {
    id: stop.id,
    isGlobalId: true,
    ...name,
    coord: coordOf(stop),
    type: 'stop',
    matchQuality: 100_000,
    isBest: true,
    parent: { id: placeId(stop.locality), name: stop.locality, type: 'locality' },
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
        [classes]: home.classes,
      },
    ],
    properties: { stopId: stop.stopId },
  };
}

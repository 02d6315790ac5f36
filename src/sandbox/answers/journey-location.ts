import type { PointNode, StopNode } from '../network/network-index.ts';
import type { Occupancy } from '../timetable/realtime.ts';
import { coordOf, placeId, pointNaming } from './point-naming.ts';

/** A platform in a journey, with its stop and the stop's suburb as parents. */
export function journeyLocation(
  node: PointNode,
  vehicle: { occupancy?: Occupancy | undefined; isExtraStop?: boolean },
  planned = node,
): JourneyLocation {
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

export interface JourneyLocation {
  isGlobalId?: true;
  id: string;
  name: string;
  disassembledName?: string;
  type: string;
  coord: [number, number];
  niveau?: number;
  parent?: object;
  modes?: readonly number[];
  properties?: object;
}

/** A stop as a whole, as an end of a walk. */
export function journeyStop(home: StopNode): JourneyLocation {
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

import type { PointNode } from '../network/network-index.ts';
import type { Occupancy } from '../timetable/realtime.ts';
import { coordOf, pointNaming } from './point-naming.ts';

/** `location` of a departure: the platform where the vehicle calls, with the state of the vehicle there. */
export function boardLocation(
  node: PointNode,
  vehicle: { realtimeStatus?: string; occupancy?: Occupancy | undefined; isExtraStop?: boolean; isExtraTrip?: boolean },
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

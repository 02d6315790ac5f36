import type { StopNode } from '../network/network-index.ts';
import { coordOf, placeId } from './point-naming.ts';

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

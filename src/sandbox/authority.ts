import { createFootpaths, type Footpaths } from './journeys/footpath.ts';
import type { SandboxNetwork } from './network/network.ts';
import { indexNetwork, type NetworkIndex } from './network/network-index.ts';
import { createTimetables, type Timetable } from './timetable/timetable.ts';

/**
 * The responses are made from this. Nothing in it depends on the clock; timetables and footpaths are made on first use.
 */
export interface Authority {
  index: NetworkIndex;
  timetableAround: (epochSeconds: number) => Timetable;
  footpaths: Footpaths;
}

export function createAuthority(network: SandboxNetwork): Authority {
  const index = indexNetwork(network);
  return { index, timetableAround: createTimetables(), footpaths: createFootpaths(index) };
}

import { createFootpaths, type Footpaths } from './footpath.ts';
import type { SandboxNetwork } from './network.ts';
import { indexNetwork, type NetworkIndex } from './network-index.ts';
import { createTimetables, type Timetable } from './timetable.ts';

/** All that the stand-in knows; none of it changes, it is only worked out when first asked for. */
export interface Authority {
  index: NetworkIndex;
  timetableAround: (epochSeconds: number) => Timetable;
  footpaths: Footpaths;
}

export function createAuthority(network: SandboxNetwork): Authority {
  const index = indexNetwork(network);
  return { index, timetableAround: createTimetables(), footpaths: createFootpaths(index) };
}

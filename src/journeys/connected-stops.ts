import { Int32Column } from '../core/columns.ts';
import type { Sections } from '../timetable/packed-timetable.ts';

/**
 * Groups the stops between which there may be a journey on some day, by runs of the timetable in either direction and on foot. Returns the
 * group of each stop.
 */
export function groupConnectedStops({ stopId, callStop, patternCalls, walkStart, walkStop }: Sections): Int32Array {
  const parents = Int32Column.from(stopId, (_, stop) => stop);
  const rootOf = (stop: number): number => {
    let root = stop;
    while (parents[root] !== root) {
      parents[root] = parents.valueAt(parents.valueAt(root));
      root = parents.valueAt(root);
    }
    return root;
  };
  const join = (one: number, other: number) => {
    parents[rootOf(one)] = rootOf(other);
  };
  for (let pattern = 0; pattern + 1 < patternCalls.length; pattern++) {
    const first = patternCalls.valueAt(pattern);
    for (let call = first + 1; call < patternCalls.valueAt(pattern + 1); call++) {
      join(callStop.valueAt(first), callStop.valueAt(call));
    }
  }
  for (let stop = 0; stop + 1 < walkStart.length; stop++) {
    for (const target of walkStop.subarray(walkStart[stop], walkStart[stop + 1])) join(stop, target);
  }
  return parents.map((_, stop) => rootOf(stop));
}

import type { Uint32Column } from '../core/columns.ts';
import type { Timetable } from '../timetable/timetable.ts';
import type { Position } from '../transit/place.ts';

/**
 * The course of a direction as parts of polylines: the path of its first pattern and, for each further pattern, the parts
 * between stops that no earlier pattern connects. Without a path in the files it is straight from stop to stop.
 */
export async function drawCourse(timetable: Timetable, patterns: readonly number[]): Promise<Position[][]> {
  const drawnPairs = new Set<string>();
  const course: Position[][] = [];
  for (const pattern of patterns) {
    const stops = timetable.stopsOf(pattern);
    const isNew = Array.from(stops.subarray(1), (stop, at) => {
      const ends = `${timetable.stationOf(stops.valueAt(at))} ${timetable.stationOf(stop)}`;
      return !drawnPairs.has(ends) && drawnPairs.add(ends) !== null;
    });
    for (let first = isNew.indexOf(true); first >= 0; first = isNew.indexOf(true, first)) {
      let last = first;
      while (isNew[last]) last++;
      const trip = timetable.sections.patternTrips.valueAt(pattern);
      course.push(
        (await timetable.loadPath(trip, { first, last })) ?? straight(timetable, stops.subarray(first, last + 1)),
      );
      first = last;
    }
  }
  return course;
}

function straight(timetable: Timetable, stops: Uint32Column): Position[] {
  return Array.from(stops, (index): Position => {
    const { lat, lng } = timetable.stop(index);
    return [lat, lng];
  });
}

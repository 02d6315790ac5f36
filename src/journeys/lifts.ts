import type { Timetable } from '../timetable/timetable.ts';
import type { FindLiftsOut, LiftOut } from '../transit/alert.ts';
import type { Journey } from '../transit/journey.ts';
import type { Mode } from '../transit/mode.ts';

/** An alert about a whole station concerns only these modes: its bus stands are in the street. */
const NEED_LIFTS: readonly (Mode | 'walk')[] = ['train', 'metro', 'lightrail'] satisfies Mode[];

/** Returns the journey with the lifts out of service at the ends of its rides, at the planned times. */
export function markLifts(journey: Journey, listLiftsOut: FindLiftsOut): Journey {
  const rides = journey.legs.filter(({ mode }) => mode !== 'walk');
  const liftsByRide = rides
    .flatMap(({ mode, origin, destination }) => [origin, destination].map((end) => ({ mode, end })))
    .map(({ mode, end: { stopId, name, ids, parentId, plannedAt } }) => {
      const isHere = (id: string) => id === parentId || ids.includes(id);
      return listLiftsOut(plannedAt)
        ?.filter((lift) =>
          lift.platforms.length > 0 ? lift.platforms.some(isHere) : NEED_LIFTS.includes(mode) && isHere(lift.stopId),
        )
        .map(({ alertId }) => ({ stopId, name, alertId }));
    });
  const isKnown = liftsByRide.every((lifts) => lifts !== undefined);
  const distinct = new Map(
    liftsByRide.flatMap((lifts) => lifts ?? []).map((lift) => [`${lift.stopId} ${lift.alertId}`, lift]),
  );
  return { ...journey, liftsOut: isKnown ? [...distinct.values()] : null };
}

/** The stops of the timetable that need one of these lifts. */
export function stopsWithoutLift(timetable: Timetable, lifts: readonly LiftOut[]): number[] {
  const find = (id: string) => timetable.findStop(id) ?? [];
  return lifts.flatMap(({ stopId, platforms }) => {
    if (platforms.length > 0) return platforms.flatMap(find);
    const stops = [find(stopId)].flat();
    return stops
      .flatMap((stop) => (timetable.stationOf(stop) === stop ? timetable.boardStops(stop) : stop))
      .filter((stop) => timetable.modesOf(stop).some((mode) => NEED_LIFTS.includes(mode)));
  });
}

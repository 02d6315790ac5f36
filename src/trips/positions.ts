import { readObject } from '../efa/answer/field.ts';
import { readStopPoint } from '../efa/answer/place.ts';
import { readJourney } from '../efa/payload.ts';
import { findOwnPosition } from '../efa/stop-point.ts';
import type { Position } from '../transit/stop.ts';

/**
 * Where the points of an answer are: a leg sometimes lacks the position of a point that another journey has. The answer
 * is read when the first position is asked for, which is rare.
 */
export function createPositions(journeys: readonly unknown[]): (stopId: string) => Position | null {
  let known: ReadonlyMap<string, Position> | undefined;
  return (stopId) => {
    known ??= readPositions(journeys);
    return known.get(stopId) ?? null;
  };
}

function readPositions(journeys: readonly unknown[]): ReadonlyMap<string, Position> {
  const legs = journeys.flatMap((journey) => readJourney(journey)?.legs ?? []);
  const ends = legs.map(readObject).flatMap((leg) => [leg?.origin, leg?.destination]);
  return new Map(
    ends.flatMap((end): [string, Position][] => {
      const point = readStopPoint(end);
      const position = point && findOwnPosition(point);
      return point?.id && position ? [[point.id, position]] : [];
    }),
  );
}

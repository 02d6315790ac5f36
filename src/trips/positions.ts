import { z } from 'zod';
import { efaJourneySchema, efaLegSchema } from '../efa/payload.ts';
import { findOwnPosition } from '../efa/stop-point.ts';
import type { Position } from '../transit/stop.ts';

const endsSchema = z.compile(efaLegSchema.pick({ origin: true, destination: true }));

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
  const legs = journeys.flatMap((journey) => efaJourneySchema.safeParse(journey).data?.legs ?? []);
  const ends = legs.flatMap((leg) => Object.values(endsSchema.safeParse(leg).data ?? {}));
  return new Map(
    ends.flatMap((point): [string, Position][] => {
      const position = findOwnPosition(point);
      return point.id && position ? [[point.id, position]] : [];
    }),
  );
}

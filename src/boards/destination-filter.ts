import type { TrustedFeed } from '../realtime/overlay.ts';
import { filesOfFeed } from '../realtime/polling/feed-source.ts';
import type { CallRef, Timetable } from '../timetable/timetable.ts';
import { MAX_CONTINUATIONS } from './run-calls.ts';

export type DestinationFilter = ReturnType<typeof createDestinationFilter>;

/** Finds vehicles that may call at one of these stops later, perhaps after continuing as another run. */
export function createDestinationFilter(timetable: Timetable, to: ReadonlySet<number>, feeds: readonly TrustedFeed[]) {
  let changes: ReadonlySet<number> | null = null;
  const replaced = findReplaced(timetable, to, feeds);
  const replacedPatterns = new Set([...replaced].map((trip) => timetable.patternOf(trip)));

  /** Whether vehicles of a pattern may go there after this position. */
  function mayGoThere(pattern: number, position: number): boolean {
    if (callsThere(pattern, position + 1) || replacedPatterns.has(pattern)) return true;
    const end = timetable.stopsOf(pattern).at(-1);
    changes ??= findChanges(timetable, to);
    return end !== undefined && changes.has(end) && timetable.routeOf(pattern).mode === 'train';
  }

  function goesThere({ trip, day, position }: CallRef): boolean {
    let [next, from]: [number | null, number] = [trip, position + 1];
    for (let count = 0; next !== null && count <= MAX_CONTINUATIONS; count++) {
      if (callsThere(timetable.patternOf(next), from) || replaced.has(next)) return true;
      [next, from] = [timetable.nextTrip(next, day), 0];
    }
    return false;
  }

  function callsThere(pattern: number, from: number): boolean {
    const stops = timetable.stopsOf(pattern);
    for (let position = from; position < stops.length; position++) if (to.has(stops[position] as number)) return true;
    return false;
  }

  return { mayGoThere, goesThere };
}

/** The trips that a feed lists at one of these stops; the timetable may have them without that call. */
function findReplaced(timetable: Timetable, stops: ReadonlySet<number>, feeds: readonly TrustedFeed[]): Set<number> {
  const stopIds = [...stops].map((stop) => timetable.stop(stop).id);
  return new Set(
    feeds.flatMap(({ feed, source }) => {
      const trips = stopIds.flatMap((stopId) => feed.findUntimetabledTrips(stopId));
      return trips.flatMap(({ tripId }) => timetable.findTrips(tripId, filesOfFeed(source)));
    }),
  );
}

/** The first stops of trains that call at one of these stops, or that continue as such a train. */
function findChanges(timetable: Timetable, stops: ReadonlySet<number>): ReadonlySet<number> {
  const found = new Set<number>();
  let through: Iterable<number> = stops;
  for (let count = 0; count < MAX_CONTINUATIONS; count++) {
    const starts = [...through].flatMap((stop) =>
      [...timetable.patternsAt(stop)].flatMap((pattern) => {
        const calls = timetable.stopsOf(pattern);
        const isOnTheWay = count === 0 || calls.at(-1) === stop;
        return isOnTheWay && timetable.routeOf(pattern).mode === 'train' ? (calls[0] as number) : [];
      }),
    );
    through = starts;
    for (const stop of starts) found.add(stop);
  }
  return found;
}

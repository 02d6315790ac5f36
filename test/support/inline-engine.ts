import type { JourneyEngine } from '#src/journeys/engine.ts';
import { openEngine } from '#src/journeys/engine-thread.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import type { Snapshot } from '#src/realtime/snapshot.ts';
import type { Timetable } from '#src/timetable/timetable.ts';

/** The journey engine with its searches in this thread. */
export function createInlineEngine(timetable: Timetable) {
  const thread = openEngine(timetable.packed);
  let live = new LiveTimetable(timetable);
  let deadlineAt = Number.POSITIVE_INFINITY;
  const search: JourneyEngine['search'] = async (name, query) => {
    const near = thread.search(name, query, deadlineAt);
    const found = thread.mayBeFar() ? thread.search(name, { ...query, isFar: true }, deadlineAt) : near;
    return { found, live, isPartial: thread.isPartial() };
  };
  return {
    get: () => ({ search }),
    /** Searches from now on end by themselves at this time. */
    endAt(at: number): void {
      deadlineAt = at;
    },
    /** Searches from now on use these snapshots. */
    take(snapshots: readonly Snapshot[]): void {
      live = new LiveTimetable(timetable, snapshots);
      thread.use(live.snapshots);
    },
  };
}

import { Feed } from '#src/realtime/feed/feed.ts';
import { parseFeed } from '#src/realtime/feed/feed-reader.ts';
import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { Snapshot } from '#src/realtime/snapshot.ts';
import { SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { encodeFeed, type TripSpec } from '#test/realtime/feed-bytes.ts';

/** The snapshots of every trip running anywhere, one minute late at all remaining stops; one in twenty is half an hour late. */
export function publishRunning(timetable: Timetable, now: number): Snapshot[] {
  const trips = new Map<FeedSourceId, TripSpec[]>();
  for (let trip = 0; trip < timetable.tripCount; trip++) {
    const { file, tripId } = timetable.trip(trip);
    const source = SCHEDULE_FILES[file].feed as FeedSourceId | null;
    if (source === null) continue;
    for (const day of timetable.daysOf(trip, now)) {
      const late = trip % 20 === 0 ? 1800 : 60;
      const calls = timetable.calls(trip, day);
      const next = calls.filter(({ departsAt }) => departsAt + late * 1000 > now);
      const isUnderWay = (calls[0]?.departsAt ?? 0) < now + 3_600_000 && next.length > 0;
      if (!isUnderWay) continue;
      const timeOf = (at: number) => ({ delay: late, time: at / 1000 + late });
      const stops = next.map((call) => ({
        stopId: timetable.stop(call.stop).id,
        stopSequence: calls.indexOf(call) + 1,
        arrival: timeOf(call.arrivesAt),
        departure: timeOf(call.departsAt),
      }));
      const ofSource = trips.get(source) ?? [];
      trips.set(source, ofSource);
      ofSource.push({ tripId, scheduleRelationship: 0, stops });
    }
  }
  const runs = createPlannedRuns(timetable);
  return [...trips].map(([source, ofSource]) => {
    const feed = new Feed(parseFeed(encodeFeed({ timestamp: Math.floor(now / 1000), trips: ofSource })));
    return new Snapshot(predictFeed(runs, { source, feed }));
  });
}

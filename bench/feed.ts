import { pathToFileURL } from 'node:url';
import { MINUTE_MS } from '#src/core/clock.ts';
import { Feed } from '#src/realtime/feed/feed.ts';
import { parseFeed } from '#src/realtime/feed/feed-reader.ts';
import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { Snapshot } from '#src/realtime/snapshot.ts';
import { filesOfFeed } from '#src/timetable/schedule-files.ts';
import { serviceDayStart, toDate, toDayNumber } from '#src/timetable/service-day.ts';
import { openTimetable } from '#src/timetable/update/folder.ts';
import { encodeFeed, type TripSpec } from '#test/realtime/feed-bytes.ts';
import { describeMachine, print } from './machine.ts';
import { median } from './percentiles.ts';

/*
 * The cost of a publication of a feed, from its bytes to the snapshot that other threads open: processor time of each step in the
 * reading thread, and of opening in every thread. The feed of buses has every running one; further feeds are oversized.
 *
 * `node bench/feed.ts TIMETABLE.bin [BASELINE]`: a file of DATA_DIR/timetable, and the folder of a checkout of another
 * commit with its packages, whose reading of the same bytes is measured in turn with that of this one:
 * `git worktree add BASELINE COMMIT && ln -s $PWD/node_modules BASELINE/`.
 */
const [path = '', baseline = ''] = process.argv.slice(2);
const ROUNDS = 15;
/** Upstream's largest feed has as many. */
const MAX_TRIPS = 5000;
const MEGABYTE = 1_000_000;
const ADDED = 1;
const timetable = await openTimetable(path);
const now = serviceDayStart((toDayNumber(timetable.files[0]?.firstDay ?? '') as number) + 1) + 9 * 60 * MINUTE_MS;
const timestamp = now / 1000;
const before: typeof parseFeed | null = baseline
  ? (await import(pathToFileURL(`${baseline}/src/realtime/feed/feed-reader.ts`).href)).parseFeed
  : null;

print(describeMachine());
print(`${timetable.tripCount} trips; processor time in ms, median of ${ROUNDS}; memory in MB`);
const titles = ['read', 'predict', 'first time', 'in all', 'open', ...(before ? ['before', 'ratio'] : [])];
print(['feed'.padEnd(52), ...[...titles, 'packed', 'snapshot', 'runs'].map((title) => title.padStart(11))].join(''));
measure('buses', 'buses', runningTrips('buses'));
measure('trains', 'sydneytrains', runningTrips('sydneytrains'));
const [bus] = runningTrips('buses');
measure('20,000 times one bus', 'buses', Array<TripSpec>(20_000).fill(bus as TripSpec));
const added = { scheduleRelationship: ADDED, routeId: bus?.routeId, stops: bus?.stops?.slice(0, 10) } as TripSpec;
measure(
  '16,000 added',
  'buses',
  Array.from({ length: 16_000 }, (_, index) => ({ ...added, tripId: `added ${index}` })),
);
const strange = Array.from({ length: 300 }, (_, index) => ({
  stopId: `${index % 50}`,
  departure: { time: timestamp },
}));
measure(
  '1,600 times 300 unknown stops',
  'buses',
  runningTrips('buses')
    .slice(0, 1600)
    .map((one) => ({ ...one, stops: strange })),
);

function measure(name: string, source: FeedSourceId, trips: TripSpec[]): void {
  const bytes = encodeFeed({ timestamp, trips });
  const figures: Record<string, number[]> = {};
  let packed = parseFeed(bytes);
  const first = cpuMs(() => predictFeed(createPlannedRuns(timetable), { source, feed: new Feed(packed) }));
  const runs = createPlannedRuns(timetable);
  let snapshot = predictFeed(runs, { source, feed: new Feed(packed) });
  for (let round = 0; round < ROUNDS; round++) {
    const baseMs = before ? cpuMs(() => before(bytes)) : 0;
    const read = cpuMs(() => {
      packed = parseFeed(bytes);
    });
    const predict = cpuMs(() => {
      snapshot = predictFeed(runs, { source, feed: new Feed(packed) });
    });
    const open = cpuMs(() => new Snapshot(snapshot), 20);
    for (const [title, ms] of Object.entries({ read, predict, all: read + predict, open, baseMs })) {
      figures[title] = [...(figures[title] ?? []), ms];
    }
  }
  const [read, predict, all, open, baseMs] = Object.values(figures).map(median) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const compared = before ? [baseMs, all / baseMs] : [];
  const sizes = [packed.byteLength / MEGABYTE, snapshot.byteLength / MEGABYTE];
  const row = [read, predict, first, all, open, ...compared, ...sizes].map((figure) => figure.toFixed(2));
  const size = `${name}: ${trips.length} trips, ${trips.reduce((sum, { stops = [] }) => sum + stops.length, 0)} updates`;
  print(
    [size.padEnd(52), ...[...row, new Snapshot(snapshot).runCount].map((one) => String(one).padStart(11))].join(''),
  );
}

function cpuMs(task: () => unknown, times = 1): number {
  const start = process.threadCpuUsage();
  for (let count = 0; count < times; count++) task();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000 / times;
}

/** At most 5,000 trips of the feed that run now, one minute late at all further stops; one in twenty is half an hour late. */
function runningTrips(source: FeedSourceId): TripSpec[] {
  const files = filesOfFeed(source);
  const day = toDayNumber(timetable.files[0]?.firstDay ?? '') as number;
  const trips: TripSpec[] = [];
  const isFull = () => trips.length === MAX_TRIPS;
  for (let trip = 0; trip < timetable.tripCount && !isFull(); trip++) {
    const { file, routeId } = timetable.routeOf(timetable.patternOf(trip));
    if (!files.includes(file) || !timetable.runsOn(trip, day + 1)) continue;
    const late = trip % 20 === 0 ? 1800 : 60;
    const calls = timetable.calls(trip, day + 1);
    const first = calls.findIndex(({ departsAt }) => departsAt + late * 1000 > now);
    if (first < 0 || (calls[0]?.departsAt ?? 0) > now + 30 * MINUTE_MS) continue;
    const timeOf = (at: number) => ({ delay: late, time: at / 1000 + late });
    trips.push({
      tripId: timetable.tripIdOf(trip),
      // Only trains have no date in their feed.
      ...(source !== 'sydneytrains' && { startDate: toDate(day + 1) }),
      routeId,
      scheduleRelationship: 0,
      stops: calls.slice(first).map((call, index) => ({
        stopId: timetable.stop(call.stop).id,
        stopSequence: first + index + 1,
        arrival: timeOf(call.arrivesAt),
        departure: timeOf(call.departsAt),
      })),
    });
  }
  return trips;
}

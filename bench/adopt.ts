import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFootpaths } from '#src/journeys/footpaths.ts';
import { createPlanners } from '#src/journeys/planners.ts';
import { Feed } from '#src/realtime/feed/feed.ts';
import { readFeed } from '#src/realtime/feed/feed-reader.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { Snapshot } from '#src/realtime/snapshot.ts';
import { openTimetable } from '#src/timetable/update/folder.ts';
import { describeMachine, hold, print } from './machine.ts';
import { median } from './percentiles.ts';

/*
 * Processor time that a search thread needs to take the runs of new snapshots into the lines of a day, forward and in both directions,
 * as a ratio to building the lines of the day. FEEDS is a folder with a feed of each source, as `buses.pb`.
 *
 * `node bench/adopt.ts TIMETABLE.bin FEEDS`
 */
const [path = '', folder = ''] = process.argv.slice(2);
const ROUNDS = 60;
const MAX_MS = 50;
/** The limit is for this many runs. */
const LIMIT_RUNS = 5000;

const timetable = await openTimetable(path);
const runs = createPlannedRuns(timetable);
const publish = () =>
  readdirSync(folder).map((file) => {
    const feed = new Feed(readFeed(readFileSync(join(folder, file))));
    return new Snapshot(predictFeed(runs, { source: file.replace(/\.pb$/, '') as FeedSourceId, feed }));
  });
const snapshots = publish();
const now = snapshots[0]?.headerAt ?? 0;
const runCount = snapshots.reduce((sum, one) => sum + one.runCount, 0);
const callCount = snapshots.reduce((sum, one) => sum + one.sections.stop.length, 0);
print(describeMachine());
print(`${timetable.tripCount} trips; ${runCount} runs with ${callCount} calls in ${snapshots.length} snapshots\n`);

const access = {
  trips: new Uint8Array(timetable.tripCount).fill(1),
  stops: new Uint8Array(timetable.stopCount).fill(1),
};
const footpaths = createFootpaths(timetable.sections, () => true);
const request = { modes: 127, isWheelchair: false, maxRides: 7, limit: 1, changeSeconds: 120, walkSeconds: null };
const nowhere = { ...request, access: [], egress: [], at: 0 };

const builds = Array.from({ length: 7 }, () => {
  const planners = createPlanners(timetable, footpaths, access);
  return measure(() => planners.warm(now));
}).slice(2);
const build = median(builds);
print(`lines of a day: ${build.toFixed(0)} ms`);

for (const [name, isBoth] of [
  ['forward', false],
  ['forward and mirrored', true],
] as const) {
  const planners = createPlanners(timetable, footpaths, access);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    planners.use(new LiveTimetable(timetable, snapshots));
    const open = () => planners.open({ at: now, now }).planner;
    times.push(measure(open));
    if (isBoth && round === 0) open().plan({ ...nowhere, isArrival: true });
  }
  const first = times[0] as number;
  const ms = median(times.slice(ROUNDS / 2));
  print(`${name}: ${ms.toFixed(1)} ms, ${(ms / build).toFixed(2)} of a day; the first time ${first.toFixed(0)} ms`);
  if (isBoth) {
    const perLimit = (ms * LIMIT_RUNS) / Math.max(runCount, LIMIT_RUNS);
    hold(`${LIMIT_RUNS} changed runs take at most ${MAX_MS} ms in both directions`, perLimit <= MAX_MS);
  }
}

function measure(act: () => void): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

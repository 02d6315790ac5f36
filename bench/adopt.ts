import { HOUR_MS } from '#src/core/clock.ts';
import { createPlanners } from '#src/journeys/planners.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { calendarDayAt, serviceDayStart } from '#src/timetable/service-day.ts';
import { openTimetable } from '#src/timetable/update/folder.ts';
import { describeMachine, hold, print } from './machine.ts';
import { median } from './percentiles.ts';
import { publishRunning } from './running-vehicles.ts';

/*
 * Processor time that a search thread needs to take the runs of new snapshots into the lines of a day, forward and in both
 * directions, as a ratio to building the lines of the day. Every vehicle that runs on a morning is in the feeds.
 *
 * `node bench/adopt.ts TIMETABLE.bin`: a file of DATA_DIR/timetable.
 */
const [path = ''] = process.argv.slice(2);
const ROUNDS = 60;
const MAX_MS = 50;
/** The limit is for this many runs. */
const LIMIT_RUNS = 5000;

const timetable = await openTimetable(path);
const now = serviceDayStart(calendarDayAt(Date.now())) + 8.2 * HOUR_MS;
const snapshots = publishRunning(timetable, now);
const runCount = snapshots.reduce((sum, one) => sum + one.runCount, 0);
const callCount = snapshots.reduce((sum, one) => sum + one.sections.stop.length, 0);
print(describeMachine());
print(`${timetable.tripCount} trips; ${runCount} runs with ${callCount} calls in ${snapshots.length} snapshots\n`);

const access = {
  trips: new Uint8Array(timetable.tripCount).fill(1),
  stops: new Uint8Array(timetable.stopCount).fill(1),
};
const { walkStart: first, walkStop: targets, walkSeconds: seconds } = timetable.sections;
const footpaths = { first, targets, seconds };
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

import { expect, it } from 'vitest';
import { countLines } from '#src/realtime/line-counts.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { NOW, noData, predict, run, TRIP, timetable, trip, update, YESTERDAY } from './prediction/predicted.ts';

const planned = timetable([
  run('ended', [-40, -20]),
  run('late past its end', [-40, -2]),
  run('on time', [-10, 20]),
  run('four minutes late', [-9, 21]),
  run('five minutes late', [-8, 22]),
  run('cancelled', [-7, 23]),
  run('not tracked', [-6, 24]),
  run('leaves soon', [30, 40]),
  run('leaves later', [31, 41]),
  run('of yesterday', [-5, 25], { days: [YESTERDAY] }),
]);
const line = { patterns: Array.from({ length: planned.sections.patternTrips.length - 1 }, (_, index) => index) };
const late = (id: string, minutes: number, at: number) =>
  trip(id, [update('B', { time: at + minutes, delay: 60 * minutes })]);
const snapshot = predict(planned, [
  late('ended', 0, -20),
  late('late past its end', 8, -2),
  late('on time', 0, 20),
  late('four minutes late', 4, 21),
  late('five minutes late', 5, 22),
  trip('cancelled', [], { scheduleRelationship: TRIP.canceled }),
  trip('not tracked', [noData('B')]),
]);

it('the runs of a line that are under way or leave within 30 minutes are counted by their state in the feed', async () => {
  expect(await countLines(new LiveTimetable(planned, [snapshot]), [line], NOW)).toEqual([
    { runs: 7, live: { tracked: 4, late: 2, cancelled: 1 } },
  ]);
});

it('without a feed the planned runs of a line are counted, but none as tracked, late or cancelled', async () => {
  expect(await countLines(new LiveTimetable(planned), [line, { patterns: [] }], NOW)).toEqual([
    { runs: 6, live: null },
    { runs: 0, live: null },
  ]);
});

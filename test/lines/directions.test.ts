import { expect, it } from 'vitest';
import { loadDirections } from '#src/lines/directions.ts';
import { noticesOfLeftOut } from '#src/operations/lines/line.ts';
import { toDayNumber } from '#src/timetable/service-day.ts';
import { type MadeTrip, scheduleFile } from '../support/schedule-file.ts';
import { timetableOf } from '../support/timetable.ts';

it('a table that would be too long has the busiest runs, and says how many are left out', async () => {
  const days = ['20261126'];
  const stopIds = Array.from({ length: 500 }, (_, at) => String(at));
  /** The stops in steps of a prime number, so that no two patterns have much of their order in common. */
  const trip = (step: number, copy: number): MadeTrip => ({
    id: `${step} ${copy}`,
    days,
    calls: stopIds.map((_, at): [string, number] => [String((at * step) % 499), 28_800 + copy * 60 + at]),
  });
  const steps = Array.from({ length: 40 }, (_, at) => 2 + at * 7);
  const trips = [...steps.map((step) => trip(step, 0)), trip(100, 0), trip(100, 1)];
  const timetable = timetableOf(scheduleFile('buses', { stops: stopIds.map((id) => ({ id })), trips }));
  const patterns = Array.from({ length: steps.length + 1 }, (_, pattern) => pattern);
  const directions = await loadDirections(timetable, patterns, toDayNumber('20261126') as number);
  const [{ stops, runs, leftOut, patterns: shown }] = directions as [(typeof directions)[0]];
  expect(stops.length).toBeLessThanOrEqual(2000);
  expect(leftOut).toBeGreaterThan(0);
  expect(runs.length + leftOut).toBe(trips.length);
  expect(runs.map(({ tripId }) => tripId)).toEqual(expect.arrayContaining(['100 0', '100 1']));
  for (const { listTimes } of runs) expect(listTimes().filter((time) => time !== null)).toHaveLength(500);
  expect(shown.length).toBeLessThan(patterns.length);
  expect(noticesOfLeftOut(directions)).toEqual([
    { text: `${leftOut} runs are left out, because a table with their stops would be too long.` },
  ]);
});

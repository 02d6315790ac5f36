import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunRecord } from '#src/extensions/punctuality/run-record.ts';
import { serviceDayStart } from '#src/timetable/service-day.ts';
import { onTimeRuleOf } from '#src/transit/on-time-rule.ts';
import type { PunctualityQuery } from '#src/transit/punctuality.ts';
import { countKnown, type Gap, type KnownCall, listKnownCalls, MONDAY, makeWeek, playWeek } from './week.ts';

const GAPS: Gap[] = [
  { day: MONDAY + 2, from: 10 * 3600 + 25, until: 12 * 3600 + 20 * 60 },
  { day: MONDAY + 4, from: 17 * 3600, until: 17 * 3600 + 4 * 60 },
];
const RULE = { earliest: -119, latest: 359 };
/** Noon on the Monday after. */
const AFTER = serviceDayStart(MONDAY + 7) + 12 * 3600 * 1000;
const folder = mkdtempSync(join(tmpdir(), 'punctuality-'));
const path = join(folder, 'punctuality.db');

const week = makeWeek(7);
const known = listKnownCalls(week.runs, GAPS);
let record: RunRecord;

const QUERY: PunctualityQuery = {
  lineId: '',
  rule: onTimeRuleOf({ mode: 'bus', route: 'A' }),
  days: 90,
  stopIds: null,
  weekdays: null,
  hours: null,
  minute: null,
};
const lineIdOf = (route: string) => {
  for (let trip = 0; trip < week.timetable.tripCount; trip++) {
    const line = week.timetable.routeOf(week.timetable.patternOf(trip));
    if (line.route === route) return line.lineId.toUpperCase();
  }
  throw new Error(route);
};

beforeAll(() => {
  record = new RunRecord({ path });
  record.use(week.timetable, serviceDayStart(MONDAY));
  let count = 0;
  playWeek(week, GAPS, (moment) => {
    if (++count % 10 === 0) record.write(moment);
    // Restarts on Thursday morning, while runs are on their way, and on Saturday at noon.
    if ([(3 * 24 + 8.5) * 60, (5 * 24 + 12) * 60].includes(count)) {
      record.close(moment);
      record = new RunRecord({ path });
      record.use(week.timetable, moment);
    }
    return record;
  });
});
afterAll(() => {
  record.close(AFTER);
  rmSync(folder, { recursive: true });
});

const byWeekday = (calls: KnownCall[]) =>
  Array.from({ length: 7 }, (_, weekday) =>
    countKnown(
      calls.filter((call) => call.weekday === weekday),
      RULE,
    ),
  );
const byHour = (calls: KnownCall[]) =>
  Array.from({ length: 24 }, (_, hour) =>
    countKnown(
      calls.filter((call) => call.hour === hour),
      RULE,
    ),
  );

function expectEqual(query: Partial<PunctualityQuery> & { lineId: string }, calls: KnownCall[], minimum = 1) {
  const found = record.find({ ...QUERY, ...query }, AFTER);
  expect(found.total.calls).toBeGreaterThanOrEqual(minimum);
  expect(found.total).toEqual(countKnown(calls, RULE));
  expect(found.byWeekday).toEqual(byWeekday(calls));
  expect(found.byHour).toEqual(byHour(calls));
}

describe('the punctuality of a week with known lateness', () => {
  it.each(['A', 'B'])(
    'every figure of line %s equals an independent count, over restarts and gaps in the feeds',
    (line) => {
      const calls = known.filter((call) => call.line === line);
      expectEqual({ lineId: lineIdOf(line) }, calls, 800);
    },
  );

  it('every figure of a stop, of hours and days of the week, and of one run equals an independent count', () => {
    const calls = known.filter(({ line }) => line === 'A');
    const lineId = lineIdOf('A');
    expectEqual(
      { lineId, stopIds: ['S2'] },
      calls.filter(({ stop }) => stop === 'S2'),
      100,
    );
    expectEqual(
      { lineId, stopIds: ['S4'] },
      calls.filter(({ stop }) => stop === 'S4'),
      100,
    );
    const mornings = calls.filter(({ weekday, hour }) => weekday < 2 && (hour === 7 || hour === 8));
    expectEqual({ lineId, weekdays: [0, 1], hours: [7, 8] }, mornings, 5);
    const [first] = calls.filter(({ stop, hour }) => stop === 'S1' && hour === 9) as [KnownCall];
    const run = calls.filter(({ stop, hour, minute }) => stop === 'S1' && hour === 9 && minute === first.minute);
    expectEqual({ lineId, stopIds: ['S1'], minute: 9 * 60 + first.minute }, run, 3);
    const night = calls.filter(({ hour }) => hour === 0);
    expectEqual({ lineId, hours: [0] }, night, 5);
  });

  it('calls during a gap in the feeds are counted neither as punctual nor as late', () => {
    const calls = known.filter(({ line }) => line === 'A');
    const all = week.runs.filter(({ line }) => line === 'A').length * 5;
    expect(calls.length).toBeLessThan(all);
    const noon = record.find({ ...QUERY, lineId: lineIdOf('A'), weekdays: [2], hours: [11] }, AFTER);
    expect(noon.total).toEqual({ runs: 0, calls: 0, cancelledCalls: 0, onTimeCalls: 0, median: null, p90: null });
  });

  it('a query for the last few days counts only these, and the recorded days are listed', () => {
    const found = record.find({ ...QUERY, lineId: lineIdOf('A'), days: 3 }, AFTER);
    expect(found.days).toEqual(['20261128', '20261129']);
    const all = record.find({ ...QUERY, lineId: lineIdOf('A') }, AFTER);
    expect(all.days).toHaveLength(7);
  });

  it('the usual lateness at a stop is that of the same minute on the same kind of day, or else that of the hour', () => {
    const stop = known.filter((call) => call.line === 'A' && call.stop === 'S1' && call.weekday < 5);
    const [one] = stop.filter(({ hour }) => hour === 9) as [KnownCall];
    const same = stop.filter(({ hour, minute }) => hour === 9 && minute === one.minute);
    const lookup = { lineId: lineIdOf('A'), mode: 'bus', route: 'A', stopId: 'S1' } as const;
    const at = (minute: number) => serviceDayStart(MONDAY + 8) + (9 * 60 + minute) * 60_000;
    expect(record.findUsual({ ...lookup, plannedAt: at(one.minute) }, AFTER)).toEqual({
      ...countKnown(same, RULE),
      basis: 'run',
    });
    const other = [0, 1, 2, 3, 4, 5].find((minute) => !stop.some((call) => call.hour === 9 && call.minute === minute));
    expect(record.findUsual({ ...lookup, plannedAt: at(other as number) }, AFTER)).toEqual({
      ...countKnown(
        stop.filter(({ hour }) => hour === 9),
        RULE,
      ),
      basis: 'hour',
    });
    expect(record.findUsual({ ...lookup, lineId: 'NO_LINE', plannedAt: at(0) }, AFTER)).toBeNull();
  });
});

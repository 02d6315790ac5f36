import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Int32Column } from '#src/core/columns.ts';
import { CANCELLED, packRuns, UNKNOWN, unpackRuns } from '#src/extensions/punctuality/day-runs.ts';
import type { FinishedRun } from '#src/extensions/punctuality/recorder.ts';
import { RunRecord } from '#src/extensions/punctuality/run-record.ts';
import { serviceDayStart, toDate, toDayNumber } from '#src/timetable/service-day.ts';
import { onTimeRuleOf } from '#src/transit/on-time-rule.ts';

const folder = mkdtempSync(join(tmpdir(), 'punctuality-'));
afterAll(() => rmSync(folder, { recursive: true }));

const TODAY = toDayNumber('20261126') as number;
const NOW = serviceDayStart(TODAY) + 12 * 3600 * 1000;
const QUERY = {
  lineId: 'BUS_A',
  rule: onTimeRuleOf({ mode: 'bus', route: 'A' }),
  days: 90,
  stopIds: null,
  weekdays: null,
  hours: null,
  minute: null,
};

const runOf = (day: number, identity: number, late: number[], minute = 480): FinishedRun => ({
  day,
  lineId: 'BUS_A',
  identity,
  stopIds: late.map((_, call) => `S${call}`),
  seconds: Int32Column.from(late, (_, call) => minute * 60 + call * 120),
  late: Int32Column.from(late),
});

describe('the file of recorded runs', () => {
  it('packed runs are the same when they are read again', () => {
    const runs = [
      {
        profile: 3,
        start: 90_000,
        identity: 4_000_000_000,
        late: new Int32Column([0, -130, UNKNOWN, 43_000, CANCELLED]),
      },
      { profile: 900_000, start: -60, identity: 0, late: new Int32Column([CANCELLED, CANCELLED]) },
    ];
    expect(unpackRuns(packRuns(runs))).toEqual([runs[1], runs[0]]);
  });

  it('parts of a run that were written at several times are one run, before and after they are joined', () => {
    const record = new RunRecord({ path: join(folder, 'parts.db') });
    const day = TODAY - 3;
    record.add([runOf(day, 7, [10, UNKNOWN, UNKNOWN])]);
    record.write(serviceDayStart(day) + 8 * 3600 * 1000);
    record.add([runOf(day, 7, [UNKNOWN, 20, CANCELLED]), runOf(day, 8, [5, 5, 5])]);
    record.write(serviceDayStart(day) + 9 * 3600 * 1000);
    const before = record.find(QUERY, NOW);
    expect(before.total).toMatchObject({ runs: 2, calls: 5, cancelledCalls: 1 });
    record.write(NOW);
    expect(record.find(QUERY, NOW)).toEqual(before);
    record.close(NOW);
  });

  it('days before the last 90 are forgotten', () => {
    const record = new RunRecord({ path: join(folder, 'days.db') });
    record.add([0, 89, 90].map((ago) => runOf(TODAY - ago, ago + 1, [1, 2, 3])));
    record.write(NOW);
    expect(record.find(QUERY, NOW).days).toEqual([toDate(TODAY - 89), toDate(TODAY)]);
    expect(record.state().since).toBe(serviceDayStart(TODAY - 90) + 480 * 60_000);
    record.close(NOW);
  });

  it('a file that would become too large loses its oldest days first', () => {
    const maxBytes = 80_000;
    const record = new RunRecord({ path: join(folder, 'size.db'), maxBytes });
    for (let ago = 30; ago >= 0; ago--) {
      const runs = Array.from({ length: 150 }, (_, at) =>
        runOf(
          TODAY - ago,
          at + 1,
          Array.from(
            { length: 30 },
            (_, call) => (Math.imul(at * 31 + call + 1, Math.imul(ago + 1, 2_654_435_761)) >>> 20) - 100,
          ),
          300 + at,
        ),
      );
      record.add(runs);
      record.write(NOW - ago * 24 * 3600 * 1000);
    }
    const { days } = record.find(QUERY, NOW);
    expect(record.state().bytes).toBeLessThanOrEqual(maxBytes);
    expect(days.length).toBeGreaterThan(2);
    expect(days.length).toBeLessThan(30);
    expect(days.at(-1)).toBe(toDate(TODAY));
    expect(days).toEqual(days.toSorted());
    record.close(NOW);
  });

  it('the record of runs stops, with a reason, while its file cannot be written', () => {
    const path = join(folder, 'missing', 'file.db');
    const record = new RunRecord({ path: join(folder, 'days.db', 'no-folder.db') });
    expect(record.state().problem).not.toBeNull();
    record.add([runOf(TODAY, 1, [1, 2])]);
    record.write(NOW);
    expect(record.state().problem).not.toBeNull();
    const other = new RunRecord({ path });
    expect(other.state().problem).toBeNull();
    other.close(NOW);
  });
});

/**
 * `npx node bench/punctuality.ts [DAYS]`; any machine, a minute. Writes made-up days of the state's size (63,000 runs, 2.1
 * million calls) to the record of past runs, in parts of ten minutes as the service does. Prints bytes and processor time of a
 * day, and the time that the figures of one line take. Lateness changes by up to 40 seconds from call to call.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Int32Column } from '#src/core/columns.ts';
import type { FinishedRun } from '#src/extensions/punctuality/recorder.ts';
import { RunRecord } from '#src/extensions/punctuality/run-record.ts';
import { calendarDayAt, serviceDayStart } from '#src/timetable/service-day.ts';
import { onTimeRuleOf } from '#src/transit/on-time-rule.ts';
import { describeMachine } from './machine.ts';

const LINES = 700;
const RUNS_OF_LINE = 90;
const CALLS = 33;
const PARTS = 144;
const MAX_STEP_SECONDS = 40;

const days = Number(process.argv[2] ?? 7);
const folder = mkdtempSync(join(tmpdir(), 'transit-punctuality-'));
const path = join(folder, 'punctuality.db');
const record = new RunRecord({ path });
const today = calendarDayAt(Date.now());
let seed = 1;
const random = () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

function makeRun(day: number, line: number, index: number): FinishedRun {
  const start = 5 * 3600 + Math.floor((index * 19 * 3600) / RUNS_OF_LINE);
  let seconds = start - 90;
  let late = Math.round(random() * 60);
  return {
    day,
    lineId: `BUS_${line}`,
    identity: line * RUNS_OF_LINE + index + 1,
    stopIds: Array.from({ length: CALLS }, (_, at) => String(200_000 + line * 100 + at)),
    // Times between stops differ between the peak and the rest of the day.
    seconds: Int32Column.from({ length: CALLS }, (_, at) => {
      seconds += 90 + ((at * 7 + Math.floor(index / 30) * 5) % 40);
      return seconds;
    }),
    late: Int32Column.from({ length: CALLS }, () => {
      late += Math.round((random() - 0.48) * 2 * MAX_STEP_SECONDS);
      return late;
    }),
  };
}

const sizes: number[] = [];
const times: number[] = [];
for (let day = today - days; day < today; day++) {
  const runs = Array.from({ length: LINES * RUNS_OF_LINE }, (_, index) =>
    makeRun(day, index % LINES, Math.floor(index / LINES)),
  );
  const before = process.cpuUsage();
  const size = Math.ceil(runs.length / PARTS);
  for (let part = 0; part < PARTS; part++) {
    record.add(runs.slice(part * size, (part + 1) * size));
    record.write(serviceDayStart(day) + (part + 1) * 600_000);
  }
  // The parts of a day are joined in the night after the next.
  for (let part = 0; part < 10; part++) record.write(serviceDayStart(day + 2) + part * 600_000);
  const { user, system } = process.cpuUsage(before);
  times.push((user + system) / 1e6);
  sizes.push(record.state().bytes);
}
const grown = (sizes.at(-1) ?? 0) - (sizes[0] ?? 0);
const began = process.cpuUsage();
const found = record.find(
  {
    lineId: 'BUS_1',
    rule: onTimeRuleOf({ mode: 'bus', route: '1' }),
    days: days + 1,
    stopIds: null,
    weekdays: null,
    hours: null,
    minute: null,
  },
  Date.now(),
);
const read = process.cpuUsage(began);
const problem = record.state().problem;
record.close(Date.now());
const bytes = statSync(path).size;
rmSync(folder, { recursive: true });
process.stdout.write(`${describeMachine()}
${LINES * RUNS_OF_LINE} runs and ${LINES * RUNS_OF_LINE * CALLS} calls a day, ${days} days${problem ? `; problem: ${problem}` : ''}
a further day: ${(grown / (days - 1) / 1e6).toFixed(2)} MB, so 90 days about ${((grown / (days - 1)) * 90e-6).toFixed(0)} MB; file now ${(bytes / 1e6).toFixed(1)} MB
processor time of a day: ${(times.reduce((sum, one) => sum + one, 0) / days).toFixed(1)} s, all days ${times.map((one) => one.toFixed(1)).join(' ')}
figures of one line over these days: ${((read.user + read.system) / 1000).toFixed(0)} ms, ${JSON.stringify(found).length} characters
`);

import { pino } from 'pino';
import { openLog } from '#src/core/log.ts';
import { createInstruments } from '#src/extensions/telemetry/instruments.ts';
import { describeMachine, print } from './machine.ts';

/*
 * Measures what recording a response costs, and what the buffer of `log.ts` gains, the only part that exists purely for speed.
 * The fastest of many short slices counts, because other load on the machine can only add time.
 * `node bench/micro-gains.ts`
 */
const SLICES = 500;
const TIMES = 2000;
const OPERATION = '/v1/departures';
const FILE = '/dev/null';

const { countResponse, requestSeconds, responseAge } = createInstruments();
const line = { reqId: 'a3f1c0de5a7b4c1d', method: 'GET', path: OPERATION, status: 200, durationMs: 1 };
const buffered = openLog('info', { file: FILE });
const direct = pino({ level: 'info' }, pino.destination({ sync: true, dest: FILE }));

print(describeMachine());
print('\nnanoseconds, the fastest slice');
measure('counts of a response', () => {
  requestSeconds.observe(OPERATION, 0.0007);
  responseAge.observe(OPERATION, 5);
  countResponse({ operation: OPERATION, status: 200, plan: 'pro', source: 'cache' });
});
measure('a log line, many in one write', () => buffered.info(line, 'answered'));
measure('a log line, each in a write of its own', () => direct.info(line, 'answered'));
process.exit(0);

function measure(name: string, work: () => void): void {
  let least = Number.POSITIVE_INFINITY;
  for (let slice = 0; slice < SLICES; slice++) {
    const startedAt = performance.now();
    for (let time = 0; time < TIMES; time++) work();
    least = Math.min(least, performance.now() - startedAt);
  }
  print(`  ${name.padEnd(44)} ${((least / TIMES) * 1e6).toFixed(0).padStart(6)}`);
}

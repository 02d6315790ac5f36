import { pino } from 'pino';
import { Counter, Histogram } from 'prom-client';
import { openLog } from '#src/log.ts';
import { createInstruments } from '#src/telemetry/instruments.ts';
import { describeMachine, print } from './machine.ts';

/*
 * Measures what a hit gains by the two parts that are there for speed alone, `telemetry/fast-metrics.ts` and the buffer of
 * `log.ts`: nanoseconds beside what would stand in their place. The fastest of many short slices counts, because
 * what else the machine does can only add to it.
 * `node bench/micro-gains.ts`
 */
const SLICES = 500;
const TIMES = 2000;
const OPERATION = '/v1/departures';
const FILE = '/dev/null';

const { requests, quotaDecisions, responses, requestSeconds, responseAge } = createInstruments();
const registers: [] = [];
const counter = (name: string, ...labelNames: string[]) => new Counter({ name, help: name, labelNames, registers });
const histogram = (name: string, buckets: readonly number[]) =>
  new Histogram({ name, help: name, labelNames: ['operation'], buckets: [...buckets], registers });
const usual = {
  requests: counter('requests', 'operation', 'status', 'plan'),
  quotaDecisions: counter('decisions', 'decision', 'plan'),
  responses: counter('responses', 'operation', 'source'),
  requestSeconds: histogram('seconds', requestSeconds.bounds),
  responseAge: histogram('age', responseAge.bounds),
};
const line = { reqId: 'a3f1c0de5a7b4c1d', method: 'GET', path: OPERATION, status: 200, durationMs: 1 };
const buffered = openLog('info', FILE);
const direct = pino({ level: 'info' }, pino.destination({ sync: true, dest: FILE }));

print(describeMachine());
print('\nnanoseconds, the least of all slices');
measure('counts of a response, fast-metrics.ts', () => {
  requestSeconds.observe(0.0007, [OPERATION]);
  responseAge.observe(5, [OPERATION]);
  requests.inc([OPERATION, 200, 'pro']);
  quotaDecisions.inc(['admitted', 'pro']);
  responses.inc([OPERATION, 'cache']);
});
measure('counts of a response, prom-client', () => {
  usual.requestSeconds.observe({ operation: OPERATION }, 0.0007);
  usual.responseAge.observe({ operation: OPERATION }, 5);
  usual.requests.inc({ operation: OPERATION, status: 200, plan: 'pro' });
  usual.quotaDecisions.inc({ decision: 'admitted', plan: 'pro' });
  usual.responses.inc({ operation: OPERATION, source: 'cache' });
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

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Runs in its own process, whose heap contains nothing else. */
const FLIGHTS = `
import { SingleFlight } from '#src/core/single-flight.ts';

const flights = new SingleFlight(() => {}, () => 0);
const fly = async (key) => {
  const work = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    return Array.from({ length: 1000 }, (_, index) => [key, index]);
  };
  await flights.join(String(key), null, work).result;
  if (key % 20 === 0) gc({ type: 'minor' });
};
gc();
const before = process.memoryUsage().heapUsed;
const underWay = [];
for (let key = 0; key < 200; key++) {
  underWay.push(fly(key));
  if (underWay.length === 5) await underWay.shift();
}
await Promise.all(underWay);
gc({ type: 'minor' });
gc({ type: 'minor' });
console.log((process.memoryUsage().heapUsed - before) / 1e6);
`;

it('results of overlapping flights are freed without a full garbage collection', async () => {
  const options = ['--expose-gc', '--input-type=module', '--eval', FLIGHTS];
  const { stdout } = await promisify(execFile)(process.execPath, options);
  expect(Number(stdout)).toBeLessThan(3);
  expect(stdout).toMatch(/\d/);
});

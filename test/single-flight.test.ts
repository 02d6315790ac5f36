import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { SingleFlight } from '#src/single-flight.ts';

it('the results of flights that overlap are freed without a full garbage collection', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: NodeJS.GCFunction = runInNewContext('gc');
  const flights = new SingleFlight<number[][], null>(
    () => {},
    () => 0,
  );
  const fly = async (key: number) => {
    const work = async () => {
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      return Array.from({ length: 1000 }, (_, index) => [key, index]);
    };
    await flights.join(String(key), null, work).result;
    if (key % 20 === 0) collectGarbage({ type: 'minor' });
  };
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const underWay: Promise<void>[] = [];
  for (let key = 0; key < 200; key++) {
    underWay.push(fly(key));
    if (underWay.length === 5) await underWay.shift();
  }
  await Promise.all(underWay);
  collectGarbage({ type: 'minor' });
  collectGarbage({ type: 'minor' });
  expect((process.memoryUsage().heapUsed - before) / 1e6).toBeLessThan(3);
});

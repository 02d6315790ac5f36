import { setTimeout as delay } from 'node:timers/promises';
import { PressureWatch } from '#src/http/pressure.ts';
import { createSimulatedClock } from './simulated-clock.ts';

/*
 * Allocates and frees memory while its watch measures a share of the limit, and prints the mean bytes of the process:
 * `node test/support/freed-memory.ts 0.8`.
 */
const LIMIT = 1000;
const ROUNDS = 150;
const OBJECTS = 20_000;
const clock = createSimulatedClock(0);
const limits = { eventLoopDelayMs: 0, heapBytes: 0, memoryBytes: LIMIT };
const watch = new PressureWatch(limits, { countBytes: () => Number(process.argv[2]) * LIMIT, clock });
await clock.advance(1000);

const objects: object[] = [];
let sum = 0;
for (let round = 0; round < ROUNDS; round++) {
  for (let index = 0; index < OBJECTS; index++) objects.push({ index, text: `object ${index}`, pair: [index, round] });
  if (objects.length > 20 * OBJECTS) objects.splice(0, 15 * OBJECTS);
  await delay(2);
  sum += process.memoryUsage.rss();
}
watch.close();
process.stdout.write(String(Math.round(sum / ROUNDS)));

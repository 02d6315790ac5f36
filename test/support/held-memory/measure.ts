import { setTimeout as delay } from 'node:timers/promises';
import { HELD_MEMORY_CASES } from './cases.ts';

/*
 * Prints, as JSON, what a table holds and what it counts: `node --expose-gc test/support/held-memory/measure.ts NAME`.
 * In a process of its own, so that nothing else is measured.
 */

async function heldBytes(): Promise<number> {
  // Memory outside the heap is given back after a collection, when the event loop has turned.
  for (let round = 0; round < 10; round++) {
    globalThis.gc?.();
    await delay(20);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const fill = HELD_MEMORY_CASES[process.argv[2] ?? ''];
if (!fill) throw new Error(`there is no table ${process.argv[2]}`);
const before = await heldBytes();
const { countedBytes, table } = await fill();
const held = (await heldBytes()) - before;
process.stdout.write(JSON.stringify({ held, counted: countedBytes }));
// Until here the table is in use.
if (!table) throw new Error('the table is gone');

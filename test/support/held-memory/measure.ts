import { setTimeout as delay } from 'node:timers/promises';
import { type FilledTable, HELD_MEMORY_CASES } from './cases.ts';

/*
 * Prints what each table holds and what it counts, or what bench/README.md says of it, a line of JSON each:
 * `node --expose-gc test/support/held-memory/measure.ts`. In a process of its own, so that nothing else is measured.
 */

async function heldBytes(): Promise<number> {
  // Memory outside the heap is given back after a collection, when the event loop has turned.
  for (let round = 0; round < 6; round++) {
    globalThis.gc?.();
    await delay(10);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A function of its own: what a loop has held last stays alive on its stack. */
async function measure(fill: () => Promise<FilledTable>): Promise<{ held: number; counted: number }> {
  const before = await heldBytes();
  const { countedBytes, table } = await fill();
  const held = (await heldBytes()) - before;
  // Until here the table is in use.
  if (!table) throw new Error('the table is gone');
  return { held, counted: countedBytes };
}

for (const [name, fill] of Object.entries(HELD_MEMORY_CASES)) {
  process.stdout.write(`${JSON.stringify({ name, ...(await measure(fill)) })}\n`);
}

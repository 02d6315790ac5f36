import { setTimeout as delay } from 'node:timers/promises';
import { type FilledTable, HELD_MEMORY_CASES } from './cases.ts';

/*
 * Prints for each table, as one line of JSON, the bytes that it holds, and the bytes that it counts or that docs/operations.md
 * states. It runs in its own process, so that nothing else is measured: `node --expose-gc test/support/held-memory/measure.ts`.
 */

async function heldBytes(): Promise<number> {
  // Memory outside the heap is freed after a collection and a turn of the event loop.
  for (let round = 0; round < 6; round++) {
    globalThis.gc?.();
    await delay(10);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A separate function, because the last value of a loop stays alive on the stack. */
async function measure(fill: () => Promise<FilledTable>): Promise<{ held: number; counted: number }> {
  const before = await heldBytes();
  const { countedBytes, table } = await fill();
  const held = (await heldBytes()) - before;
  // Keeps the table in use until here.
  if (!table) throw new Error('the table is gone');
  return { held, counted: countedBytes };
}

for (const [name, fill] of Object.entries(HELD_MEMORY_CASES)) {
  process.stdout.write(`${JSON.stringify({ name, ...(await measure(fill)) })}\n`);
}

import { loadBuiltIn } from '#src/stops/file.ts';
import { tableOf } from '#src/stops/table.ts';
import { describeMachine, print } from './machine.ts';

/*
 * The memory of the stop lists: before loading, the bundled list, and one with suburbs from the trip planner.
 * `node --expose-gc bench/stops-memory.ts`
 */
const MEGABYTE = 1024 * 1024;
const { gc } = globalThis;
if (!gc) throw new Error('start it with --expose-gc');

const measure = (what: string) => {
  gc();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  const figures = [heapUsed, arrayBuffers, heapUsed + arrayBuffers, rss];
  print([what.padEnd(28), ...figures.map((bytes) => (bytes / MEGABYTE).toFixed(1).padStart(10))].join(''));
};

print(describeMachine());
print('MB                                heap   buffers       both  resident');
measure('before');
const startedAt = performance.now();
const builtIn = loadBuiltIn();
const loadMs = performance.now() - startedAt;
measure(`${builtIn.size} stops`);
const named = tableOf([...builtIn].map((stop) => ({ ...stop, suburb: 'Sydney' })));
measure(`and ${named.size} with suburbs`);
print(`\nloaded in ${loadMs.toFixed(0)} ms, data of ${builtIn.source.dataDate}`);

import { readBuiltIn } from '#src/stops/file.ts';
import { StopRegister } from '#src/stops/register.ts';
import { describeMachine, print } from './machine.ts';

/*
 * The memory of the register of stops: before it is loaded, after, and when responses have named every stop in another way.
 * `node --expose-gc bench/stops-memory.ts`
 */
const MEGABYTE = 1024 * 1024;
const { gc } = globalThis;
if (!gc) throw new Error('start it with --expose-gc');

const register = new StopRegister(readBuiltIn);
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
const { size, dataDate } = register;
const loadMs = performance.now() - startedAt;
measure(`${size} stops`);
for (const stop of register) register.learn({ ...stop, suburb: 'Sydney' });
measure('and as many named as it keeps');
print(`\nloaded in ${loadMs.toFixed(0)} ms, data of ${dataDate}`);

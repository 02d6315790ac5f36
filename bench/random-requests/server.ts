import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startFront } from '#test/support/front.ts';

/*
 * The complete service with its pages in front of the sandbox, in its own process. Reports its port, and answers each message
 * with the processor time of the main thread so far and the longest delay of the event loop, in milliseconds.
 */
const front = await startFront();
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

process.on('message', () => {
  const { user, system } = process.threadCpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000, delayMs: delay.max / 1e6 });
  delay.reset();
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: Number(new URL(front.url).port) });

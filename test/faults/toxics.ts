import type { Toxic } from '#test/support/toxic.ts';

/** Faults between the service and another server. `isHarmless`: the response still arrives whole and in time. */
export const TOXICS: readonly { name: string; toxic: Toxic; isHarmless: boolean }[] = [
  { name: 'latency and jitter', toxic: { kind: 'latency', ms: 20, jitterMs: 50 }, isHarmless: true },
  { name: 'latency beyond the deadline', toxic: { kind: 'latency', ms: 2000, jitterMs: 0 }, isHarmless: false },
  { name: 'answers that never arrive', toxic: { kind: 'timeout' }, isHarmless: false },
  { name: 'resets', toxic: { kind: 'reset' }, isHarmless: false },
  { name: 'answers in slices', toxic: { kind: 'slicer', bytes: 2000, everyMs: 2 }, isHarmless: true },
  { name: 'answers in late slices', toxic: { kind: 'slicer', bytes: 100, everyMs: 300 }, isHarmless: false },
  { name: 'connections that close late', toxic: { kind: 'slow close', ms: 2000 }, isHarmless: true },
  { name: 'a narrow line', toxic: { kind: 'bandwidth', bytesPerSecond: 500 }, isHarmless: false },
  { name: 'truncated answers', toxic: { kind: 'truncate', bytes: 4 }, isHarmless: false },
];

/** How often each fault is tried with a fresh service; 100 covers the whole matrix. */
export const FAULT_RUNS = Number(process.env.FAULT_RUNS ?? 1);

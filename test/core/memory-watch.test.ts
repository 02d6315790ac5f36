import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { MemoryWatch } from '#src/core/memory-watch.ts';
import { createSimulatedClock } from '../support/simulated-clock.ts';

const OFF = { heapBytes: 0, memoryBytes: 0 };
const SAMPLE_EVERY_MS = 1000;
const clock = createSimulatedClock(0);

describe('a process whose memory runs short', () => {
  const LIMIT = 1000;
  /** The process's reaction to this many bytes of memory. */
  const watched: Record<number, { shares: number[]; exceeded: string | null }> = {};

  beforeAll(async () => {
    const watches = [800, 920, LIMIT + 1].map((bytes) => {
      const shares: number[] = [];
      const limits = { ...OFF, memoryBytes: LIMIT };
      const shrink = (keptShare: number) => void shares.push(keptShare);
      const watch = new MemoryWatch(limits, { countBytes: () => bytes, countGroupBytes: () => 0, shrink, clock });
      return { bytes, watch, shares };
    });
    await clock.advance(SAMPLE_EVERY_MS);
    for (const { bytes, watch, shares } of watches) {
      watch.close();
      watched[bytes] = { shares, exceeded: watch.exceeded() };
    }
  });

  it('a process short of memory shrinks its caches by half before it refuses requests', () => {
    expect(watched[920]).toEqual({ shares: [0.5], exceeded: null });
  });

  it('a process short of memory empties its caches when it refuses requests', () => {
    expect(watched[LIMIT + 1]).toEqual({ shares: [0], exceeded: `the process has ${LIMIT + 1} bytes` });
  });

  it('caches refill when the freed memory is not returned, and shrink again when the process grows', async () => {
    const shares: number[] = [];
    let bytes = 920;
    const limits = { ...OFF, memoryBytes: LIMIT };
    const shrink = (keptShare: number) => void shares.push(keptShare);
    const watch = new MemoryWatch(limits, { countBytes: () => bytes, countGroupBytes: () => 0, shrink, clock });
    await clock.advance(30 * SAMPLE_EVERY_MS);
    expect(shares).toEqual([0.5]);
    bytes = 955;
    await clock.advance(30 * SAMPLE_EVERY_MS);
    expect(shares).toEqual([0.5, 0.5]);
    watch.close();
  });

  it('a process beside which an import takes the rest of the memory shrinks its caches, but refuses nothing', async () => {
    const shares: number[] = [];
    const measures = { countBytes: () => 700, countGroupBytes: () => LIMIT + 50 };
    const shrink = (keptShare: number) => void shares.push(keptShare);
    const watch = new MemoryWatch({ ...OFF, memoryBytes: LIMIT }, { ...measures, shrink, clock });
    await clock.advance(SAMPLE_EVERY_MS);
    expect(shares).toEqual([0]);
    expect(watch.exceeded()).toBeNull();
    watch.close();
  });

  it('a process makes room for an import as soon as that has begun, but not for other processes that stay as they are', async () => {
    const MB = 2 ** 20;
    const sizes = [
      { own: 380, others: 60, later: 85, shares: [0] },
      { own: 330, others: 10, later: 35, shares: [0.5] },
      { own: 300, others: 10, later: 35, shares: [] },
      { own: 380, others: 60, later: 75, shares: [] },
    ];
    for (const { own, others, later, shares: expected } of sizes) {
      const shares: number[] = [];
      let groupBytes = (own + others) * MB;
      const measures = { countBytes: () => own * MB, countGroupBytes: () => groupBytes };
      const shrink = (keptShare: number) => void shares.push(keptShare);
      const watch = new MemoryWatch({ ...OFF, memoryBytes: 510 * MB }, { ...measures, shrink, clock });
      await clock.advance(SAMPLE_EVERY_MS);
      expect(shares).toEqual([]);
      groupBytes = (own + later) * MB;
      await clock.advance(SAMPLE_EVERY_MS);
      expect(shares).toEqual(expected);
      watch.close();
    }
  });

  const GROUPS = ['/sys/fs/cgroup/memory.stat', '/sys/fs/cgroup/memory/memory.stat'];
  it.runIf(GROUPS.some((path) => existsSync(path)))(
    'the memory of other processes in the control group counts towards the limit of the process',
    async () => {
      const shares: number[] = [];
      const shrink = (keptShare: number) => void shares.push(keptShare);
      const watch = new MemoryWatch({ ...OFF, memoryBytes: 1000 }, { countBytes: () => 1, shrink, clock });
      await clock.advance(SAMPLE_EVERY_MS);
      watch.close();
      expect(shares).toEqual([0]);
    },
  );

  it('a process with enough memory leaves its caches alone', () => {
    expect(watched[800]).toEqual({ shares: [], exceeded: null });
  });
});

it.runIf(process.platform === 'linux')(
  'the file cache of the operating system does not put a process over its memory limit',
  async () => {
    const watch = new MemoryWatch({ ...OFF, memoryBytes: process.memoryUsage.rss() - 8e6 }, { clock });
    await clock.advance(SAMPLE_EVERY_MS);
    expect(watch.exceeded()).toBeNull();
    watch.close();
  },
);

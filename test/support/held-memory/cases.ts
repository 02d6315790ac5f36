import { randomBytes } from 'node:crypto';
import { createStopTimelines } from '#src/live/boards/stop-timelines.ts';
import { toPage } from '#src/live/timeline/timeline.ts';

/** A table that is filled with the longest entries that callers or the authority can give it. */
interface HeldMemoryCase {
  /** Fills the table and returns what it counts; the table lives as long as the function that is returned with it. */
  fill(): Promise<{ countedBytes: () => number }>;
}

const NOW = Date.parse('2026-04-15T00:00:00Z');

/** Each is filled beyond nothing that evicts, so that all of it is held. */
export const HELD_MEMORY_CASES = {
  'packed timelines': {
    async fill() {
      const timelines = createStopTimelines(null, { maxOpenBytes: 1_000_000 });
      for (let stop = 0; stop < 1000; stop++) {
        const page = toPage({
          askedFor: null,
          modes: ['train'],
          retrievedAt: NOW,
          events: Array.from({ length: 40 }, (_, minute) => ({
            runId: randomBytes(8).toString('hex'),
            stopId: '2000336',
            mode: 'train',
            route: 'T4',
            network: 1,
            plannedAt: NOW + minute * 60_000,
            isCancelled: false,
            lastLiveAt: null,
            shown: { destination: 'Bondi Junction' },
          })),
          eventCount: 40,
          lastPlannedAt: NOW + 40 * 60_000,
        });
        await timelines.add(`stop ${stop}`, 'Stop', [page]);
      }
      return { countedBytes: () => timelines.size().bytes };
    },
  },
} as const satisfies Record<string, HeldMemoryCase>;

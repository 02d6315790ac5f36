import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EngineMessage } from '#src/journeys/engine-messages.ts';
import { openEngine } from '#src/journeys/engine-thread.ts';
import { JourneyEngines } from '#src/journeys/engines.ts';
import { timetableReach } from '#src/journeys/reach.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { noTimetable } from '#src/timetable/update/keep-current.ts';
import { destinationOf } from '#src/transit/journey.ts';
import { MODES } from '#src/transit/mode.ts';
import { datesFrom, scheduleFile } from '#test/support/schedule-file.ts';
import { timetableOf } from '#test/support/timetable.ts';

/** 08:00 in Sydney on Thursday 26 November 2026. */
const EIGHT = Date.UTC(2026, 10, 25, 21);
const minutesAfterEight = (moment: number) => (moment - EIGHT) / 60_000;

/** A bus from stop 1 at 08:10 to stop 2. Stops before them in the file give them other numbers. */
function timetableWith(stopsBefore: readonly string[], arrival: string): Timetable {
  return timetableOf(
    scheduleFile('buses', {
      stops: [...stopsBefore, '1', '2'].map((id) => ({ id, lat: -33 - Number(id) / 10, lng: 150 })),
      trips: [
        {
          id: 'only',
          days: datesFrom('20261125', '20261127'),
          calls: [
            ['1', '08:10'],
            ['2', arrival],
          ],
        },
        ...stopsBefore.map((id) => ({
          id: `other-${id}`,
          days: datesFrom('20261125', '20261127'),
          calls: [[id, '09:10'] as [string, string], ['1', '09:40'] as [string, string]],
        })),
      ],
    }),
  );
}

const before = timetableWith([], '08:40');
const after = timetableWith(['7', '8', '9'], '08:30');
const sent = { from: '1', at: null, modes: MODES, isArrival: false, isAccessible: false } as const;

/** A search thread in this one. It is ready when the test says so. */
class Thread extends EventEmitter {
  #packed = before.packed;
  postMessage(message: EngineMessage): void {
    if (message.kind === 'timetable') this.#packed = message.packed;
    if (message.kind === 'warm') void threadsReady.then(() => this.emit('message', 'ready'));
    if (message.kind !== 'search') return;
    const { id, name, query } = message;
    setImmediate(() => this.emit('message', { id, found: openEngine(this.#packed).search(name, query) }));
  }
  unref(): void {}
  async terminate(): Promise<void> {}
}

let current: Timetable;
let engines: JourneyEngines;
/** What a search waits for before it takes its turn. */
let feedsRead: Promise<void>;
let threadsReady: Promise<void>;
let waitsForFeeds: number;

beforeEach(() => {
  current = before;
  feedsRead = Promise.resolve();
  threadsReady = Promise.resolve();
  waitsForFeeds = 0;
});
afterEach(() => engines.close());

/** Opens engines of a process with this many MiB, and the first timetable. */
function openBefore(mebibytes: number) {
  engines = new JourneyEngines({
    log: { warn() {}, error() {} },
    now: () => EIGHT,
    startThread: () => new Thread() as never,
    memoryLimit: mebibytes * 2 ** 20,
  });
  engines.use(before);
  return engines.get(before);
}

function replace(): void {
  current = after;
  engines.use(after);
}

function openSources() {
  const options = {
    timetable: { ...noTimetable, get: () => current },
    engines,
    feeds: {
      request() {},
      untilRead() {
        waitsForFeeds++;
        return feedsRead;
      },
      list: () => [],
      freshUntil: () => EIGHT + 20_000,
    },
    now: () => EIGHT,
  };
  const [journeys, reach] = [timetableJourneys(options), timetableReach(options)];
  return {
    /** When the first journey arrives, in minutes after eight. */
    async plan() {
      const { journeys: found } = await journeys.fetch({ ...sent, to: '2', cancelled: 'exclude' });
      return found.map((journey) => minutesAfterEight(destinationOf(journey).plannedAt));
    },
    async listReached() {
      const { stations } = await reach.search({ ...sent, minutes: 60, limit: 10, isArea: false });
      return stations.map(({ stopId, arrivesAt }) => [stopId, minutesAfterEight(arrivesAt)]);
    },
    async time() {
      const { destinations } = await reach.times({ ...sent, to: ['2'] });
      return destinations.map(({ journey }) => journey && minutesAfterEight(destinationOf(journey).plannedAt));
    },
  };
}

function searchAll({ plan, listReached, time }: ReturnType<typeof openSources>) {
  return Promise.all([plan(), listReached(), time()]);
}
const FOUND_BEFORE = [[40], [['2', 40]], [40]];
const FOUND_AFTER = [[30], [['2', 30]], [30]];

describe.each([
  ['with memory for both, the one of their request', 1024, FOUND_BEFORE],
  ['with little memory, the new one', 512, FOUND_AFTER],
])('searches under way while the timetable is replaced are done with a timetable: %s', (_, mebibytes, expected) => {
  it('even if they wait for a thread', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    threadsReady = promise;
    const search = vi.spyOn(openBefore(mebibytes), 'search');
    const sources = openSources();
    const found = searchAll(sources);
    await vi.waitUntil(() => search.mock.calls.length === 3);
    replace();
    resolve();
    expect(await found).toEqual(expected);
    expect(await searchAll(sources)).toEqual(FOUND_AFTER);
  });

  it('even if they wait for feeds', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    feedsRead = promise;
    openBefore(mebibytes);
    const sources = openSources();
    const found = searchAll(sources);
    expect(waitsForFeeds).toBe(3);
    replace();
    resolve();
    expect(await found).toEqual(expected);
    expect(await searchAll(sources)).toEqual(FOUND_AFTER);
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { LiveFeeds } from '#src/realtime/live-feeds.ts';
import type { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { createFeedSharing } from '#src/realtime/polling/feed-sharing.ts';
import { toDayNumber } from '#src/timetable/service-day.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import type { ScheduleSource } from '#src/timetable/update/download.ts';
import { followUpdates } from '#src/timetable/update/keep-current.ts';
import { updateTimetable } from '#src/timetable/update/update.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { smallSchedule } from '#test/support/schedule-server.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { encodeFeed } from './feed-bytes.ts';
import { createReader } from './reader.ts';

/** 11:00 in Sydney. Trip T11 of each timetable leaves then. */
const START = '2026-11-24T00:00:00Z';
const DAY = toDayNumber('20261124') as number;
const root = mkdtempSync(join(tmpdir(), 'replaced-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A schedule of Manly ferries with this many trips a day. */
const sourceOf = (trips: number): ScheduleSource => ({
  async fetch(path, file, known) {
    if (!path.endsWith('/MFF') || known === String(trips)) return null;
    await writeFile(file, smallSchedule({ trips }));
    return { lastModified: String(trips) };
  },
});

/** A service with feeds, whose timetable has twelve trips and then twenty. `hold` keeps the reader from predicting. */
async function startService() {
  const clock = createSimulatedClock(START);
  const log = createTestLog();
  const options = {
    folder: mkdtempSync(join(root, 'f')),
    wanted: ['MFF'],
    isBundleLast: true,
    clock,
    log,
    mode: 'on',
  } as const;
  const update = (trips: number, now: () => number) =>
    updateTimetable({ ...options, source: sourceOf(trips), hasTimetable: true, now });
  await update(12, clock.now);
  const current = await followUpdates({ ...options, source: sourceOf(12) });
  const reader = createReader(current.get());
  const held = { until: Promise.resolve() };
  const feeds = new LiveFeeds({
    client: {
      async fetch() {
        const stops = [{ stopId: '2000', departure: { delay: 300 } }];
        return encodeFeed({
          timestamp: clock.now() / 1000 - 3,
          trips: [{ tripId: 'T11', startDate: '20261124', stops }],
        });
      },
    },
    reader: { ...reader, open: (id, packed) => held.until.then(() => reader.open(id, packed)) },
    sharing: createFeedSharing(null, clock.now),
    timetable: current.get,
    clock,
    log,
  });
  current.beforeChange((newest) => feeds.prepare(newest));
  feeds.request(['MFF']);
  await clock.advance(1000);
  return {
    clock,
    current,
    feeds,
    held,
    /** Another process imports the second timetable, which this one finds within a minute. */
    async replace(): Promise<void> {
      await update(20, () => clock.now() + 5000);
      await clock.advance(61_000);
    },
    async close() {
      await current.close();
      await feeds.close();
    },
  };
}

/** How late T11 is, in minutes; null if it is not live. */
function latenessOf(live: LiveTimetable | null): number | null {
  const [trip] = live?.timetable.listTripsBetween('T11') ?? [];
  const [call] = live && trip !== undefined ? live.run(trip, DAY).calls : [];
  return call?.isLive ? (call.departsAt - call.plannedDepartsAt) / 60_000 : null;
}

describe('while a timetable is replaced', () => {
  it('requests with the new timetable have live times from the first, and those with the old one keep theirs', async () => {
    const service = await startService();
    const { current, feeds } = service;
    const before = feeds.snapshot();
    expect([before?.timetable.tripCount, latenessOf(before)]).toEqual([12, 5]);
    const first: (LiveTimetable | null)[] = [];
    current.onChange(() => first.push(feeds.snapshot()));
    await service.replace();
    await vi.waitUntil(() => first.length > 0, 60_000);
    expect([first[0]?.timetable.tripCount, latenessOf(first[0] ?? null)]).toEqual([20, 5]);
    expect([before?.timetable.tripCount, latenessOf(before)]).toEqual([12, 5]);
    await service.close();
  });

  it('requests keep the old timetable and its live times until all feeds are predicted by the new one', async () => {
    const service = await startService();
    const { current, feeds, held } = service;
    const hold = Promise.withResolvers<void>();
    held.until = hold.promise;
    let isPreparing = false;
    current.beforeChange(async () => {
      isPreparing = true;
    });
    let newest: Timetable | null = null;
    current.onChange((timetable) => {
      newest = timetable;
    });
    await service.replace();
    await vi.waitUntil(() => isPreparing, 60_000);
    expect([feeds.snapshot()?.timetable.tripCount, latenessOf(feeds.snapshot())]).toEqual([12, 5]);
    // The reader already predicts new publications by the new timetable.
    feeds.request(['MFF']);
    await service.clock.advance(9000);
    expect([feeds.snapshot()?.timetable.tripCount, latenessOf(feeds.snapshot())]).toEqual([12, 5]);
    hold.resolve();
    await vi.waitUntil(() => newest !== null, 60_000);
    expect([feeds.snapshot()?.timetable.tripCount, latenessOf(feeds.snapshot())]).toEqual([20, 5]);
    await service.close();
  });
});

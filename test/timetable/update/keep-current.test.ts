import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DateTime } from 'luxon';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Timetable } from '#src/timetable/timetable.ts';
import { FailedDownload, type ScheduleSource } from '#src/timetable/update/download.ts';
import { acquireLease } from '#src/timetable/update/folder.ts';
import { type CurrentTimetable, followUpdates, nextNight } from '#src/timetable/update/keep-current.ts';
import { updateTimetable } from '#src/timetable/update/update.ts';
import { createTestLog } from '../../support/made-up-upstream.ts';
import { smallSchedule } from '../../support/schedule-server.ts';
import { createSimulatedClock } from '../../support/simulated-clock.ts';

const HOUR = 3_600_000;
/** 11:00 in Sydney. */
const START = '2026-11-24T00:00:00Z';
const root = mkdtempSync(join(tmpdir(), 'current-'));
const imported = join(root, 'imported');
let clock: ReturnType<typeof createSimulatedClock>;
let current: CurrentTimetable;
let count = 0;

/** An upstream with only the Manly ferries. `fetched` records the time of each request for them. */
function madeUpSource() {
  const source: ScheduleSource & { trips: number; changedAt: string; isUnreachable: boolean; fetched: number[] } = {
    trips: 10,
    changedAt: '1',
    isUnreachable: false,
    fetched: [],
    async fetch(path, file, known) {
      if (!path.endsWith('/MFF')) return null;
      source.fetched.push(clock.now());
      if (source.isUnreachable) throw new FailedDownload('unreachable', 'no response');
      if (known === source.changedAt) return null;
      await writeFile(file, smallSchedule({ trips: source.trips }));
      return { lastModified: source.changedAt };
    },
  };
  return source;
}

const optionsOf = (folder: string, source: ScheduleSource) =>
  ({
    folder,
    source,
    wanted: ['MFF', 'metro'],
    isBundleLast: true,
    clock,
    log: createTestLog(),
    mode: 'auto',
  }) as const;

async function start(source: ScheduleSource, folder = join(root, String(count++))) {
  current = await followUpdates(optionsOf(folder, source));
  return folder;
}

/** Runs the timers that are due, and waits for the update that they start. */
async function pass(ms: number): Promise<void> {
  await clock.advance(ms);
  await vi.waitUntil(() => !current.status().isUpdating, 60_000);
}

const tripsInUse = () => current.get()?.files.map(({ trips }) => trips) ?? null;

beforeAll(async () => {
  clock = createSimulatedClock(START);
  await updateTimetable({ ...optionsOf(imported, madeUpSource()), hasTimetable: false, now: clock.now });
});
afterEach(() => current.close());
afterAll(() => rmSync(root, { recursive: true }));

function copy(): string {
  const folder = join(root, String(count++));
  cpSync(imported, folder, { recursive: true });
  clock = createSimulatedClock(START);
  return folder;
}

describe('the timetable of a running service', () => {
  it('the timetable is imported on first start, and listeners are notified', async () => {
    clock = createSimulatedClock(START);
    await start(madeUpSource());
    const told: Timetable[] = [];
    current.onChange((timetable) => told.push(timetable));
    expect(current.get()).toBeNull();
    expect(current.status()).toMatchObject({ importedAt: null, files: [] });
    await pass(0);
    expect(tripsInUse()).toEqual([10]);
    expect(told).toEqual([current.get()]);
    expect(current.status()).toMatchObject({
      mode: 'auto',
      importedAt: Date.parse(START),
      files: expect.arrayContaining([expect.objectContaining({ id: 'MFF', problem: null })]),
    });
  });

  it('the estimated seconds until the first timetable follow from the number of files already imported', async () => {
    clock = createSimulatedClock(START);
    const source = madeUpSource();
    const left: unknown[] = [];
    const slow: ScheduleSource = {
      async fetch(path, file, known) {
        left.push(current.missing());
        await clock.advance(20_000);
        return source.fetch(path, file, known);
      },
    };
    await start(slow);
    expect(current.missing()).toEqual({ reason: 'loading', seconds: 120 });
    let isTried = false;
    const tried = current.whenTried().then(() => {
      isTried = true;
    });
    await clock.advance(0);
    await vi.waitUntil(() => left.length > 0, 60_000);
    expect(isTried).toBe(false);
    await tried;
    expect(left).toEqual([
      { reason: 'loading', seconds: 120 },
      { reason: 'loading', seconds: 60 },
    ]);
    expect(tripsInUse()).toEqual([10]);
  });

  it('after a failed first update, the reported seconds are those until the next attempt', async () => {
    clock = createSimulatedClock(START);
    const source = madeUpSource();
    source.isUnreachable = true;
    await start(source);
    await pass(0);
    await current.whenTried();
    expect(current.missing()).toEqual({ reason: 'failed', seconds: 3 * 3600 });
    await clock.advance(HOUR);
    expect(current.missing()).toEqual({ reason: 'failed', seconds: 2 * 3600 });
  });

  it('while another process makes the first timetable, this one waits for it and makes none', async () => {
    clock = createSimulatedClock(START);
    const folder = join(root, String(count++));
    const lease = await acquireLease(folder);
    const source = madeUpSource();
    await start(source, folder);
    await pass(0);
    expect(current.missing()).toEqual({ reason: 'loading', seconds: 60 });
    cpSync(imported, folder, { recursive: true });
    await lease?.release();
    await pass(60_000);
    await vi.waitUntil(() => tripsInUse() !== null, 60_000);
    expect(source.fetched).toEqual([]);
  });

  it('a timetable imported earlier is available at once, without a new request to upstream', async () => {
    const source = madeUpSource();
    await start(source, copy());
    expect(tripsInUse()).toEqual([10]);
    await pass(0);
    expect(source.fetched).toEqual([]);
  });

  it('a timetable of another format version is rebuilt from the stored zips without a download', async () => {
    const folder = copy();
    for (const name of readdirSync(folder)) if (name.endsWith('.bin')) writeFileSync(join(folder, name), 'FORMAT 0');
    const source = madeUpSource();
    await start(source, folder);
    expect(current.get()).toBeNull();
    await pass(0);
    expect(tripsInUse()).toEqual([10]);
    expect(source.fetched).toEqual([]);
  });

  it('the timetable is replaced within a minute of an import by another process', async () => {
    const folder = await start(madeUpSource(), copy());
    await pass(0);
    const before = current.get();
    const source = Object.assign(madeUpSource(), { changedAt: '2', trips: 12 });
    await updateTimetable({ ...optionsOf(folder, source), hasTimetable: true, now: () => clock.now() + 5000 });
    await clock.advance(61_000);
    await vi.waitUntil(() => current.get() !== before, 60_000);
    expect(tripsInUse()).toEqual([12]);
  });

  it('the timetable is updated once a night', async () => {
    const source = madeUpSource();
    await start(source, copy());
    for (let hour = 0; hour < 72; hour++) await pass(HOUR);
    expect(source.fetched).toHaveLength(3);
    for (const moment of source.fetched) {
      const local = DateTime.fromMillis(moment, { zone: 'Australia/Sydney' });
      // Time advances in steps of an hour.
      expect([2, 3, 4, 5]).toContain(local.hour);
    }
  });

  it('the nightly update is skipped when another instance with the same folder has just done it', async () => {
    const source = madeUpSource();
    const folder = await start(source, copy());
    await pass(0);
    const night = nextNight(clock.now(), folder);
    await updateTimetable({ ...optionsOf(folder, source), hasTimetable: true, now: () => night - HOUR });
    source.fetched = [];
    await pass(night + HOUR - clock.now());
    expect(source.fetched).toEqual([]);
  });

  it('the timetable stays in use when upstream fails, and the update is retried hours later', async () => {
    const source = madeUpSource();
    source.isUnreachable = true;
    const folder = await start(source, copy());
    await pass(0);
    await pass(nextNight(clock.now(), folder) - clock.now());
    expect([source.fetched.length, tripsInUse()]).toEqual([1, [10]]);
    await pass(3 * HOUR);
    expect(source.fetched).toHaveLength(2);
  });

  it('an update stops after two files for which no calls were left', async () => {
    const requested: string[] = [];
    const source: ScheduleSource = {
      async fetch(path) {
        requested.push(path);
        throw new FailedDownload('no-calls', 'the quota is used up');
      },
    };
    const wanted = ['MFF', 'metro', 'innerwest', 'buses'] as const;
    current = await followUpdates(optionsOf(join(root, 'unused'), source));
    const options = { ...optionsOf(copy(), source), wanted, hasTimetable: true, now: clock.now };
    const outcomes = await updateTimetable(options);
    expect(requested).toHaveLength(2);
    expect(outcomes?.map(({ failure }) => failure)).toEqual(Array(4).fill('no-calls'));
  });

  it('a service can close during an import', async () => {
    clock = createSimulatedClock(START);
    const folder = await start(madeUpSource());
    await clock.advance(0);
    await current.close();
    expect(current.status().isUpdating).toBe(false);
    expect(readdirSync(folder)).not.toContain('update.lease');
  });
});

it('the nightly update starts between 02:00 and 05:00 in Sydney, at a minute that differs between machines', () => {
  for (const now of [START, '2026-10-03T14:00:00Z', '2027-04-03T14:00:00Z'].map((at) => Date.parse(at))) {
    const moments = Array.from({ length: 40 }, (_, machine) => nextNight(now, '/data', `machine ${machine}`));
    const hours = moments.map((at) => DateTime.fromMillis(at, { zone: 'Australia/Sydney' }).hour);
    expect(hours.every((hour) => hour >= 2 && hour < 5)).toBe(true);
    expect(moments.every((at) => at > now && at < now + 26 * HOUR)).toBe(true);
    expect(new Set(moments).size).toBeGreaterThan(20);
  }
});

import { afterEach, beforeEach, expect, it } from 'vitest';
import { BACKGROUND } from '#src/core/turn-queue.ts';
import { JourneyEngine } from '#src/journeys/engine.ts';
import { type EngineQuery, TOOK_TOO_LONG } from '#src/journeys/engine-messages.ts';
import { openEngine } from '#src/journeys/engine-thread.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { scheduleFile } from '#test/support/schedule-file.ts';
import { snapshotOf } from '#test/support/snapshots.ts';
import { ONE_BUS, timetableOf } from '#test/support/timetable.ts';

/** 08:00 in Sydney on Thursday 26 November 2026. */
const EIGHT = Date.UTC(2026, 10, 25, 21);
const log = { warn() {}, error() {} };
let engine: JourneyEngine;
/** The timetable with the newest snapshots. */
let live: LiveTimetable;
beforeEach(() => {
  live = new LiveTimetable(timetable);
  engine = new JourneyEngine(timetable, { log, now: () => EIGHT, snapshotFor: () => live });
});
afterEach(() => engine.close());

const timetable = timetableOf(ONE_BUS);
const end = (id: string) => ({
  stops: [{ stop: timetable.findStop(id) as number, seconds: 0 }],
  withAround: false,
});
const anyRide = { at: EIGHT, now: EIGHT, modes: 127, isWheelchair: false, maxRides: 3, limit: 1 };
const query: EngineQuery = {
  ...anyRide,
  from: end('1'),
  to: end('2'),
  isArrival: false,
  walkSeconds: null,
  avoidedStops: [],
};

/** A busy machine may take longer than a search may wait to start a thread. */
async function planWhenReady() {
  await expect.poll(() => engine.search('plan', query).catch(() => null)).not.toBeNull();
  return (await engine.search('plan', query)).found;
}

it('the journey engine plans in its threads', async () => {
  expect(await planWhenReady()).toMatchObject([{ departsAt: EIGHT + 600_000, arrivesAt: EIGHT + 2_400_000 }]);
});

it('the threads of another engine plan with the new timetable, as new threads would', async () => {
  await planWhenReady();
  const stops = ['0', '1', '2'].map((id) => ({ id, lat: -33 - Number(id) / 10, lng: 150 }));
  const calls = [['0', '07:00'] as const, ['1', '08:10'] as const, ['2', '08:20'] as const];
  const later = timetableOf(scheduleFile('buses', { stops, trips: [{ id: 'only', days: ['20261126'], calls }] }));
  const threads = engine.release('the test');
  engine = new JourneyEngine(later, { log, now: () => EIGHT }, threads);
  const ends = ['1', '2'].map((id) => ({ ...end(id), stops: [{ stop: later.findStop(id) as number, seconds: 0 }] }));
  const { found } = await engine.search('plan', {
    ...query,
    from: ends[0] as typeof query.from,
    to: ends[1] as typeof query.to,
  });
  expect(found).toMatchObject([{ departsAt: EIGHT + 600_000, arrivesAt: EIGHT + 1_200_000 }]);
  await engine.prepared;
});

it('the journey engine answers 503 when its thread dies', async () => {
  // A thread that cannot read its timetable exits.
  const failing = new JourneyEngine({ packed: new SharedArrayBuffer(8) } as Timetable, { log, now: () => EIGHT });
  await expect(failing.search('plan', query)).rejects.toMatchObject({ statusCode: 503 });
  await failing.close();
});

it('searches of today that wait are answered before one that has to look at three days', async () => {
  await engine.close();
  const stops = ['0', '1', '2'].map((id) => ({ id, lat: -33 - Number(id) / 10, lng: 150 }));
  const trip = (id: string, day: string) => ({
    id,
    days: [day],
    calls: [['1', '08:10'] as const, ['2', '08:40'] as const],
  });
  const coach = { ...trip('coach', '20261128'), calls: [['0', '08:10'] as const, ['2', '08:40'] as const] };
  const ofThreeDays = timetableOf(scheduleFile('buses', { stops, trips: [trip('bus', '20261126'), coach] }));
  // One thread, as with little memory.
  engine = new JourneyEngine(ofThreeDays, { log, now: () => EIGHT, memoryLimit: 512 * 2 ** 20 });
  await engine.prepared;
  const endOf = (id: string) => ({ ...end('1'), stops: [{ stop: ofThreeDays.findStop(id) as number, seconds: 0 }] });
  /** Null if the machine is too busy. */
  const searchAll = async () => {
    const found: [string, number | undefined][] = [];
    const search = async (name: string, from: string) => {
      const searched = await engine.search('plan', { ...query, from: endOf(from), to: endOf('2') });
      found.push([name, searched.found[0]?.departsAt]);
    };
    const all = await Promise.all([search('far', '0'), search('near', '1'), search('near', '1')]).catch(() => null);
    return all && found;
  };
  let found: Awaited<ReturnType<typeof searchAll>> = null;
  await expect.poll(async () => (found ??= await searchAll())).not.toBeNull();
  const today = EIGHT + 600_000;
  expect(found).toEqual([
    ['near', today],
    ['near', today],
    ['far', today + 2 * 86_400_000],
  ]);
});

it('a search ends by itself at its deadline', () => {
  const search = openEngine(timetable.packed).search;
  expect(() => search('plan', query, Date.now() - 1)).toThrow(TOOK_TOO_LONG);
  expect(search('plan', query)).toHaveLength(1);
});

it('journeys are the same after their day was freed', () => {
  const { search, closeOthers } = openEngine(timetable.packed);
  const found = search('plan', query);
  expect(found).toHaveLength(1);
  closeOthers(0);
  expect(search('plan', query)).toEqual(found);
});

it('riders change to a bus that leaves from a platform today that no planned bus uses', () => {
  const station = { id: 'S', isStation: true, lat: -33.2, lng: 150 };
  const trips = [
    { id: 'first', days: ['20261126'], calls: [['1', '08:10'] as const, ['S1', '08:20'] as const] },
    { id: 'second', days: ['20261126'], calls: [['S1', '08:30'] as const, ['2', '08:40'] as const] },
  ];
  const planned = timetableOf(
    scheduleFile('buses', {
      stops: [
        { id: '1', lat: -33.1, lng: 150 },
        { id: '2', lat: -33.3, lng: 150 },
        station,
        { ...station, id: 'S1', isStation: false, parentId: 'S' },
        { ...station, id: 'S2', isStation: false, parentId: 'S', lng: 150.0003 },
      ],
      trips,
    }),
  );
  const { search, use } = openEngine(planned.packed);
  const end = (id: string) => ({ stops: [{ stop: planned.findStop(id) as number, seconds: 0 }], withAround: true });
  const moved = { tripId: 'second', startDate: '20261126', stops: [{ stopId: 'S1', assignedStopId: 'S2' }] };
  use([snapshotOf(planned, { timestamp: EIGHT / 1000, trips: [moved] })]);
  const [journey] = search('plan', { ...query, from: end('1'), to: end('2') });
  expect(journey?.rides).toHaveLength(2);
});

/** Publishes a feed in which the bus is this many minutes late. */
function publish(minutes: number): LiveTimetable {
  const time = { delay: minutes * 60 };
  const stops = ['1', '2'].map((stopId) => ({ stopId, arrival: time, departure: time }));
  const trips = [{ tripId: 'only', startDate: '20261126', stops }];
  live = new LiveTimetable(timetable, [snapshotOf(timetable, { timestamp: EIGHT / 1000 + minutes, trips })]);
  return live;
}

/** Searches by as many threads at once as are ready, with the minutes by which the bus is late and the snapshots used. */
function planInAll() {
  let begun = 0;
  const turn = { ...BACKGROUND, begin: () => void begun++ };
  const found = Promise.all(
    [1, 2].map(async () => {
      const searched = await engine.search('plan', query, turn);
      return { late: ((searched.found[0]?.arrivesAt ?? 0) - EIGHT) / 60_000 - 40, live: searched.live };
    }),
  );
  return { found, begun };
}

it('in both threads, searches that begin after a publication use it, and searches under way keep the previous one', async () => {
  await planWhenReady();
  await expect
    .poll(async () => {
      const { found, begun } = planInAll();
      await found;
      return begun;
    })
    .toBe(2);
  let before = live;
  for (const late of [1, 3, 2, 7]) {
    const earlier = planInAll();
    const published = publish(late);
    for (const { live: used } of await earlier.found) expect(used).toBe(before);
    const { found, begun } = planInAll();
    expect(begun).toBe(2);
    expect(await found).toEqual([1, 2].map(() => ({ late, live: published })));
    before = published;
  }
  // A feed that has vanished leaves the plan.
  live = new LiveTimetable(timetable);
  expect((await planInAll().found).map(({ late }) => late)).toEqual([0, 0]);
});

it('searches that wait for a thread use the snapshots that are current when they begin, and keep them until they end', async () => {
  await planWhenReady();
  const waiting = Array.from({ length: 8 }, (_, index) => {
    const begin = () => void publish(index + 1);
    return engine.search('plan', query, { ...BACKGROUND, accounts: new Set([String(index)]), begin });
  });
  const lateIn = ({ snapshots: [snapshot] }: LiveTimetable) =>
    snapshot ? ((snapshot.headerAt - EIGHT) / 1000) * 60_000 : 0;
  for (const { found, live: used } of await Promise.all(waiting)) {
    expect(found[0]?.arrivesAt).toBe(EIGHT + 2_400_000 + lateIn(used));
  }
});

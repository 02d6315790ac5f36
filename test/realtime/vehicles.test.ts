import { describe, expect, it } from 'vitest';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import type { FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { Vehicles } from '#src/realtime/vehicles.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { type FeedSpec, feedOf, type TripSpec } from './feed-bytes.ts';
import {
  at,
  departs,
  NOW,
  noData,
  predict,
  run,
  skipped,
  TRIP,
  timetable,
  trip,
  update,
} from './prediction/predicted.ts';

type Report = NonNullable<FeedSpec['vehicles']>[number];
const STOPPED_AT = 1;
const EVERYWHERE = { south: -90, west: -180, north: 90, east: 180 };

/** A vehicle on run R that has just reported. */
const vehicle = (more: Report = {}): Report => ({
  trip: { tripId: 'R' },
  vehicle: { id: 'bus' },
  position: { latitude: -33.5, longitude: 151 },
  timestamp: at(0) - 5,
  ...more,
});

/** The vehicle that reports this, with these trip updates; with null, the feed of trip updates is not in use. */
async function found(planned: Timetable, trips: TripSpec[] | null, report: Report = vehicle(), now = NOW) {
  const snapshots = trips ? [predict(planned, trips)] : [];
  const positions = feedOf({ timestamp: now / 1000, vehicles: [report] });
  const vehicles = new Vehicles({
    now: () => now,
    feeds: {
      snapshot: () => new LiveTimetable(planned, snapshots),
      freshUntil: () => now,
      fetchVehicles: async (sources: readonly FeedSourceId[], criteria) =>
        sources.map((source) => ({ source, vehicles: positions.listVehicles(criteria), headerAt: now })),
    },
  });
  const result = await vehicles.fetch(['bus'], { bounds: EVERYWHERE, isAt: () => true });
  return result.vehicles[0];
}

/** The next call of that vehicle, as "B 15": the stop, and its live arrival in minutes after `NOW`. */
async function nextCall(...given: Parameters<typeof found>): Promise<string | null> {
  const next = (await found(...given))?.findNextCall() ?? null;
  if (!next) return null;
  return `${next.stopId} ${next.arrivesAt === null ? 'unknown' : (next.arrivesAt - NOW) / 60_000}`;
}

describe('the next call of a vehicle', () => {
  const planned = timetable([run('R', [-5, 10, ['C', 20, 22], 30])]);

  it('the next call of a vehicle is the first call that is ahead by its live arrival, also where the plan says otherwise', async () => {
    const late = [update('A', { time: 2 }), update('B', { time: 17 })];
    expect(await nextCall(planned, [trip('R', late)])).toBe('A 2');
    const early = [update('C', { time: 1, delay: -1200 })];
    expect(await nextCall(planned, [trip('R', early)])).toBe('C 1');
    const passed = [update('B', { time: -1, delay: -660 }), update('C', { time: 9, delay: -660 })];
    expect(await nextCall(planned, [trip('R', passed)])).toBe('C 9');
  });
  it('the next call of a vehicle is no skipped call', async () => {
    expect(await nextCall(planned, [trip('R', [skipped('B'), update('C', { time: 20 })])])).toBe('C 20');
  });
  it('the next call of a vehicle is by the timetable, without a time, where the feed has no data', async () => {
    expect(await nextCall(planned, [trip('R', [noData('B'), noData('C')])])).toBe('B unknown');
  });
  it('the next call of a standing vehicle is the one at the stop that it reports, until it departs', async () => {
    const stands = vehicle({ currentStatus: STOPPED_AT, stopId: 'C', timestamp: at(21) });
    const trips = [trip('R', [update('B', { delay: 0 }), departs('C', { delay: 0 }), update('D', { delay: 0 })])];
    expect(await nextCall(planned, trips, stands, NOW + 21 * 60_000)).toBe('C 20');
    expect(await nextCall(planned, trips, vehicle({ stopId: 'C', timestamp: at(21) }), NOW + 21 * 60_000)).toBe('D 30');
    expect(await nextCall(planned, trips, stands, NOW + 24 * 60_000)).toBe('D 30');
  });
  it('the next call of a vehicle is the second call at a stop if the vehicle reports its sequence number', async () => {
    const loop = timetable([
      run('R', [
        ['A', -20],
        ['B', -10],
        ['A', -1],
        ['C', 10],
      ]),
    ]);
    const trips = [trip('R', [update('A', { delay: 0 }), update('C', { delay: 0 })])];
    const stands = vehicle({ currentStatus: STOPPED_AT, stopId: 'A', currentStopSequence: 3 });
    expect(await nextCall(loop, trips, stands)).toBe('A -1');
  });
  it('the next call of a standing vehicle is at the stop that it reports, even if its sequence number is that of another stop', async () => {
    const trips = [trip('R', [update('B', { delay: 0 }), update('C', { delay: 0 })])];
    const stands = vehicle({ currentStatus: STOPPED_AT, stopId: 'B', currentStopSequence: 3, timestamp: at(10) });
    expect(await nextCall(planned, trips, stands, NOW + 10.5 * 60_000)).toBe('B 10');
  });
  it('the next call of a standing vehicle is at the station that it reports, whatever the platform', async () => {
    const station = timetable([run('R', [-5, ['S1', 8], 30])]);
    const trips = [trip('R', [update('S1', { delay: 0 })])];
    const stands = vehicle({ currentStatus: STOPPED_AT, stopId: 'S2', timestamp: at(8) });
    expect(await nextCall(station, trips, stands, NOW + 8.5 * 60_000)).toBe('S1 8');
  });
  it('the next call of a vehicle is the platform to which the call has moved', async () => {
    const station = timetable([
      run('R', [
        ['A', -5],
        ['S1', 8],
        ['B', 30],
      ]),
    ]);
    expect(await nextCall(station, [trip('R', [update('S2', { time: 10, delay: 120 })])])).toBe('S2 10');
  });
  it('the next call of a vehicle is at the stop that it reports if no feed predicts its run', async () => {
    const report = vehicle({ stopId: 'C' });
    expect(await nextCall(planned, null, report)).toBe('C unknown');
    expect(await nextCall(planned, null)).toBeNull();
    expect(await nextCall(planned, [trip('R', [], { scheduleRelationship: TRIP.canceled })], report)).toBe('C unknown');
  });
});

describe('the run of a vehicle', () => {
  it('the run of a vehicle is the one whose live times are nearest to its report', async () => {
    const evening = timetable([run('R', [-7 * 60, -6.5 * 60])]);
    expect((await found(evening, null))?.start).toBeNull();
    const delayed = [
      update('A', { time: -10, delay: 7 * 3600 - 600 }),
      update('B', { time: 20, delay: 7 * 3600 - 600 }),
    ];
    expect(await found(evening, [trip('R', delayed)])).toMatchObject({ tripId: 'R', start: { stopId: 'A' } });
  });
  it('the run of a vehicle may be one that only the feed has', async () => {
    const planned = timetable([
      run('Q', [
        ['A', 100],
        ['B', 110],
      ]),
    ]);
    const stops = [departs('A', { time: -3 }), update('B', { time: 4 })];
    const added = trip('X', stops, { scheduleRelationship: TRIP.added, routeId: 'R' });
    const report = vehicle({ trip: { tripId: 'X' } });
    const one = await found(planned, [added], report);
    expect(one).toMatchObject({
      tripId: 'X',
      route: 'R',
      start: { runId: 'X', stopId: 'A', plannedAt: NOW - 180_000 },
    });
    expect(one?.findNextCall()).toEqual({ stopId: 'B', name: 'B', arrivesAt: NOW + 240_000 });
  });
  it('the run of a vehicle is unknown where neither timetable nor feed has it', async () => {
    const planned = timetable([
      run('Q', [
        ['A', 100],
        ['B', 110],
      ]),
    ]);
    const one = await found(
      planned,
      [],
      vehicle({ vehicle: { id: 'bus', label: '12:15 Here Station to There Station' } }),
    );
    expect(one).toMatchObject({ tripId: 'R', start: null, headsign: 'There', lineId: null });
  });
});

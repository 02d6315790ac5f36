import { afterEach, describe, expect, it } from 'vitest';
import { Runs } from '#src/boards/runs.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { buildTestApp, type TestApp } from '../../support/app.ts';
import { createInlineEngine } from '../../support/inline-engine.ts';
import { datesFrom, scheduleFile } from '../../support/schedule-file.ts';
import { snapshotOf } from '../../support/snapshots.ts';
import { currentOf, timetableOf } from '../../support/timetable.ts';

/** 08:00 in Sydney on Thursday 26 November 2026. */
const EIGHT = Date.UTC(2026, 10, 25, 21);
const MINUTE = 60_000;

/** Half a degree is about 50 km. */
const STOPS = ['A', 'B', 'C', 'D', 'E'].map((name, index) => ({
  id: String(index + 1),
  name,
  lat: -33 - index / 2,
  lng: 150,
}));
const bus = (id: string, ...calls: [string, string][]) => ({ id, days: datesFrom('20261126', '20261126'), calls });
const TRIPS = [
  bus('first', ['1', '08:10'], ['2', '08:40'], ['3', '09:10']),
  bus('second', ['3', '09:20'], ['4', '09:50']),
  bus('third', ['4', '10:10'], ['5', '10:40']),
  bus('second later', ['3', '10:20'], ['4', '10:50']),
  bus('third at once', ['4', '10:55'], ['5', '11:20']),
  bus('third later', ['4', '11:10'], ['5', '11:40']),
  bus('without D', ['3', '09:50'], ['5', '10:30']),
  bus('without D later', ['3', '10:05'], ['5', '10:45']),
  bus('third last', ['4', '12:10'], ['5', '12:40']),
];

let app: TestApp | null = null;
afterEach(() => app?.close());

interface Body {
  status: string;
  next_journeys: { journey_id: string; legs: { trip_id: string }[] }[] | null;
}

/** Plans a journey from A to E, and follows it by its identifier when these buses are late by so many minutes. */
async function followLate(via: string, late: Record<string, number>, at = EIGHT) {
  const timetable = timetableOf(
    scheduleFile('buses', { stops: STOPS, routes: [{ id: 'R', lineName: 'R A to E' }], trips: TRIPS }),
  );
  const clock = { now: EIGHT };
  const engine = createInlineEngine(timetable);
  let live = new LiveTimetable(timetable);
  const feeds = {
    request() {},
    untilRead: async () => {},
    list: () => [],
    freshUntil: () => clock.now + 20_000,
    snapshot: () => live,
  };
  const now = () => clock.now;
  const source = timetableJourneys({ timetable: currentOf(timetable), engines: engine, feeds, now });
  await app?.close();
  const made = await buildTestApp({
    now: () => new Date(clock.now),
    upstream: async () => ({ payload: { infos: [] }, retrievedAt: clock.now }) as never,
    journeys: { fetch: (requested, { turn }) => source.fetch(requested, turn) },
    runs: new Runs({ now, feeds, timetable: currentOf(timetable) }),
  });
  app = made;
  const namesOf = ({ legs }: { legs: { trip_id: string }[] }) => legs.map(({ trip_id }) => trip_id).join(', ');
  const follow = async (id: string) => (await made.inject(`/v1/trips/${id}`)).json() as Body;

  const listed = await made.inject(`/v1/trips?from=1&to=5&via=${via}&include=ids&path=none`);
  const [planned] = listed.json().journeys as NonNullable<Body['next_journeys']>;
  clock.now = at;
  const snapshot = snapshotOf(timetable, {
    timestamp: at / 1000,
    trips: TRIPS.map(({ id, calls }) => ({
      tripId: id,
      startDate: '20261126',
      stops: calls.map(([stopId]) => ({
        stopId,
        arrival: { delay: (late[id] ?? 0) * 60 },
        departure: { delay: (late[id] ?? 0) * 60 },
      })),
    })),
  });
  live = new LiveTimetable(timetable, [snapshot]);
  engine.take([snapshot]);
  const body = await follow(planned?.journey_id ?? '');
  const next = body.next_journeys ?? [];
  return { planned: planned && namesOf(planned), status: body.status, next: next.map(namesOf), nextOf: next, follow };
}

describe('the next journeys of one with via', () => {
  it('next journeys still go by the places ahead, with the stay there, and can be followed themselves', async () => {
    const { planned, status, next, nextOf, follow } = await followLate('4@15', { first: 20 });
    expect([planned, status]).toEqual(['first, second, third', 'missed']);
    expect(next.slice(0, 1)).toEqual(['second later, third later']);
    const further = await follow(nextOf[0]?.journey_id ?? '');
    expect([further.status, further.next_journeys]).toEqual(['possible', null]);
  });

  it('next journeys from a place of the list leave it after the stay, and do not go by it again', async () => {
    const { planned, next } = await followLate('3@10', { first: 45 });
    expect(planned).toBe('first, without D');
    expect(next[0]).toBe('without D later');
  });

  it('next journeys do not go back to a place that the rider has passed in the vehicle', async () => {
    const { planned, next } = await followLate('2,4@15', { first: 20 });
    expect(planned).toBe('first, second, third');
    expect(next[0]).toBe('second later, third later');
  });

  it('next journeys of a journey whose second change is missed go by no place that lies behind', async () => {
    const { planned, next } = await followLate('4@15', { second: 30 }, EIGHT + 90 * MINUTE);
    expect(planned).toBe('first, second, third');
    expect(next[0]).toBe('third at once');
  });
});

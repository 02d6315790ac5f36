import { expect, it } from 'vitest';
import { type FeedName, feedResponse } from '#sandbox/feeds/feed.ts';
import { Feed } from '#src/realtime/feed/feed.ts';
import { parseFeed } from '#src/realtime/feed/feed-reader.ts';
import { TRIP as ROW } from '#src/realtime/feed/packed-feed.ts';
import { FEED_NAMES, feedAt, network, STOP, TRIP, type TripUpdate } from './played-day.ts';

/** 08:31:55 in Sydney, a Wednesday. */
const NOW = Date.parse('2026-11-17T21:31:55Z') / 1000;
const CONTENT = NOW - (NOW % 60);

const tripsOf = (name: FeedName, now = NOW) =>
  feedAt(name, now).entity.flatMap(({ tripUpdate }) => tripUpdate ?? ([] as TripUpdate[]));
const updatesOf = (trips: TripUpdate[]) => trips.flatMap(({ stopTimeUpdate }) => stopTimeUpdate ?? []);
const shareOf = (trips: TripUpdate[], relationship: number) =>
  trips.filter(({ trip }) => trip.scheduleRelationship === relationship).length / trips.length;
const HOURS = Array.from({ length: 6 }, (_, i) => NOW + i * 2 * 3600);

it('the timestamp of a sandbox feed advances every 10 to 20 seconds, as in recordings', () => {
  const timestamps = FEED_NAMES.map((name) => [name, NOW - Number(feedAt(name, NOW).header.timestamp)]);
  expect(Object.fromEntries(timestamps)).toEqual({
    sydneytrains: 10,
    nswtrains: 5,
    metro: 5,
    innerwest: 5,
    cbdandsoutheast: 5,
    parramatta: 5,
    newcastle: 5,
    buses: 15,
    sydneyferries: 5,
    MFF: 5,
  });
});

it('our reader and the reference bindings read the same from each sandbox feed, plus the occupancy', () => {
  const occupancies = new Set<number | null>();
  const lengths = new Set<number | undefined>();
  for (const name of FEED_NAMES) {
    const feed = new Feed(parseFeed(feedResponse(network, name, NOW)));
    const trips = tripsOf(name);
    expect({ name, trips: feed.tripCount, unreadable: feed.unreadable }).toEqual({
      name,
      trips: trips.length,
      unreadable: 0,
    });
    const carriagesOf = new Map(feed.carriages());
    for (const [index, { trip, stopTimeUpdate }] of trips.entries()) {
      const row = index * ROW.words;
      const ours = feed.trip(row);
      const stops = (stopTimeUpdate ?? []).map(({ stopId, departure }) => [
        stopId,
        departure?.delay || 0,
        Number(departure?.time ?? 0),
      ]);
      expect([ours.tripId, ours.startDate ?? '']).toEqual([trip.tripId, trip.startDate]);
      expect(
        ours.stopUpdates.map(({ stopId, departure }) => [
          stopId,
          departure.delaySeconds ?? 0,
          (departure.at ?? 0) / 1000,
        ]),
      ).toEqual(stops);
      for (const [at, update] of ours.stopUpdates.entries()) {
        occupancies.add(update.occupancy);
        if (update.occupancy !== null) expect(name).toBe('sydneytrains');
        const carriages = carriagesOf.get(feed.updatesOf(row).first + at) ?? null;
        lengths.add(carriages?.length);
        expect(carriages === null).toBe(update.occupancy === null);
        expect(carriages?.every((one) => one !== null && Math.abs(one - (update.occupancy ?? 0)) <= 1) ?? true).toBe(
          true,
        );
      }
    }
  }
  expect([...occupancies].toSorted()).toEqual([1, 2, 3, null]);
  expect(lengths).toEqual(new Set([undefined, 4, 8]));
});

it('sandbox trains have no service day, and delays without times unless their calls are listed anew', () => {
  const trips = tripsOf('sydneytrains');
  expect(trips.filter(({ trip }) => trip.scheduleRelationship === TRIP.scheduled).length).toBeGreaterThan(100);
  for (const { trip, stopTimeUpdate } of trips) {
    expect([trip.startDate, trip.startTime]).toEqual(['', '']);
    if (trip.scheduleRelationship !== TRIP.scheduled) continue;
    for (const { departure } of stopTimeUpdate ?? []) expect(Number(departure?.time ?? 0)).toBe(0);
  }
});

it('sandbox trips of other modes have service day, sequence and times', () => {
  const trips = (['metro', 'buses', 'sydneyferries', 'newcastle'] as const).map((name) => tripsOf(name));
  expect(trips.every(({ length }) => length > 0)).toBe(true);
  for (const { trip, stopTimeUpdate } of trips.flat()) {
    expect(trip).toMatchObject({ startDate: '20261118', startTime: expect.stringMatching(/^\d\d:\d\d:00$/) });
    for (const { stopSequence, arrival, departure, scheduleRelationship } of stopTimeUpdate ?? []) {
      expect(stopSequence).toBeGreaterThan(0);
      if (scheduleRelationship !== STOP.skipped)
        expect(Number((departure ?? arrival)?.time)).toBeGreaterThan(CONTENT - 7200);
    }
  }
});

it('sandbox trips appear about an hour before they start, trains without stop updates up to 510 minutes before', () => {
  const minutesAhead = (trips: TripUpdate[]) =>
    trips.flatMap(({ stopTimeUpdate }) => {
      const first = stopTimeUpdate?.[0]?.departure;
      return first?.time ? [(Number(first.time) - (first.delay ?? 0) - CONTENT) / 60] : [];
    });
  for (const name of ['metro', 'buses', 'sydneyferries'] as const) {
    const furthest = Math.max(...minutesAhead(tripsOf(name)));
    expect(furthest).toBeGreaterThan(55);
    expect(furthest).toBeLessThanOrEqual(70);
  }
  const trains = tripsOf('sydneytrains', NOW + 43_200);
  expect(trains.filter(({ stopTimeUpdate }) => stopTimeUpdate?.length === 0).length).toBeGreaterThan(20);
});

it('sandbox buses and scheduled trains drop passed stops, ferries and trips listed anew keep them', () => {
  const isPassed = ({ departure, arrival }: { departure?: object | null; arrival?: object | null }) => {
    const { time } = (departure ?? arrival ?? {}) as { time?: number };
    return time !== undefined && Number(time) > 0 && Number(time) < CONTENT;
  };
  expect(updatesOf(tripsOf('buses')).filter(isPassed)).toEqual([]);
  expect(updatesOf(tripsOf('sydneyferries')).filter(isPassed).length).toBeGreaterThan(0);
  const [anew, others] = [true, false].map((is) =>
    updatesOf(tripsOf('sydneytrains').filter(({ trip }) => (trip.scheduleRelationship === TRIP.replacement) === is)),
  );
  expect(anew?.filter(isPassed).length).toBeGreaterThan(0);
  expect(others?.filter(isPassed)).toEqual([]);
});

it('sandbox feeds list as many trips anew, and as many bus stops without data, as recorded feeds', () => {
  // Recordings have 100 of 560 trains, 16 of 151 ferries, and 43 % of the stops.
  const trains = HOURS.flatMap((hour) => tripsOf('sydneytrains', hour));
  const ferries = HOURS.flatMap((hour) => tripsOf('sydneyferries', hour));
  const buses = updatesOf(HOURS.flatMap((hour) => tripsOf('buses', hour)));
  expect(shareOf(trains, TRIP.replacement)).toBeCloseTo(0.18, 1);
  expect(shareOf(ferries, TRIP.replacement)).toBeCloseTo(0.11, 1);
  const noData = buses.filter(({ scheduleRelationship }) => scheduleRelationship === STOP.noData).length;
  expect(noData / buses.length).toBeCloseTo(0.43, 1);
});

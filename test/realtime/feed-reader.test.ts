import fc from 'fast-check';
import bindings from 'gtfs-realtime-bindings';
import { describe, expect, it } from 'vitest';
import { Feed } from '#src/realtime/feed/feed.ts';
import { parseFeed } from '#src/realtime/feed/feed-reader.ts';
import {
  encodeFeed,
  entity,
  type FeedSpec,
  feedOf,
  field,
  loadsOf,
  read,
  type StopSpec,
  TIMESTAMP,
  type TripSpec,
  text,
  trip,
  tripsOf,
} from './feed-bytes.ts';

const { FeedMessage } = bindings.transit_realtime;
const timeSpec = fc.record(
  { delay: fc.integer({ min: -86_400, max: 86_400 }), time: fc.integer({ min: 1, max: 4_102_444_800 }) },
  { requiredKeys: [] },
);
const identifier = fc.stringMatching(/^[A-Za-z0-9.:-]{1,30}$/);
const stopSpec: fc.Arbitrary<StopSpec> = fc.record(
  {
    stopId: identifier,
    stopSequence: fc.nat(200),
    scheduleRelationship: fc.constantFrom(0, 1, 2, 3),
    arrival: timeSpec,
    departure: timeSpec,
    occupancy: fc.nat(6),
    assignedStopId: identifier,
    carriages: fc.uniqueArray(
      fc.record({ position: fc.integer({ min: 1, max: 30 }), occupancy: fc.nat(14) }, { requiredKeys: ['position'] }),
      { maxLength: 16, selector: ({ position }) => position },
    ),
  },
  { requiredKeys: [] },
);
const tripSpec: fc.Arbitrary<TripSpec> = fc.record(
  {
    tripId: identifier,
    startDate: fc.constantFrom('20260114', '20260405', '00010101'),
    startTime: fc.constantFrom('00:00:00', '14:27:00', '25:10:59'),
    routeId: identifier,
    scheduleRelationship: fc.constantFrom(0, 1, 2, 3, 5, 6, 7, 8),
    stops: fc.array(stopSpec, { maxLength: 6 }),
  },
  { requiredKeys: ['tripId'] },
);
const feedSpec: fc.Arbitrary<Required<Pick<FeedSpec, 'timestamp' | 'trips'>>> = fc.record({
  timestamp: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  trips: fc.uniqueArray(tripSpec, { maxLength: 8, selector: ({ tripId }) => tripId }),
});

describe('reading trip updates', () => {
  it('the feed reader returns what the reference bindings return for every generated feed', () => {
    fc.assert(
      fc.property(feedSpec, (spec) => {
        const bytes = encodeFeed(spec);
        const expected = FeedMessage.decode(bytes);
        const feed = new Feed(parseFeed(bytes));
        expect(feed.headerAt).toBe(Number(expected.header.timestamp) * 1000);
        expect(feed.tripCount).toBe(expected.entity.length);
        expect(feed.unreadable).toBe(0);
        expect(asBindings(feed)).toEqual(
          expected.entity.flatMap(({ tripUpdate }) => (tripUpdate ? expectedOf(tripUpdate) : [])),
        );
      }),
    );
  });

  it('the feed reader returns upstream’s occupancy in field 6 and skips the standard’s message there', () => {
    const stops = [{ stopId: 'A', occupancy: 3 }, { stopId: 'B', assignedStopId: 'C' }, { stopId: 'D' }];
    const [read] = tripsOf(feedOf({ timestamp: TIMESTAMP, trips: [{ tripId: 'one', stops }] }));
    expect(read?.stopUpdates.map(({ stopId, occupancy }) => [stopId, occupancy])).toEqual([
      ['A', 3],
      ['B', null],
      ['D', null],
    ]);
  });

  it('the feed reader returns the predicted occupancy of each carriage at each stop, for replaced trips too', () => {
    const train = (...occupancies: number[]) =>
      occupancies.map((occupancy, index) => ({ position: index + 1, occupancy }));
    const stops = [
      { stopId: 'A', carriages: train(1, 1, 2, 3) },
      { stopId: 'B' },
      { stopId: 'C', carriages: train(1, 1, 1, 1, 1, 1, 2, 2) },
    ];
    const trips = [
      { tripId: 'without', stops: [{ stopId: 'A' }] },
      { tripId: 'one', stops },
      { tripId: 'another', scheduleRelationship: 5, stops: [{ stopId: 'A', carriages: train(0, 5) }] },
    ];
    const feed = feedOf({ timestamp: TIMESTAMP, trips });
    expect(loadsOf(feed)).toEqual([null, [1, 1, 2, 3], null, [1, 1, 1, 1, 1, 1, 2, 2], [0, 5]]);
  });

  it('the feed reader returns identifiers of any characters as the reference bindings do, without blanks at both ends', () => {
    const blanks = fc.stringMatching(/^[ \t\r]{0,3}$/);
    const characters = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).filter((name) => !/[\n]/.test(name));
    // Few of them, so that many are equal.
    const names = fc.array(characters, { minLength: 1, maxLength: 5 });
    const uses = fc.array(fc.tuple(fc.nat(4), blanks, blanks), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(names, uses, (drawn, used) => {
        const stops = used.map(([name, before, after]) => ({
          stopId: `${before}${drawn[name % drawn.length]}${after}`,
        }));
        const bytes = encodeFeed({ timestamp: TIMESTAMP, trips: [{ tripId: 'one', stops }] });
        const decoded = FeedMessage.decode(bytes).entity[0]?.tripUpdate?.stopTimeUpdate ?? [];
        const expected = decoded.map(({ stopId }) => withoutBlanks(stopId ?? '') || null);
        const feed = new Feed(parseFeed(bytes));
        expect(tripsOf(feed)[0]?.stopUpdates.map(({ stopId }) => stopId)).toEqual(expected);
        expect(feed.textCount).toBe(new Set(['one', ...expected.filter((name) => name !== null)]).size);
      }),
    );
  });

  it('the feed reader keeps different texts apart, however many there are', () => {
    const ids = Array.from(
      { length: 30_000 },
      (_, index) => `${index % 7 === 0 ? 'a stop with a longer name ' : ''}${index}`,
    );
    const trips = Array.from({ length: 150 }, (_, trip) => ({
      tripId: `trip ${trip}`,
      stops: ids.slice(trip * 200, trip * 200 + 200).map((stopId) => ({ stopId })),
    }));
    const feed = feedOf({ timestamp: TIMESTAMP, trips: [...trips, { tripId: 'again', stops: trips[9]?.stops ?? [] }] });
    expect(tripsOf(feed).flatMap(({ stopUpdates }) => stopUpdates.map(({ stopId }) => stopId))).toEqual([
      ...ids,
      ...ids.slice(1800, 2000),
    ]);
    expect(feed.textCount).toBe(30_151);
  });

  it('the feed reader distinguishes a missing time from a zero delay, and defaults the relationship to SCHEDULED', () => {
    const stops = [
      { stopId: 'A', departure: { delay: 0 } },
      { stopId: 'B', arrival: {} },
    ];
    const [read] = tripsOf(feedOf({ timestamp: TIMESTAMP, trips: [{ tripId: 'one', stops }] }));
    expect(read).toMatchObject({ relationship: 'SCHEDULED', startDate: null, startTimeSeconds: null });
    expect(read?.stopUpdates[0]).toMatchObject({
      relationship: 'SCHEDULED',
      departure: { delaySeconds: 0, at: null },
      arrival: { delaySeconds: null, at: null },
    });
    expect(read?.stopUpdates[1]?.arrival).toEqual({ delaySeconds: null, at: null });
  });

  it('a trip update in two parts is joined, as by the reference bindings', () => {
    const stop = (id: string) => field(2, 2, field(4, 2, text(id)));
    const feed = read(field(2, 2, field(1, 2, text('1')), field(3, 2, trip('T'), stop('A')), field(3, 2, stop('B'))));
    expect(tripsOf(feed)).toMatchObject([{ tripId: 'T', stopUpdates: [{ stopId: 'A' }, { stopId: 'B' }] }]);
  });

  it('both trips with the same ID on two service days are read', () => {
    const trips = [
      { tripId: 'one', startDate: '20260114' },
      { tripId: 'one', startDate: '20260115' },
    ];
    const feed = feedOf({ timestamp: TIMESTAMP, trips });
    expect(tripsOf(feed).map(({ tripId, startDate }) => [tripId, startDate])).toEqual([
      ['one', '20260114'],
      ['one', '20260115'],
    ]);
  });

  it('entities that are deleted or have no trip update are ignored', () => {
    const vehicle = field(2, 2, field(1, 2, text('1')), field(4, 2));
    const deleted = field(2, 2, field(1, 2, text('2')), field(2, 0, 1), field(3, 2, trip('two')));
    const feed = read(vehicle, deleted, entity(trip('three')));
    expect([feed.tripCount, feed.unreadable]).toEqual([1, 0]);
  });
});

/** Both sides of the comparison in one shape, with undefined for missing values. */
function asBindings(feed: Feed) {
  const loads = loadsOf(feed);
  return tripsOf(feed).map((trip) => ({
    ...trip,
    stopUpdates: trip.stopUpdates.map(({ arrival, departure, ...stop }) => ({
      ...stop,
      arrival: [arrival.delaySeconds, arrival.at],
      departure: [departure.delaySeconds, departure.at],
      carriages: loads.shift(),
    })),
  }));
}

/** Blanks are what has no larger code than the space. */
function withoutBlanks(name: string): string {
  let [start, end] = [0, name.length];
  while (start < end && name.charCodeAt(start) <= 32) start++;
  while (start < end && name.charCodeAt(end - 1) <= 32) end--;
  return name.slice(start, end);
}

const TRIP_NAMES = ['SCHEDULED', 'ADDED', 'UNSCHEDULED', 'CANCELED', '', 'REPLACEMENT', 'DUPLICATED', 'DELETED', 'NEW'];
const STOP_NAMES = ['SCHEDULED', 'SKIPPED', 'NO_DATA', 'UNSCHEDULED'];

function expectedOf({ trip, stopTimeUpdate }: bindings.transit_realtime.ITripUpdate) {
  const [hours, minutes, seconds] = trip.startTime ? trip.startTime.split(':').map(Number) : [];
  const isGiven = (message: object, key: string) => Object.hasOwn(message, key);
  const time = (event: bindings.transit_realtime.TripUpdate.IStopTimeEvent | null | undefined) => [
    event && isGiven(event, 'delay') ? event.delay : null,
    event && isGiven(event, 'time') ? Number(event.time) * 1000 : null,
  ];
  return {
    tripId: trip.tripId,
    routeId: trip.routeId || null,
    startDate: trip.startDate || null,
    startTimeSeconds: hours === undefined ? null : hours * 3600 + Number(minutes) * 60 + Number(seconds),
    relationship: TRIP_NAMES[trip.scheduleRelationship ?? 0],
    stopUpdates: (stopTimeUpdate ?? []).map((stop) => ({
      stopId: isGiven(stop, 'stopId') ? stop.stopId : null,
      sequence: isGiven(stop, 'stopSequence') ? stop.stopSequence : null,
      relationship: STOP_NAMES[stop.scheduleRelationship ?? 0],
      arrival: time(stop.arrival),
      departure: time(stop.departure),
      occupancy: stop.$unknowns?.find(([tag]) => tag === 0x30)?.[1] ?? null,
      carriages: expectedCarriages(stop.$unknowns ?? []),
    })),
  };
}

/** Field 1007 as the bindings return it: a two-byte tag, its length, and fields of two bytes each. */
function expectedCarriages(unknowns: readonly Uint8Array[]) {
  const carriages = unknowns
    .filter(([first, second]) => first === 0xfa && second === 0x3e)
    .map((bytes) => ({ position: bytes[4] ?? 0, occupancy: bytes[5] === 7 << 3 ? (bytes[6] ?? null) : null }));
  const inOrder = carriages.sort((one, other) => one.position - other.position);
  return inOrder.length === 0 ? null : inOrder.map(({ occupancy }) => occupancy);
}

describe('reading vehicle positions', () => {
  const degrees = (most: number) =>
    fc.float({ min: -most, max: most, noNaN: true }).filter((one) => Math.abs(one) > 1e-6);
  const vehicleSpec: fc.Arbitrary<bindings.transit_realtime.IVehiclePosition> = fc.record(
    {
      trip: fc.record(
        { tripId: identifier, routeId: identifier, startDate: fc.constant('20260114') },
        { requiredKeys: ['tripId'] },
      ),
      position: fc.record(
        { latitude: degrees(90), longitude: degrees(180), bearing: fc.integer({ min: 0, max: 359 }) },
        { requiredKeys: ['latitude', 'longitude'] },
      ),
      timestamp: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      stopId: identifier,
      currentStopSequence: fc.nat(100),
      currentStatus: fc.constantFrom(0, 1, 2),
      vehicle: fc.record({ id: identifier, label: identifier }, { requiredKeys: ['id'] }),
      occupancyStatus: fc.nat(6),
    },
    { requiredKeys: ['trip', 'position', 'timestamp', 'vehicle'] },
  );
  const vehiclesSpec = fc.uniqueArray(vehicleSpec, { maxLength: 8, selector: ({ vehicle }) => vehicle?.id });
  const everywhere = { isAt: () => true };
  const bus = (id: string, more: object = {}) => ({
    trip: { tripId: `run ${id}` },
    position: { latitude: -33.87, longitude: 151.2 },
    timestamp: TIMESTAMP - 10,
    vehicle: { id },
    ...more,
  });
  const vehiclesOf = (...vehicles: bindings.transit_realtime.IVehiclePosition[]) =>
    feedOf({ timestamp: TIMESTAMP, vehicles }).listVehicles(everywhere);
  /** Upstream's field 1007. */
  const own = (...message: Buffer[]) => new Uint8Array(field(1007, 2, ...message));

  it('the reader of positions returns what the reference bindings return, and finds vehicles by place and by trip', () => {
    fc.assert(
      fc.property(vehiclesSpec, (vehicles) => {
        const bytes = encodeFeed({ timestamp: TIMESTAMP, vehicles });
        const feed = new Feed(parseFeed(bytes));
        const found = feed.listVehicles(everywhere);
        expect(feed.vehicleCount).toBe(vehicles.length);
        for (const { vehicle: expected } of FeedMessage.decode(bytes).entity) {
          const one = found.find(({ vehicleId }) => vehicleId === expected?.vehicle?.id);
          expect(one).toEqual({
            tripId: expected?.trip?.tripId,
            routeId: expected?.trip?.routeId || null,
            vehicleId: expected?.vehicle?.id,
            label: expected?.vehicle?.label || null,
            stopId: expected?.stopId || null,
            sequence: Object.hasOwn(expected ?? {}, 'currentStopSequence') ? expected?.currentStopSequence : null,
            isStanding: expected?.currentStatus === 1,
            lat: Math.round((expected?.position?.latitude ?? 0) * 1e6) / 1e6,
            lng: Math.round((expected?.position?.longitude ?? 0) * 1e6) / 1e6,
            bearing: Object.hasOwn(expected?.position ?? {}, 'bearing') ? expected?.position?.bearing : null,
            reportedAt: Number(expected?.timestamp) * 1000,
            occupancy: Object.hasOwn(expected ?? {}, 'occupancyStatus') ? expected?.occupancyStatus : null,
            isAccessible: null,
            carriages: null,
          });
          expect(feed.listVehicles({ tripId: one?.tripId ?? '' })).toContainEqual(one);
          expect(feed.listVehicles({ isAt: (lat, lng) => lat === one?.lat && lng === one?.lng })).toContainEqual(one);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('the reader of positions returns upstream’s own fields: carriages in order, and wheelchair access', () => {
    const carriage = (position: number, ...more: Buffer[]) => own(field(2, 0, position), ...more);
    const [train] = vehiclesOf(
      bus('train', { $unknowns: [carriage(3), carriage(1, field(3, 0, 2)), carriage(2, field(3, 0, 0))] }),
    );
    expect(train?.carriages).toEqual([2, 0, null]);
    const accessible = (wheelchair: number) =>
      vehiclesOf(bus('1', { vehicle: { id: '1', $unknowns: [own(field(2, 0, wheelchair))] } }))[0]?.isAccessible;
    expect([0, 1, 2, 3].map(accessible)).toEqual([null, true, false, null]);
    const byStandard = (wheelchairAccessible: number) =>
      vehiclesOf(bus('1', { vehicle: { id: '1', wheelchairAccessible } }))[0]?.isAccessible;
    expect([0, 1, 2, 3].map(byStandard)).toEqual([null, null, true, false]);
  });

  it('the reader of positions returns at most sixteen carriages', () => {
    const many = Array.from({ length: 100 }, (_, index) => own(field(2, 0, index + 1), field(3, 0, index % 4)));
    const [train] = vehiclesOf(bus('train', { $unknowns: many }));
    expect(train?.carriages).toEqual(Array.from({ length: 16 }, (_, index) => index % 4));
  });

  it.each<[string, object]>([
    ['without a trip', { trip: {} }],
    ['without a position', { position: null }],
    ['beyond the pole', { position: { latitude: 91, longitude: 151 } }],
    ['at 0, 0', { position: { latitude: 0, longitude: 0 } }],
    [
      'at coordinates that are not numbers',
      { position: { latitude: Number.NaN, longitude: Number.POSITIVE_INFINITY } },
    ],
    ['without a time', { timestamp: null }],
    ['still on its previous trip', { vehicle: { id: 'x', $unknowns: [own(field(4, 0, 1))] } }],
  ])('a vehicle %s is left out, and all others are kept', (_, wrong) => {
    expect(vehiclesOf(bus('1'), bus('x', wrong), bus('2')).map(({ vehicleId }) => vehicleId)).toEqual(['1', '2']);
  });

  it('of several reports of a vehicle, the reader of positions keeps the latest', () => {
    const latest = bus('1', { timestamp: TIMESTAMP - 5, trip: { tripId: 'now' } });
    for (const reports of [
      [bus('1'), latest],
      [latest, bus('1')],
    ]) {
      expect(vehiclesOf(...reports).map(({ tripId }) => tripId)).toEqual(['now']);
    }
  });
});

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Feed, NotAPackedFeed } from '#src/realtime/feed/feed.ts';
import { MAX_FEED_BYTES, parseFeed, UndecodableFeed } from '#src/realtime/feed/feed-reader.ts';
import { HEADER, MAX_CARRIAGES, MAX_TRIPS_PER_ID, MAX_UPDATES_PER_TRIP, TRIP } from '#src/realtime/feed/packed-feed.ts';
import { createPlannedRuns } from '#src/realtime/prediction/planned-runs.ts';
import { predictFeed } from '#src/realtime/prediction/predict-feed.ts';
import { Snapshot } from '#src/realtime/snapshot.ts';
import { toDayNumber } from '#src/timetable/service-day.ts';
import { PROTOTYPE_NAMES } from '#test/support/prototype-names.ts';
import { scheduleFile } from '#test/support/schedule-file.ts';
import { timetableOf } from '#test/support/timetable.ts';
import {
  carriageField,
  encodeFeed,
  entity,
  feedOf,
  field,
  header,
  loadsOf,
  read,
  type StopSpec,
  TIMESTAMP,
  type TripSpec,
  text,
  trip,
  tripsOf,
  varint,
} from './feed-bytes.ts';

/** The day of `TIMESTAMP`. */
const DAY = '20260114';
/** A bus of 13:20 that calls at A, B and C. */
const NETWORK = timetableOf(
  scheduleFile('buses', {
    stops: ['A', 'B', 'C'].map((id) => ({ id })),
    trips: [
      {
        id: 'one',
        days: [DAY],
        calls: [
          ['A', '13:20'],
          ['B', '13:30'],
          ['C', '13:40'],
        ],
      },
      {
        id: 'constructor',
        days: [DAY],
        calls: [
          ['A', '13:20'],
          ['B', '13:35'],
        ],
      },
    ],
  }),
);
const predictHere = (feed: Feed) => new Snapshot(predictFeed(createPlannedRuns(NETWORK), { source: 'buses', feed }));

describe('malformed entities', () => {
  const stopUpdate = (...fields: Buffer[]) => field(2, 2, ...fields);
  const spoilt: Record<string, Buffer> = {
    'a varint without an end': entity(trip('bad'), stopUpdate(field(1, 0, Buffer.alloc(30, 0xff)))),
    'a nested message that is longer than the one around it': entity(trip('bad'), Buffer.of(0x12, 0x7f, 0x08)),
    'a length beyond 2^31': entity(trip('bad'), Buffer.concat([Buffer.of(0x12), varint(2 ** 40)])),
    'a negative length': entity(trip('bad'), Buffer.concat([Buffer.of(0x12), varint(-1)])),
    'a group': entity(trip('bad'), Buffer.of(0x1b, 0x08, 0x01, 0x1c)),
    'a wire type that does not exist': entity(trip('bad'), Buffer.of(0x1f)),
    'field number zero': entity(trip('bad'), Buffer.of(0x00, 0x00)),
    'a fixed 64-bit number cut short': entity(trip('bad'), Buffer.of(0x09 + 64, 1, 2, 3)),
    'a trip without an identifier': entity(field(1, 2, field(5, 2, text('route')))),
    'a trip update without a trip': entity(stopUpdate(field(4, 2, text('A')))),
    'an identifier of a thousand characters': entity(trip('x'.repeat(1000))),
    'an identifier with a line feed': entity(trip('a\nb')),
  };

  it.each(Object.entries(spoilt))('an entity with %s is skipped alone and counted', (_, bad) => {
    const feed = read(entity(trip('before')), bad, entity(trip('after'), stopUpdate(field(4, 2, text('A')))));
    expect([feed.tripCount, feed.unreadable]).toEqual([2, 1]);
    expect(tripsOf(feed, 'before')[0]?.stopUpdates).toEqual([]);
    expect(tripsOf(feed, 'after')[0]?.stopUpdates.map(({ stopId }) => stopId)).toEqual(['A']);
  });

  it.each(PROTOTYPE_NAMES)('%s is an identifier of trips, routes and stops like any other', (name) => {
    const feed = feedOf({ timestamp: TIMESTAMP, trips: [{ tripId: name, routeId: name, stops: [{ stopId: name }] }] });
    expect(tripsOf(feed, name)).toMatchObject([{ tripId: name, routeId: name, stopUpdates: [{ stopId: name }] }]);
    expect(tripsOf(feed, 'other')).toEqual([]);
  });

  it('a field with an unexpected wire type counts as missing', () => {
    const wrong = stopUpdate(field(1, 2, text('x')), field(4, 0, 1), field(2, 0, 5), field(5, 5, 1, 2, 3, 4));
    const [update] = tripsOf(read(entity(trip('one', field(4, 2, text('x'))), wrong)))[0]?.stopUpdates ?? [];
    expect(update).toMatchObject({ stopId: null, sequence: null, relationship: 'SCHEDULED' });
    expect(update?.arrival).toEqual({ delaySeconds: null, at: null });
  });

  it('fields of a future version are skipped', () => {
    const future = [field(99, 0, 1), field(100, 1, Buffer.alloc(8)), field(101, 5, Buffer.alloc(4)), field(1007, 2)];
    const feed = read(field(3, 2, text('future')), entity(...future, trip('one', ...future), stopUpdate(...future)));
    expect([feed.tripCount, feed.unreadable]).toEqual([1, 0]);
    expect(tripsOf(feed)[0]?.stopUpdates).toHaveLength(1);
  });

  it('numbers outside any plausible range count as missing', () => {
    const event = field(3, 2, field(1, 0, varint(10 ** 9)), field(2, 0, varint(-5)));
    const update = stopUpdate(field(1, 0, varint(2 ** 40)), field(5, 0, varint(77)), event);
    const [one] = tripsOf(read(entity(trip('one', field(3, 2, text('tomorrow')), field(4, 0, varint(4))), update)));
    expect(one).toMatchObject({ startDate: null, relationship: 'UNKNOWN' });
    expect(one?.stopUpdates[0]).toMatchObject({
      sequence: null,
      relationship: 'UNKNOWN',
      departure: { delaySeconds: null, at: null },
    });
  });
});

describe('bytes that are not a usable feed', () => {
  const refused: Record<string, Buffer> = {
    nothing: Buffer.alloc(0),
    'a web page': text('<!DOCTYPE html><html><body>Service unavailable</body></html>'),
    'an XML fault': text('<?xml version="1.0"?><soap:Envelope/>'),
    'a JSON error': text('{"ErrorDetails":{"Message":"The calling application is unauthenticated."}}'),
    'a feed cut off within an entity': encodeFeed({ timestamp: TIMESTAMP, trips: [{ tripId: 'one' }] }).subarray(0, -1),
    'a feed without a header': entity(trip('one')),
    'a header without a timestamp': field(1, 2, field(1, 2, text('2.0'))),
    'a header with a timestamp out of range': field(1, 2, field(3, 0, varint(2 ** 50))),
    'a feed of changes only': Buffer.concat([header, field(1, 2, field(2, 0, 1))]),
    'more entities than any feed has': Buffer.concat([header, Buffer.alloc(2 * 20_001, field(2, 2))]),
    'a group at the top, however deep': Buffer.concat([header, Buffer.alloc(1_000_000, 0x1b)]),
  };

  it.each(Object.entries(refused))('bytes that are %s are refused with a named error', (_, bytes) => {
    expect(() => parseFeed(bytes)).toThrow(UndecodableFeed);
  });

  it('a feed with more bytes than the limit is refused with a named error', () => {
    expect(() => parseFeed(Buffer.alloc(MAX_FEED_BYTES + 1))).toThrow(UndecodableFeed);
  });

  it('a feed with too many identifiers is refused with a named error', () => {
    const stops = Array.from({ length: 100_001 }, (_, stop) => field(2, 2, field(4, 2, text(String(stop)))));
    expect(() => parseFeed(Buffer.concat([header, entity(trip('one'), Buffer.concat(stops))]))).toThrow(
      UndecodableFeed,
    );
  });

  it('a feed with too many stop updates is refused with a named error', () => {
    const many = entity(trip('one'), Buffer.alloc(2 * 500_001, field(2, 2)));
    expect(() => parseFeed(Buffer.concat([header, many]))).toThrow(UndecodableFeed);
  });
});

describe('an oversized feed', () => {
  const packedOf = (trips: TripSpec[]) => parseFeed(encodeFeed({ timestamp: TIMESTAMP, trips }));
  const repeat = (count: number, tripOf: (index: number) => TripSpec) =>
    packedOf(Array.from({ length: count }, (_, index) => tripOf(index)));

  it('a feed that repeats one ID keeps a few of its trips and counts the rest', () => {
    const feed = new Feed(repeat(20_000, (index) => ({ tripId: index === 10_000 ? 'other' : 'one' })));
    expect(tripsOf(feed, 'one')).toHaveLength(MAX_TRIPS_PER_ID);
    expect(tripsOf(feed, 'other')).toHaveLength(1);
    expect([feed.tripCount, feed.unreadable]).toEqual([MAX_TRIPS_PER_ID + 1, 19_999 - MAX_TRIPS_PER_ID]);
  });

  it('a trip with too many stop updates is skipped, and all others are kept', () => {
    const tripOf = (tripId: string, count: number) => ({ tripId, stops: Array(count).fill({ stopId: 'A' }) });
    const feed = new Feed(packedOf([tripOf('long', MAX_UPDATES_PER_TRIP), tripOf('longer', MAX_UPDATES_PER_TRIP + 1)]));
    expect(tripsOf(feed, 'long')[0]?.stopUpdates).toHaveLength(MAX_UPDATES_PER_TRIP);
    expect([tripsOf(feed, 'longer'), feed.unreadable]).toEqual([[], 1]);
  });

  it('opening a large feed decodes no text', () => {
    const packed = repeat(16_384, (index) => ({ tripId: `trip ${index}`, stops: [{ stopId: 'A' }] }));
    const decode = vi.spyOn(Buffer.prototype, 'toString');
    try {
      expect(new Feed(packed).tripCount).toBe(16_384);
      expect(decode).not.toHaveBeenCalled();
    } finally {
      decode.mockRestore();
    }
  });
});

describe('a feed that is hostile to the prediction', () => {
  const [SKIPPED, NO_DATA] = [1, 2];
  /** The bus `one` has left A two minutes late. */
  const late: TripSpec = {
    tripId: 'one',
    startDate: DAY,
    timestamp: TIMESTAMP,
    stops: [{ stopId: 'B', departure: { delay: 120 } }],
  };
  const predictTrips = (trips: TripSpec[]) => predictHere(feedOf({ timestamp: TIMESTAMP, trips }));
  /** How late the bus `one` is at each stop, in seconds; null if it is not live there. */
  function lateness(snapshot: Snapshot, tripId = 'one') {
    const [trip] = NETWORK.listTripsBetween(tripId);
    const [first, end] = snapshot.callsOf(snapshot.findRun(trip as number, toDayNumber(DAY) as number));
    const { departure, plannedDeparture } = snapshot.sections;
    return Array.from({ length: end - first }, (_, at) =>
      snapshot.isLive(first + at) ? (departure[first + at] as number) - (plannedDeparture[first + at] as number) : null,
    );
  }

  it('20,000 updates of one trip cost that trip only, and are counted', () => {
    const again: TripSpec = { ...late, tripId: 'constructor', stops: [{ stopId: 'B', departure: { delay: 60 } }] };
    const snapshot = predictTrips([...Array<TripSpec>(10_000).fill(again), late, ...Array<TripSpec>(9999).fill(again)]);
    expect(snapshot.runCount).toBe(2);
    expect(lateness(snapshot)).toEqual([null, 120, 120]);
    expect(lateness(snapshot, 'constructor')).toEqual([null, 60]);
    expect(snapshot.about.leftOut['several updates of one run']?.count).toBe(MAX_TRIPS_PER_ID - 1);
  });

  it('20,000 updates of one added trip are one run', () => {
    const added = { tripId: 'X', scheduleRelationship: 1, routeId: 'R', timestamp: TIMESTAMP };
    const stops = ['A', 'B'].map((stopId, at) => ({ stopId, departure: { time: TIMESTAMP + 600 * (at + 1) } }));
    expect(predictTrips(Array<TripSpec>(20_000).fill({ ...added, stops })).runCount).toBe(1);
  });

  it('16,000 added trips at one stop are found there, and leave the others', () => {
    const stops = ['A', 'B'].map((stopId, at) => ({ stopId, departure: { time: TIMESTAMP + 600 * (at + 1) } }));
    const added = Array.from({ length: 16_000 }, (_, at) => ({
      tripId: `X${at}`,
      scheduleRelationship: 1,
      routeId: 'R',
      stops,
    }));
    const snapshot = predictTrips([...added, late]);
    const [first, end] = snapshot.visitsAt(NETWORK.findStop('A') as number);
    expect([end - first, snapshot.runCount]).toEqual([16_001, 16_001]);
    expect(lateness(snapshot)).toEqual([null, 120, 120]);
  });

  it.each<[string, Buffer[]]>([
    ['times beyond 64 bits', [field(2, 0, Buffer.alloc(10, 0xff))]],
    ['the largest time', [field(2, 0, varint(2 ** 63))]],
    ['a time before 1970', [field(2, 0, varint(-5))]],
    ['a time of the next century', [field(2, 0, varint(2 ** 32 - 1))]],
    ['the largest delay', [field(1, 0, varint(2 ** 31 - 1))]],
    ['the smallest delay', [field(1, 0, varint(-(2 ** 31)))]],
  ])('an update with %s costs that trip at most, and no other', (_, fields) => {
    const wild = entity(trip('constructor'), field(2, 2, field(3, 2, ...fields), field(4, 2, text('A'))));
    const sound = entity(trip('one'), field(2, 2, field(3, 2, field(1, 0, varint(120))), field(4, 2, text('B'))));
    const snapshot = predictHere(read(wild, sound));
    expect(lateness(snapshot)).toEqual([null, 120, 120]);
    expect(snapshot.runCount).toBe(1);
  });

  it('identifiers that are property names of objects are read like any other', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const stops = [{ stopId: name, departure: { time: TIMESTAMP + 60 } }];
      const snapshot = predictTrips([
        late,
        { tripId: name, startDate: DAY, stops },
        { tripId: name, scheduleRelationship: 1, routeId: name, stops },
      ]);
      expect(lateness(snapshot)).toEqual([null, 120, 120]);
      expect(snapshot.listAdded(name)).toEqual([]);
    }
  });

  it('the prediction of a block of runs that leads back to its first run ends', () => {
    const calls = [
      ['A', '13:30'],
      ['A', '13:30'],
    ] as const;
    const block = ['one', 'two', 'three'].map((id) => ({ id, blockId: 'b', days: [DAY], calls }));
    const network = timetableOf(scheduleFile('buses', { stops: [{ id: 'A' }], trips: block }));
    const feed = feedOf({
      timestamp: TIMESTAMP,
      trips: [{ tripId: 'one', stops: [{ stopId: 'A', departure: { delay: 900 } }] }],
    });
    const packed = predictFeed(createPlannedRuns(network), { source: 'buses', feed });
    expect(new Snapshot(packed).runCount).toBe(1);
  });

  it.each<[string, TripSpec[], string]>([
    ['stops that the timetable lacks', wrong({ stopId: 'elsewhere' }), 'stop not in the timetable'],
    ['stops of other trips', wrong({ stopId: 'C', scheduleRelationship: SKIPPED }), 'update of no call'],
    [
      'days on which its trips do not run',
      wrong({ stopId: 'A', departure: { time: TIMESTAMP + 20 * 3600 } }),
      'trip does not run then',
    ],
  ])('a feed with %s is named, and its trips count as not found', (_, trips, reason) => {
    const { compared, found, leftOut } = predictTrips(trips).about;
    expect([compared, found]).toEqual([1, 0]);
    expect(leftOut[reason]?.count).toBeGreaterThan(0);
  });
  function wrong(stop: StopSpec): TripSpec[] {
    return [
      { tripId: 'constructor', stops: [stop, { ...stop, scheduleRelationship: stop.scheduleRelationship ?? NO_DATA }] },
    ];
  }

  it('a feed with the maximum number of stop updates is predicted, whichever trips and stops they name', () => {
    const trips = Array.from({ length: 1600 }, (_, at) => ({
      tripId: at % 200 < 8 ? 'one' : `unknown ${at}`,
      stops: Array.from({ length: MAX_UPDATES_PER_TRIP }, (_, stop) => ({
        stopId: stop % 2 === 0 ? 'A' : 'elsewhere',
        departure: { time: TIMESTAMP + stop * 60 },
      })),
    }));
    const snapshot = predictTrips([...trips, late]);
    expect(snapshot.runCount).toBe(1);
    expect(snapshot.about.leftOut['trip not in the timetable']?.examples).toHaveLength(10);
  });
});

describe('impossible carriages', () => {
  const readOne = (carriages: StopSpec['carriages'] & object) =>
    loadsOf(feedOf({ timestamp: TIMESTAMP, trips: [{ tripId: 'one', stops: [{ carriages }] }] }))[0];
  const full = (...positions: (number | undefined)[]) =>
    positions.map((position, index) => ({ ...(position !== undefined && { position }), occupancy: index }));

  it.each<[string, NonNullable<StopSpec['carriages']>, (number | null)[]]>([
    [
      'beyond the maximum are dropped',
      full(...Array(1000).keys()),
      [...Array(MAX_CARRIAGES).keys()].map((one) => (one < 15 ? one : null)),
    ],
    ['in any order are sorted', full(3, 1, 2), [1, 2, 0]],
    ['without positions keep their order', full(undefined, undefined, undefined), [0, 1, 2]],
    ['counted from 0 keep their order', full(0, 1, 2), [0, 1, 2]],
    ['with duplicate positions keep the later one', full(1, 2, 1, 2, 3), [2, 3, 4]],
    ['all at one position count as one', full(...Array(1000).fill(1)), [null]],
    ['at absurd positions keep their order', full(2 ** 50, -7, 2 ** 31, -(2 ** 40)), [3, 1, 2, 0]],
    [
      'with absurd occupancies are unknown',
      [
        { position: 1, occupancy: 2 ** 40 },
        { position: 2, occupancy: -1 },
        { position: 3, occupancy: 15 },
      ],
      [null, null, null],
    ],
    ['without fields are unknown', [{}, {}], [null, null]],
  ])('carriages %s', (_, carriages, expected) => {
    expect(readOne(carriages)).toEqual(expected);
  });

  it('carriages with another wire type are skipped, and truncated ones lose only their own entity', () => {
    const update = (...fields: Buffer[]) => field(2, 2, ...fields);
    const feed = read(
      entity(trip('one'), update(field(1007, 0, 5)), update(carriageField({ position: 1, occupancy: 2 }))),
    );
    expect(loadsOf(feed)).toEqual([null, [2]]);
    const short = entity(trip('bad'), update(field(1007, 2, field(2, 0, 1)), field(1007, 2, Buffer.of(7 << 3))));
    const rest = read(short, entity(trip('one'), update(), update(carriageField({ occupancy: 1 }))));
    expect([rest.unreadable, loadsOf(rest)]).toEqual([1, [null, [1]]]);
  });

  it('carriages of a refused trip do not appear on the next trip', () => {
    const stops = (count: number, occupancy: number) => Array(count).fill({ carriages: [{ position: 1, occupancy }] });
    const feed = feedOf({
      timestamp: TIMESTAMP,
      trips: [
        { tripId: 'longer', stops: stops(MAX_UPDATES_PER_TRIP + 1, 3) },
        { tripId: 'one', stops: [...stops(1, 1), {}, ...stops(1, 2)] },
      ],
    });
    expect(loadsOf(feed)).toEqual([[1], null, [2]]);
  });
});

describe('arbitrary bytes', () => {
  const isFeedOrNamedError = (bytes: Buffer) => {
    try {
      const feed = new Feed(parseFeed(bytes));
      tripsOf(feed);
      predictHere(feed);
    } catch (error) {
      expect(error).toBeInstanceOf(UndecodableFeed);
    }
  };

  it('random bytes give a feed or the named error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => isFeedOrNamedError(Buffer.concat([header, bytes]))),
      { numRuns: 500 },
    );
  });

  it('a feed with changed, cut or doubled bytes gives a feed or the named error', () => {
    const stops = [
      {
        stopId: 'A',
        departure: { delay: -60, time: TIMESTAMP },
        occupancy: 2,
        carriages: [{ position: 1, occupancy: 2 }],
      },
      { stopId: 'B' },
    ];
    const change = fc.record({ at: fc.nat(), length: fc.nat(8), bytes: fc.uint8Array({ maxLength: 8 }) });
    const timetabled = { tripId: 'one', startDate: '20260114', startTime: '14:27:00', stops };
    const bytesOf = encodeFeed({ timestamp: TIMESTAMP, trips: [timetabled, { tripId: 'two', stops }] });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        let bytes = bytesOf;
        for (const { at, length, bytes: instead } of changes) {
          const from = at % (bytes.length + 1);
          bytes = Buffer.concat([bytes.subarray(0, from), instead, bytes.subarray(from + length)]);
        }
        isFeedOrNamedError(bytes);
      }),
      { numRuns: 500 },
    );
  });

  it('messages nested two thousand deep are skipped without recursion', () => {
    let nested: Buffer = Buffer.alloc(0);
    for (let depth = 0; depth < 2000; depth++) nested = field(4, 2, nested);
    expect(read(entity(trip('one'), nested)).tripCount).toBe(1);
  });
});

describe('a packed feed from another instance', () => {
  const stops = [{ stopId: 'A', carriages: [{ position: 1, occupancy: 2 }] }, { stopId: 'B' }];
  const packed = parseFeed(
    encodeFeed({ timestamp: TIMESTAMP, trips: [{ tripId: 'one', scheduleRelationship: 1, stops }] }),
  );

  it('a packed feed with inconsistent sizes is refused with a named error', () => {
    for (const bytes of [new ArrayBuffer(0), new ArrayBuffer(24), packed.slice(0, -1), packed.slice(4)]) {
      expect(() => new Feed(bytes)).toThrow(NotAPackedFeed);
    }
  });

  it('a packed feed with any number changed is refused with a named error or can be queried', () => {
    const words = Math.floor(packed.byteLength / 4);
    const extreme = fc.constantFrom(-(2 ** 31), -1, 0, 1, 2 ** 31 - 1);
    fc.assert(
      fc.property(fc.nat(words - 1), fc.oneof(extreme, fc.integer()), (word, value) => {
        const changed = packed.slice(0);
        new Int32Array(changed, 0, words)[word] = value;
        try {
          const feed = new Feed(changed);
          tripsOf(feed);
          for (const [, loads] of feed.carriages()) expect(loads.length).toBeLessThanOrEqual(MAX_CARRIAGES);
          predictHere(feed);
        } catch (error) {
          expect(error).toBeInstanceOf(NotAPackedFeed);
        }
      }),
    );
  });

  it('a packed feed has trips within the same bounds as one read here', () => {
    const trips = Array.from({ length: 20 }, (_, index) => ({
      tripId: `trip ${index}`,
      stops: Array(20).fill(stops[0]),
    }));
    const wild = parseFeed(encodeFeed({ timestamp: TIMESTAMP, trips }));
    const words = new Int32Array(wild, HEADER.words * 4, trips.length * TRIP.words);
    for (let row = 0; row < words.length; row += TRIP.words) words.set([0, 2 ** 31 - 1], row + TRIP.firstUpdate);
    const feed = new Feed(wild);
    for (const { stopUpdates } of tripsOf(feed)) expect(stopUpdates).toHaveLength(MAX_UPDATES_PER_TRIP);
    expect(predictHere(feed).runCount).toBe(0);
  });
});

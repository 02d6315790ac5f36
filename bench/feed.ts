import { Feed } from '#src/realtime/feed/feed.ts';
import { readFeed } from '#src/realtime/feed/feed-reader.ts';
import { encodeFeed, TIMESTAMP, type TripSpec } from '#test/realtime/feed-bytes.ts';
import { cpuMsOf } from './event-loop.ts';
import { describeMachine, print } from './machine.ts';

/*
 * Measures what feeds cost the main thread: opening one that the reading thread has packed, and the first lookup of a trip and of a
 * stop. Uses a feed like that of the buses, and oversized ones.
 * `node --expose-gc bench/feed.ts`
 */
const ADDED = 1;
const MEGABYTE = 1_000_000;

function tripsOf(count: number, updates: number, tripOf: (trip: number, stop: number) => [string, string, number?]) {
  return Array.from({ length: count }, (_, trip): TripSpec => {
    const stops = Array.from({ length: updates }, (_, stop) => ({
      stopId: tripOf(trip, stop)[1],
      departure: { delay: 60, time: TIMESTAMP + stop * 60 },
    }));
    return { tripId: tripOf(trip, 0)[0], scheduleRelationship: tripOf(trip, 0)[2] ?? 0, stops };
  });
}

const TRAINS = tripsOf(560, 8, (trip, stop) => [`trip ${trip}`, `${(trip * 7 + stop) % 1000}`]);
const CARRIAGES = Array.from({ length: 8 }, (_, index) => ({ position: index + 1, occupancy: 1 }));

const FEEDS: Record<string, TripSpec[]> = {
  'like the trains: 560 trips': TRAINS,
  '… half of them with carriages': TRAINS.map(({ stops = [], ...trip }, index) => ({
    ...trip,
    stops: index % 2 === 0 ? stops : stops.map((stop) => ({ ...stop, carriages: CARRIAGES })),
  })),
  'like the buses: 4,500 trips': tripsOf(4500, 36, (trip, stop) => [`trip ${trip}`, `${(trip * 7 + stop) % 20_000}`]),
  '20,000 times one trip': tripsOf(20_000, 1, () => ['trip 0', '0']),
  '16,000 added at one stop': tripsOf(16_000, 30, (trip) => [`trip ${trip}`, '0', ADDED]),
  'as many texts as may be': tripsOf(20_000, 4, (trip, stop) => [
    `trip ${trip}`.padEnd(90),
    `${trip * 4 + stop}`,
    ADDED,
  ]),
};

print(describeMachine());
print('\nprocessor time in ms, memory in MB');
print('                                 packed     read     open   look up   memory   found');
for (const [name, trips] of Object.entries(FEEDS)) {
  const bytes = encodeFeed({ timestamp: TIMESTAMP, trips });
  const packed = readFeed(bytes);
  const readMs = await cpuMsOf(bytes.length < MEGABYTE ? 50 : 1, () => readFeed(bytes));
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  let feed = new Feed(packed);
  const openMs = await cpuMsOf(5, () => {
    feed = new Feed(packed);
  });
  let found = 0;
  const lookUpMs = await cpuMsOf(1, () => {
    found = feed.findTrips('trip 0').length + feed.findUntimetabledTrips('0').length;
  });
  globalThis.gc?.();
  const memory = (process.memoryUsage().heapUsed - heapUsed) / MEGABYTE;
  const figures = [packed.byteLength / MEGABYTE, readMs, openMs, lookUpMs, memory].map((figure) => figure.toFixed(1));
  print([name.padEnd(30), ...[...figures, found].map((figure) => String(figure).padStart(9))].join(''));
}

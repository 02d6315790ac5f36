import { createReadStream, existsSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import {
  FEED_SOURCES,
  type FeedSourceId,
  isPositions,
  pathOf,
  positionsOf,
} from '#src/realtime/polling/feed-source.ts';
import { SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { openTimetable } from '#src/timetable/update/folder.ts';
import { encodeFeed } from '#test/realtime/feed-bytes.ts';
import { startUpstream } from '#test/support/upstream.ts';
import { answerTo } from './planner.ts';

/*
 * Upstream in a process of its own: the zips of a directory, feeds of the trips in a timetable, and a trip planner that knows
 * every stop. A message names the directory or the timetable to use from now on.
 */
interface Ride {
  trip: number;
  day: number;
  startsAt: number;
  endsAt: number;
}

const MINUTE_MS = 60_000;
/** Of each feed at most, so that the feeds do not grow towards the morning. */
const MAX_RIDES = 1000;
/** The trips are listed so often and for so long ahead, because reading all of them takes seconds. */
const RIDES_MS = 180 * MINUTE_MS;
const AHEAD_MS = 60 * MINUTE_MS;
/** Upstream publishes a feed this often. */
const FEED_MS = 15_000;
const NOTICES = 300;
const FEEDS = new Map(
  (Object.keys(FEED_SOURCES) as FeedSourceId[])
    .flatMap((source) => [source, positionsOf(source)])
    .map((id) => [pathOf(id), id]),
);

let directory = '';
let timetable: Timetable | null = null;
let rides = new Map<string | null, Ride[]>();
const published = new Map<string, { until: number; bytes: Buffer }>();

const upstream = await startUpstream((request, response) => {
  const { pathname } = new URL(request.url, 'http://upstream');
  const file = `${directory}${pathname}.zip`;
  const feed = FEEDS.get(pathname);
  upstream.requests.length = 0;
  if (feed) response.end(publish(feed));
  else if (existsSync(file)) {
    const { size, mtime } = statSync(file);
    response.setHeader('last-modified', mtime.toUTCString()).setHeader('content-length', size);
    if (request.method === 'HEAD') response.end();
    else createReadStream(file).pipe(response);
  } else if (pathname.includes('/tp/')) {
    response.setHeader('content-type', 'application/json');
    const isAboutNotices = pathname.endsWith('/add_info');
    response.end(isAboutNotices ? JSON.stringify(listNotices()) : answerTo(request.url, Date.now()));
  } else response.writeHead(404).end();
});
process.on('message', async (message: { directory?: string; timetable?: string }) => {
  directory = message.directory ?? directory;
  if (!message.timetable) return;
  const opened = await openTimetable(message.timetable);
  const found = await findRides(opened);
  [timetable, rides] = [opened, found];
  process.send?.('feeds are published');
});
setInterval(async () => {
  if (timetable) rides = await findRides(timetable);
}, RIDES_MS);
process.on('disconnect', () => process.exit(0));
process.send?.(upstream.url);

function publish(id: string): Buffer {
  const now = Date.now();
  const last = published.get(id);
  if (last && now < last.until) return last.bytes;
  const source = id.replace('-positions', '');
  const timestamp = Math.floor(now / 1000);
  const mine = listRides(source, now);
  const bytes = isPositions(id as FeedSourceId)
    ? encodeFeed({ timestamp, vehicles: mine.flatMap((ride) => locate(ride, now) ?? []) })
    : encodeFeed({ timestamp, trips: mine.flatMap((ride) => update(ride, now) ?? []) });
  published.set(id, { until: now + FEED_MS, bytes });
  return bytes;
}

/** The trips of a feed that are under way or start within the hour. */
function listRides(source: string, now: number): Ride[] {
  const near = (rides.get(source) ?? []).filter(({ startsAt, endsAt }) => endsAt > now && startsAt < now + AHEAD_MS);
  return near.slice(0, MAX_RIDES);
}

/** By feed, earliest first. Requests are answered meanwhile. */
async function findRides(timetable: Timetable): Promise<typeof rides> {
  const now = Date.now();
  const found: Ride[] = [];
  for (let trip = 0; trip < timetable.tripCount; trip++) {
    if (trip % 1000 === 0) await setImmediate();
    for (const day of sourceOf(timetable, trip) ? timetable.daysOf(trip, now) : []) {
      const last = timetable.stopsOf(timetable.patternOf(trip)).length - 1;
      const startsAt = timetable.callAt({ trip, day, position: 0 }).departsAt;
      const endsAt = timetable.callAt({ trip, day, position: last }).arrivesAt;
      if (endsAt > now && startsAt < now + RIDES_MS + AHEAD_MS) found.push({ trip, day, startsAt, endsAt });
    }
  }
  found.sort((one, other) => one.startsAt - other.startsAt);
  return Map.groupBy(found, ({ trip }) => sourceOf(timetable, trip));
}

function sourceOf(timetable: Timetable, trip: number): string | null {
  return SCHEDULE_FILES[timetable.trip(trip).file].feed;
}

/** Between one and five minutes late, a little different in each feed. */
function update({ trip, day }: Ride, now: number) {
  if (!timetable) return [];
  const late = 60 + ((trip * 7 + Math.floor(now / FEED_MS)) % 240);
  const timeOf = (at: number) => ({ delay: late, time: at / 1000 + late });
  const stops = timetable.calls(trip, day).flatMap(({ stop, arrivesAt, departsAt }, at) => {
    if (!timetable || departsAt + late * 1000 <= now) return [];
    const { id } = timetable.stop(stop);
    return { stopId: id, stopSequence: at + 1, arrival: timeOf(arrivesAt), departure: timeOf(departsAt) };
  });
  return stops.length === 0 ? [] : { tripId: timetable.trip(trip).tripId, scheduleRelationship: 0, stops };
}

/** At the last stop that the vehicle has left, or its first one, some metres away from where it was before. */
function locate({ trip, day, startsAt }: Ride, now: number) {
  if (!timetable || startsAt > now) return [];
  const { tripId, routeId } = timetable.trip(trip);
  const left = timetable.calls(trip, day).findLast(({ departsAt }) => departsAt <= now);
  if (!left) return [];
  const { lat, lng } = timetable.stop(left.stop);
  const away = (Math.floor(now / FEED_MS) % 100) * 1e-5;
  return {
    trip: { tripId, routeId },
    vehicle: { id: `v${trip}` },
    position: { latitude: lat + away, longitude: lng },
    timestamp: Math.floor(now / 1000),
  };
}

/** Their texts are new each time. */
function listNotices() {
  const current = Array.from({ length: NOTICES }, (_, index) => ({
    type: 'stopInfo',
    priority: 'normal',
    subtitle: `Lift ${index} is out of service, reported at ${new Date().toISOString()}`,
    content: `<p>Lift ${index} is being repaired.</p>`.repeat(10),
    affected: { stops: [{ id: String(200_000 + index * 10) }] },
  }));
  return { version: '10.2.1.42', infos: { current } };
}

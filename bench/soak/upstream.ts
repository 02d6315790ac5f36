import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import {
  FEED_SOURCES,
  type FeedSourceId,
  isPositions,
  pathOf,
  positionsOf,
} from '#src/realtime/polling/feed-source.ts';
import { SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import { encodeFeed } from '#test/realtime/feed-bytes.ts';
import { startUpstream } from '#test/support/upstream.ts';
import { answerTo } from './planner.ts';

/*
 * Upstream in a process of its own: the zips of a directory, feeds of the trips in a timetable, and a trip planner that knows every
 * stop. A message names the directory or the timetable to use from now on.
 */
interface Ride {
  trip: number;
  day: number;
  startsAt: number;
}

const MINUTE_MS = 60_000;
/** Of each feed at most, so that the feeds do not grow towards the morning. */
const MAX_RIDES = 1000;
const RIDES_MS = 10 * MINUTE_MS;
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
let rides = { until: 0, bySource: new Map<string, Ride[]>() };
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
process.on('message', (message: { directory?: string; timetable?: string }) => {
  directory = message.directory ?? directory;
  if (!message.timetable) return;
  const bytes = readFileSync(message.timetable);
  timetable = new Timetable(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  rides.until = 0;
});
process.on('disconnect', () => process.exit(0));
process.send?.(upstream.url);

function publish(id: string): Buffer {
  const now = Date.now();
  const last = published.get(id);
  if (last && now < last.until) return last.bytes;
  const source = id.replace('-positions', '');
  const timestamp = Math.floor(now / 1000);
  const mine = listRides(now).get(source) ?? [];
  const bytes = isPositions(id as FeedSourceId)
    ? encodeFeed({ timestamp, vehicles: mine.flatMap((ride) => locate(ride, now) ?? []) })
    : encodeFeed({ timestamp, trips: mine.flatMap((ride) => update(ride, now) ?? []) });
  published.set(id, { until: now + FEED_MS, bytes });
  return bytes;
}

/** The trips under way by feed, and those that start within the hour. */
function listRides(now: number): Map<string, Ride[]> {
  if (!timetable || now < rides.until) return rides.bySource;
  const all: (Ride & { source: string })[] = [];
  for (let trip = 0; trip < timetable.tripCount; trip++) {
    const source = SCHEDULE_FILES[timetable.trip(trip).file].feed;
    for (const day of source ? timetable.daysOf(trip, now) : []) {
      const startsAt = timetable.callAt({ trip, day, position: 0 }).departsAt;
      const position = timetable.stopsOf(timetable.patternOf(trip)).length - 1;
      const endsAt = timetable.callAt({ trip, day, position }).arrivesAt;
      if (endsAt > now && startsAt < now + 60 * MINUTE_MS) all.push({ trip, day, startsAt, source: source ?? '' });
    }
  }
  all.sort((one, other) => one.startsAt - other.startsAt);
  const bySource = new Map<string, Ride[]>();
  for (const ride of all) {
    const known = bySource.get(ride.source) ?? [];
    if (known.length < MAX_RIDES) known.push(ride);
    bySource.set(ride.source, known);
  }
  rides = { until: now + RIDES_MS, bySource };
  return bySource;
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

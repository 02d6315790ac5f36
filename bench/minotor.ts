import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HOUR_MS } from '#src/core/clock.ts';
import { createPlanners } from '#src/journeys/planners.ts';
import { type Footpaths, NEVER } from '#src/journeys/raptor/lines.ts';
import { TimetableBuilder } from '#src/timetable/import/builder.ts';
import { loadScheduleFile } from '#src/timetable/import/read-file.ts';
import { FILE_IDS, type FileId } from '#src/timetable/schedule-files.ts';
import { serviceDayStart, toDayNumber } from '#src/timetable/service-day.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import { distanceMetres, type Position } from '#src/transit/place.ts';
import { describeMachine, hold, print } from './machine.ts';
import { median, percentile } from './percentiles.ts';

/*
 * The search for the earliest arrival against `minotor`, a journey planner in JavaScript that also uses RAPTOR, which is
 * installed into a temporary folder. Both read the same GTFS zip and answer the same queries by the same rules: between two stops
 * of one day, at most five rides, changes only at the stop itself and without a minimum time. Ours also finds the journey that
 * leaves last, theirs the rides.
 *
 * `node --max-old-space-size=8000 bench/minotor.ts ZIP FILE DAY [pairs] [seed]`: FILE is the zip's name in our timetable, for
 * instance buses; DAY is YYYYMMDD. minotor needs values without quotes.
 */
const VERSION = '1.0.7';
const [zip = '', file = 'buses', day = '', pairs = '200', seed = '1'] = process.argv.slice(2);
const WARM_UP = 40;
const MAX_RIDES = 5;
const SECONDS_OF_DAY = 86_400;
const CENTRAL: Position = [-33.8832, 151.207];
/** Without walks, few stops further apart have a journey. */
const AROUND_METRES = 10_000;

interface Minotor {
  GtfsParser: new (
    path: string,
    profile: { routeTypeParser(): string },
  ) => {
    parse(day: Date): Promise<{ timetable: object; stopsIndex: { findStopById(id: string): object | undefined } }>;
  };
  Router: new (
    timetable: object,
    stops: object,
  ) => {
    route(query: object): {
      arrivalAt(stop: string | number): { time: { toSeconds(): number } } | undefined;
      bestRoute(): object;
    };
  };
  Query: { Builder: new () => MinotorQuery };
  Time: { fromSeconds(seconds: number): object };
}
interface MinotorQuery {
  from(stop: string | number): MinotorQuery;
  to(stop: string | number): MinotorQuery;
  departureTime(time: object): MinotorQuery;
  maxTransfers(changes: number): MinotorQuery;
  build(): object;
}

print(describeMachine());
if (!(FILE_IDS as readonly string[]).includes(file)) throw new Error(`the timetable has no file ${file}`);
const builder = new TimetableBuilder(() => {});
builder.add(await loadScheduleFile(zip, file as FileId));
const timetable = new Timetable(builder.finish({ importedAt: Date.now() }));
const { stopCount, sections } = timetable;

const dayNumber = toDayNumber(day) as number;
const midnight = serviceDayStart(dayNumber);
const all = (count: number) => new Uint8Array(count).fill(1);
const footpaths: Footpaths = {
  first: new Int32Array(stopCount + 1),
  targets: new Int32Array(0),
  seconds: new Int32Array(0),
};
const planners = createPlanners(timetable, footpaths, { trips: all(timetable.tripCount), stops: all(stopCount) });
const now = midnight + 4 * HOUR_MS;
const { planner } = planners.open({ at: now, now });

const theirs = await openMinotor();

let state = Number(seed);
/** Mulberry32. */
function random(below: number): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
}

const served = Array.from({ length: stopCount }, (_, stop) => stop).filter(
  // A platform would make a search from all of its station in minotor.
  (stop) =>
    timetable.patternsAt(stop).length > 0 &&
    (sections.stopParent[stop] as number) < 0 &&
    distanceMetres([sections.stopLat[stop] as number, sections.stopLng[stop] as number], CENTRAL) < AROUND_METRES,
);
const ms = { ours: [] as number[], theirs: [] as number[] };
const counts = { same: 0, oursEarlier: 0, theirsEarlier: 0, none: 0 };
for (let pair = -WARM_UP; pair < Number(pairs); pair++) {
  const from = served[random(served.length)] as number;
  const to = served[random(served.length)] as number;
  const at = 6 * 3600 + random(14 * 60) * 60;
  if (from === to) continue;
  // In turn, so that neither always finds the caches of the processor cold.
  const searches = [() => searchOurs(from, to, at), () => searchTheirs(from, to, at)];
  const isSwapped = pair % 2 === 0;
  const first = (isSwapped ? searches[1] : searches[0])?.();
  const second = (isSwapped ? searches[0] : searches[1])?.();
  const [our, their] = (isSwapped ? [second, first] : [first, second]) as [Result, Result];
  if (pair < 0) continue;
  ms.ours.push(our.ms);
  ms.theirs.push(their.ms);
  // minotor knows the runs of one day only.
  const isToday = our.arrivesAt < SECONDS_OF_DAY || their.arrivesAt < NEVER;
  if (!isToday) counts.none++;
  else if (our.arrivesAt === their.arrivesAt) counts.same++;
  else if (our.arrivesAt < their.arrivesAt) counts.oursEarlier++;
  else counts.theirsEarlier++;
}
const [ours50, theirs50] = [median(ms.ours), median(ms.theirs)];
const [ours95, theirs95] = [percentile(ms.ours, 0.95), percentile(ms.theirs, 0.95)];
print(`processor time in ms, ${ms.ours.length} pairs    p50      p95`);
for (const [name, p50, p95] of [
  ['ours', ours50, ours95],
  [`minotor ${VERSION}`, theirs50, theirs95],
] as const)
  print(`${name.padEnd(32)}${p50.toFixed(2).padStart(7)}${p95.toFixed(2).padStart(9)}`);
print(`ratio${(ours50 / theirs50).toFixed(3).padStart(34)}${(ours95 / theirs95).toFixed(3).padStart(9)}`);
print(`arrivals: ${JSON.stringify(counts)}`);
hold('ours takes at most a tenth of the time, p50', ours50 <= 0.1 * theirs50);
hold('no arrival is later than that of minotor', counts.theirsEarlier === 0);

interface Result {
  ms: number;
  /** In seconds since the start of the day; `NEVER` if there is no journey. */
  arrivesAt: number;
}

function timed(search: () => number): Result {
  const before = process.threadCpuUsage();
  const arrivesAt = search();
  const { user, system } = process.threadCpuUsage(before);
  return { ms: (user + system) / 1000, arrivesAt };
}

function searchOurs(from: number, to: number, at: number): Result {
  return timed(() => {
    const request = {
      access: [{ stop: from, seconds: 0 }],
      footpaths,
      at,
      latest: at + SECONDS_OF_DAY,
      modes: 0xff,
      isWheelchair: false,
      maxRides: MAX_RIDES,
      changeSeconds: 0,
    };
    const egress = [{ stop: to, seconds: 0 }];
    const { arrived } = planner.spread({ ...request, ends: [{ egress, walked: NEVER }] });
    const arrivesAt = arrived[MAX_RIDES * stopCount + to] as number;
    if (arrivesAt < NEVER) planner.leaveLast(request, egress, arrivesAt);
    return arrivesAt;
  });
}

function searchTheirs(from: number, to: number, at: number): Result {
  const { Query, Time, router } = theirs;
  // It reads values that look like numbers as such.
  const idOf = (stop: number) => {
    const { id } = timetable.stop(stop);
    return /^[1-9]\d*$/.test(id) ? Number(id) : id;
  };
  const query = new Query.Builder()
    .from(idOf(from))
    .to(idOf(to))
    .departureTime(Time.fromSeconds(at))
    .maxTransfers(MAX_RIDES - 1)
    .build();
  return timed(() => {
    const result = router.route(query);
    const arrival = result.arrivalAt(idOf(to));
    if (arrival) result.bestRoute();
    return arrival?.time.toSeconds() ?? NEVER;
  });
}

async function openMinotor() {
  const folder = mkdtempSync(join(tmpdir(), 'minotor-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    execFileSync('npm', ['install', `minotor@${VERSION}`, '--no-audit', '--no-fund', '--silent'], { cwd: folder });
    const load = async (name: string) =>
      import(pathToFileURL(join(folder, 'node_modules/minotor/dist', name)).href) as Promise<Minotor>;
    const [{ GtfsParser }, { Router, Query, Time }] = [await load('parser.esm.js'), await load('router.esm.js')];
    // Its own list of route types lacks the extended ones.
    const parser = new GtfsParser(zip, { routeTypeParser: () => 'BUS' });
    const { timetable: routes, stopsIndex } = await parser.parse(new Date(midnight + 12 * HOUR_MS));
    return { Query, Time, router: new Router(routes, stopsIndex) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

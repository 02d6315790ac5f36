import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BoardRequest } from '#src/boards/pager.ts';
import { getScheduledBoard } from '#src/boards/scheduled.ts';
import { MINUTE_MS } from '#src/core/clock.ts';
import { createIdSigner } from '#src/core/signer.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import type { FindContext } from '#src/operations/operation.ts';
import { createTripsOperation } from '#src/operations/trips/operation.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { FailedDownload } from '#src/timetable/update/download.ts';
import { openNewest } from '#src/timetable/update/folder.ts';
import { noTimetable } from '#src/timetable/update/keep-current.ts';
import { updateTimetable } from '#src/timetable/update/update.ts';
import { MODES } from '#src/transit/mode.ts';
import { createInlineEngine } from '#test/support/inline-engine.ts';
import { describeMachine, hold, print } from './machine.ts';
import {
  CLOCK_NIGHTS,
  dateOf,
  dayOf,
  FILES,
  FIRST_DAY,
  fileOf,
  idOf,
  lastDayOf,
  latestAcceptableArrival,
  momentOf,
  PLACES,
  placeOf,
  publish,
  type Run,
  runsOn,
  type YearFile,
} from './year/city.ts';

/*
 * A year of service days: each night three files are published with moved identifiers and imported by the updater, and each day
 * boards and journeys are compared with an independent reading of the city. `nice node bench/year.ts [days] [seed] [first day]`
 */
const [days = '365', seed = '1', from = dateOf(FIRST_DAY)] = process.argv.slice(2);
const firstDay = dayOf(from.replace(/^(....)(..)(..)$/, '$1-$2-$3'));
const BOARDS_A_DAY = 12;
const JOURNEYS_A_DAY = 4;
const DAY_SECONDS = 86_400;
/** In the nights of clock changes everything is compared more often. */
const CLOCK_NIGHT_FACTOR = 8;

/** What goes wrong in a night: the file is late, unreachable, or has a third of its trips. */
type Mishap = 'late' | 'unreachable' | 'broken';
const MISHAPS: readonly { file: YearFile; from: string; nights: number; kind: Mishap }[] = [
  { file: 'sydneytrains', from: '2026-12-20', nights: 12, kind: 'late' },
  // The change of the timetable is announced while the file is late.
  { file: 'buses', from: '2027-01-20', nights: 30, kind: 'late' },
  { file: 'sydneytrains', from: '2027-02-13', nights: 3, kind: 'broken' },
  { file: 'sydneyferries', from: '2027-04-01', nights: 5, kind: 'unreachable' },
  // Longer than the file lasts.
  { file: 'sydneytrains', from: '2027-07-01', nights: 40, kind: 'late' },
  { file: 'buses', from: '2027-10-01', nights: 4, kind: 'unreachable' },
];
const mishapOf = (file: YearFile, day: number) =>
  day === firstDay
    ? undefined
    : MISHAPS.find((one) => one.file === file && day >= dayOf(one.from) && day < dayOf(one.from) + one.nights)?.kind;

let state = Number(seed);
/** Mulberry32. */
function random(below: number): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
}

const counts = {
  updates: 0,
  boards: 0,
  departures: 0,
  uncovered: 0,
  journeys: 0,
  rides: 0,
  earlier: 0,
  none: 0,
  ids: 0,
};
const wrong = new Map<string, string[]>();
function differ(what: string, example: string): void {
  const examples = wrong.get(what) ?? [];
  wrong.set(what, examples);
  examples.push(example);
}

const folder = mkdtempSync(join(tmpdir(), 'year-'));
const inUse: Record<YearFile, number> = { sydneytrains: 0, sydneyferries: 0, buses: 0 };
const startedAt = performance.now();
print(describeMachine());
try {
  for (let day = firstDay; day < firstDay + Number(days); day++) {
    const before = { ...inUse };
    const timetable = await update(day);
    await compareDay(day, timetable);
    compareIds(day, timetable, before);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const seconds = (performance.now() - startedAt) / 1000;
print(`${days} days in ${(seconds / 60).toFixed(1)} min: ${JSON.stringify(counts)}`);
for (const [what, examples] of wrong) print(`${what}: ${examples.length}, such as ${examples.slice(0, 3).join('; ')}`);
hold('every board, journey and update agrees with the independent reading', wrong.size === 0);

/** Publishes the files of a night and imports them at 03:00. */
async function update(day: number): Promise<Timetable> {
  const fileAt = (path: string) => FILES.find((file) => SCHEDULE_FILES[file].path === path) as YearFile;
  const outcomes = await updateTimetable({
    folder,
    source: {
      async fetch(path, to) {
        const file = fileAt(path);
        const mishap = mishapOf(file, day);
        if (mishap === 'late') return null;
        if (mishap === 'unreachable') throw new FailedDownload('unreachable', 'nobody answers');
        writeFileSync(to, publish(file, day, mishap === 'broken' ? 1 / 3 : 1));
        return { lastModified: String(day) };
      },
    },
    wanted: FILES,
    isBundleLast: false,
    hasTimetable: day > firstDay,
    now: () => momentOf(day, 3 * 3600),
    log: { info() {}, warn() {}, error() {} },
  });
  const EXPECTED = { late: 'unchanged', unreachable: 'failed', broken: 'refused', none: 'imported' } as const;
  for (const { id, outcome, problem } of outcomes ?? []) {
    const expected = EXPECTED[mishapOf(id as YearFile, day) ?? 'none'];
    counts.updates++;
    if (outcome !== expected) differ('update', `${dateOf(day)} ${id}: ${outcome} (${problem}), not ${expected}`);
    if (expected === 'imported') inUse[id as YearFile] = day;
  }
  return (await openNewest(folder)) as Timetable;
}

async function compareDay(day: number, timetable: Timetable): Promise<void> {
  const runs = [-1, 0, 1].flatMap((after) => runsOn(day + after, inUse));
  const live = new LiveTimetable(timetable);
  const isClockNight = CLOCK_NIGHTS.includes(day);
  // From the import on. A night of a clock change is the one before 04:00 of the next day.
  const moments = (each: number) =>
    Array.from({ length: each * (isClockNight ? CLOCK_NIGHT_FACTOR : 1) }, (_, at) => {
      const isNight = isClockNight && at % 2 === 0;
      return momentOf(day, 3 * 3600 + (isNight ? 19 * 3600 + random(9 * 3600) : random(DAY_SECONDS)));
    });
  for (const moment of moments(BOARDS_A_DAY)) compareBoard(moment, { day, timetable, live, runs });
  const engines = createInlineEngine(timetable);
  for (const moment of moments(JOURNEYS_A_DAY)) {
    const now = moment;
    const journeys = timetableJourneys({
      timetable: { ...noTimetable, get: () => timetable },
      engines,
      feeds: null,
      now: () => now,
    });
    const trips = createTripsOperation({
      stops: { get: () => null },
      journeys: { fetch: (query) => journeys.fetch(query) },
    });
    await compareJourney(moment, runs, trips);
  }
}

type Days = { day: number; timetable: Timetable; live: LiveTimetable; runs: readonly Run[] };

function compareBoard(now: number, { timetable, live, runs }: Days): void {
  const place = PLACES[random(PLACES.length)] as string;
  const stop = timetable.findStop(place);
  if (stop === null) {
    differ('stop', place);
    return;
  }
  const from = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const lastDay = lastDayOf(fileOf(place), inUse[fileOf(place)]);
  const isCovered = timetable.covers(timetable.boardStops(stop), now, now + 30 * MINUTE_MS);
  const label = `${new Date(now).toISOString()} ${place}`;
  if (!isCovered) {
    counts.uncovered++;
    if (now < momentOf(lastDay, DAY_SECONDS) - 30 * MINUTE_MS) differ('covered, but said not to be', label);
    return;
  }
  if (now > momentOf(lastDay, DAY_SECONDS)) {
    differ('not covered, but said to be', label);
    return;
  }
  const request: BoardRequest = {
    queryUpstream: () => Promise.reject(new Error('no upstream call is expected')),
    request: { kind: 'departureMonitor', stopId: place, modes: MODES, at: null },
    limit: 12,
    showsCancelled: false,
    isWanted: () => true,
  };
  const { departures } = getScheduledBoard(request, null, { live, stop, now });
  const shown = departures.map(({ plannedAt, runId }) => `${new Date(plannedAt).toISOString()} ${runId}`);
  const last = departures.at(-1)?.plannedAt ?? 0;
  const expected = runs.flatMap((run) =>
    run.calls
      .slice(0, -1)
      .filter((call) => placeOf(call.stop) === place && call.at >= from)
      .map(({ at }) => ({ at, text: `${new Date(at).toISOString()} ${run.id}` })),
  );
  counts.boards++;
  counts.departures += shown.length;
  // The runs of three service days are enough for twelve departures unless nothing runs.
  const missing = expected.filter(({ at, text }) => at < last && !shown.includes(text));
  const surplus = shown.filter((text, at) => {
    const isCompared = (departures[at]?.plannedAt ?? 0) < momentOf(dayOfMoment(now) + 1, 3 * 3600);
    return isCompared && !expected.some((one) => one.text === text);
  });
  if (missing[0]) differ('departure missing', `${label}: ${missing[0].text}`);
  if (surplus[0]) differ('departure that does not run', `${label}: ${surplus[0]}`);
}

async function compareJourney(
  now: number,
  runs: readonly Run[],
  trips: ReturnType<typeof createTripsOperation>,
): Promise<void> {
  const from = PLACES[random(PLACES.length)] as string;
  const to = PLACES[random(PLACES.length)] as string;
  if (from === to) return;
  const label = `${new Date(now).toISOString()} ${from} to ${to}`;
  const at = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const context = { ids: createIdSigner(['made-up']), now: () => now } as unknown as FindContext;
  const expected = latestAcceptableArrival(runs, from, to, at);
  const response = await trips
    .handle(trips.query.parse({ from, to, limit: '6' }), context)
    .catch((error: Error) => error);
  if (response instanceof Error) {
    counts.none++;
    const isCovered = [from, to].every(
      (place) => now < momentOf(lastDayOf(fileOf(place), inUse[fileOf(place)]), 20 * 3600),
    );
    if (expected !== null && isCovered)
      differ('no journey', `${label}: ${response.message}, one arrives ${new Date(expected).toISOString()}`);
    return;
  }
  const { journeys } = response.body;
  counts.journeys += journeys.length;
  const arrivals = journeys.map(({ arrives_at }) => Date.parse(arrives_at));
  // In a list, one more change must save a minute.
  if (expected !== null && Math.min(...arrivals) > expected + MINUTE_MS) {
    differ(
      'later than possible',
      `${label}: ${new Date(Math.min(...arrivals)).toISOString()}, not ${new Date(expected).toISOString()}`,
    );
  } else if (expected !== null && Math.min(...arrivals) < expected) counts.earlier++;
  for (const { legs } of journeys) {
    let since = at;
    for (const { mode, route, origin, destination } of legs) {
      const [leaves, arrives] = [Date.parse(origin.departs_at), Date.parse(destination.arrives_at)];
      if (leaves < since) differ('leg before the one before it', label);
      since = arrives;
      if (mode === 'walk') continue;
      counts.rides++;
      const isReal = runs.some(({ trip, calls }) => {
        const on = calls.findIndex((call) => call.stop === origin.stop_id && call.at === leaves);
        const off = calls.findIndex((call) => call.stop === destination.stop_id && call.at === arrives);
        return trip.line.name === route && on >= 0 && off > on;
      });
      const isCompared = arrives < momentOf(dayOfMoment(now) + 1, 3 * 3600);
      if (isCompared && !isReal) differ('ride that does not run', `${label}: ${route} at ${origin.departs_at}`);
    }
  }
}

/** A run of today is found by the identifier of the publication before, if its file dates identifiers or keeps them. */
function compareIds(day: number, timetable: Timetable, before: Readonly<Record<YearFile, number>>): void {
  for (const file of FILES) {
    if (before[file] === 0 || before[file] === inUse[file]) continue;
    const run = runsOn(day, inUse).find(({ trip }) => trip.line.file === file);
    if (!run) continue;
    counts.ids++;
    const found = timetable.listTripsBetween(idOf(run.trip, before[file]), [file]);
    const isFound = found.some((trip) => timetable.runsOn(trip, day) && timetable.trip(trip).tripId === run.id);
    if (isFound !== (file !== 'sydneytrains')) differ('identifier of yesterday', `${dateOf(day)} ${run.id}`);
  }
}

function dayOfMoment(moment: number): number {
  let day = Math.floor(moment / (DAY_SECONDS * 1000));
  while (momentOf(day + 1, 0) <= moment) day++;
  return day;
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MINUTE_MS } from '../clock.ts';
import type { DeparturePage } from '../efa/departure-page.ts';
import { buildTimetable } from '../timetable/import/builder.ts';
import { readScheduleFile } from '../timetable/import/read-file.ts';
import type { FileId } from '../timetable/schedule-files.ts';
import { Timetable } from '../timetable/timetable.ts';
import { type Departure, isCancelled } from '../transit/departure.ts';

/** A timetable made of one zip of the schedule. Throws `UnreadableFile`, or the error of a broken zip. */
export async function openScheduleFile(zip: Buffer, id: FileId, now: number): Promise<Timetable> {
  const folder = await mkdtemp(join(tmpdir(), 'transit-check-'));
  try {
    const path = join(folder, 'schedule.zip');
    await writeFile(path, zip);
    return new Timetable(buildTimetable([await readScheduleFile(path, id)], { importedAt: now }));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The stations with most departures within this time, the busiest first. */
export function busiestStations(timetable: Timetable, from: number, until: number, count: number): number[] {
  const stations = new Set(Array.from({ length: timetable.stopCount }, (_, stop) => timetable.stationOf(stop)));
  const departures = (stop: number) => timetable.departures(timetable.boardStops(stop), from, until).length;
  return [...stations]
    .map((stop) => ({ stop, departures: departures(stop) }))
    .filter((station) => station.departures > 0)
    .sort((one, other) => other.departures - one.departures)
    .slice(0, count)
    .map(({ stop }) => stop);
}

type Line = Pick<Departure, 'runId' | 'plannedAt' | 'platform' | 'route'>;

/** How many departures of a page of the departure monitor agree with the timetable in run, minute, platform and route; and each that does not. */
export function comparePage(timetable: Timetable, stop: number, page: DeparturePage) {
  const stops = timetable.boardStops(stop);
  const ours = timetable.departures(stops, page.from, page.until, { modes: page.modes }).map((ref): Line => {
    const { tripId: runId, route } = timetable.trip(ref.trip);
    const call = timetable.calls(ref.trip, ref.day)[ref.position];
    // The departure monitor cuts seconds off.
    const plannedAt = Math.floor(ref.plannedAt / MINUTE_MS) * MINUTE_MS;
    return { runId, plannedAt, platform: call ? timetable.stop(call.stop).platform : null, route };
  });
  const left = new Set(ours);
  const differences: string[] = [];
  let compared = 0;
  for (const departure of page.departures) {
    const { runId, plannedAt } = departure;
    if (plannedAt < page.from || plannedAt >= page.until) continue;
    const same = [...left].filter((one) => one.runId === runId);
    const own = same.find((one) => one.plannedAt === plannedAt) ?? same[0];
    // A cancelled run may have left the schedule already.
    if (!own && isCancelled(departure)) continue;
    compared++;
    if (own) left.delete(own);
    const isSame = own && COMPARED.every((field) => own[field] === departure[field]);
    if (!isSame) differences.push(`${inWords(departure)} is ${own ? inWords(own) : 'not'} in the file`);
  }
  for (const own of left) differences.push(`${inWords(own)} is not on the board`);
  compared += left.size;
  return { compared, agreed: compared - differences.length, differences };
}

const COMPARED = ['plannedAt', 'platform', 'route'] as const;

function inWords({ route, plannedAt, platform, runId }: Line): string {
  return `${route} at ${new Date(plannedAt).toISOString().slice(11, 16)} UTC from ${platform ?? 'no platform'} (run ${runId ?? 'unknown'})`;
}

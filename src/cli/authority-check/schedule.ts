import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTimetable } from '../../timetable/import/builder.ts';
import { readScheduleFile } from '../../timetable/import/read-file.ts';
import type { FileId } from '../../timetable/schedule-files.ts';
import { Timetable } from '../../timetable/timetable.ts';

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

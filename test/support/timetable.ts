import { TimetableBuilder } from '#src/timetable/import/builder.ts';
import type { ScheduleFile } from '#src/timetable/import/schedule-file.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import { type CurrentTimetable, noTimetable } from '#src/timetable/update/keep-current.ts';

/** Builds the timetable from these files. A generator can read each one when it is needed. */
export function buildTimetable(
  files: Iterable<ScheduleFile>,
  { writePath, ...about }: { importedAt: number; writePath?: ConstructorParameters<typeof TimetableBuilder>[0] },
): SharedArrayBuffer {
  const builder = new TimetableBuilder(writePath);
  for (const file of files) builder.add(file);
  return builder.finish(about);
}

/** The timetable of these files, imported on 26 November 2026 unless a time is given. */
export function timetableOf(...files: ScheduleFile[]): Timetable {
  return new Timetable(buildTimetable(files, { importedAt: Date.parse('2026-11-26T00:00:00Z') }));
}

/** The timetable as a service holds it. */
export function currentOf(timetable: Timetable): CurrentTimetable {
  return { ...noTimetable, get: () => timetable };
}

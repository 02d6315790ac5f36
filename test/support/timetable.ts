import { TimetableBuilder } from '#src/timetable/import/builder.ts';
import type { ScheduleFile } from '#src/timetable/import/schedule-file.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import { type CurrentTimetable, noTimetable } from '#src/timetable/update/keep-current.ts';
import { datesFrom, scheduleFile } from './schedule-file.ts';

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

/** One bus from stop 1 to stop 2, at 08:10, on 25 to 27 November 2026. */
export const ONE_BUS = scheduleFile('buses', {
  stops: [
    { id: '1', lat: -33, lng: 150 },
    { id: '2', lat: -34, lng: 150 },
  ],
  trips: [
    {
      id: 'only',
      days: datesFrom('20261125', '20261127'),
      calls: [
        ['1', '08:10'],
        ['2', '08:40'],
      ],
    },
  ],
});

/** The timetable as a service holds it. */
export function currentOf(timetable: Timetable): CurrentTimetable {
  return { ...noTimetable, get: () => timetable };
}

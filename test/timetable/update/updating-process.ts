import { folderSource } from '#src/timetable/update/download.ts';
import { updateTimetable } from '#src/timetable/update/update.ts';

const log = { info() {}, warn() {}, error() {} };

/** Updates the folder from another one, with only the Metro file to save time. */
export function updateFrom(folder: string, from: string) {
  const about = { wanted: ['metro'], isBundleLast: false, hasTimetable: true, now: Date.now, log } as const;
  return updateTimetable({ ...about, folder, source: folderSource(from) });
}

if (import.meta.main) {
  const [folder = '', from = ''] = process.argv.slice(2);
  await updateFrom(folder, from);
}

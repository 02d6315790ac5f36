import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkIndex } from '#sandbox/network/network-index.ts';
import { createSchedule, isSchedule } from '#sandbox/schedule/schedule.ts';
import { loadScheduleFile } from '#src/timetable/import/read-file.ts';
import { FILE_IDS, SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import { buildTimetable } from './timetable.ts';

/** The timetable of the sandbox as the service imports it at `now`, in milliseconds since 1970. */
export async function importSandbox(network: NetworkIndex, now: number): Promise<Timetable> {
  const publish = createSchedule(network);
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-timetable-'));
  const ids = FILE_IDS.filter((id) => isSchedule(SCHEDULE_FILES[id].path));
  const files = ids.map(async (id) => {
    const path = join(folder, `${id.replaceAll('/', '-')}.zip`);
    writeFileSync(path, (await publish(SCHEDULE_FILES[id].path, now / 1000)).zip);
    return loadScheduleFile(path, id);
  });
  const read = await Promise.all(files);
  rmSync(folder, { recursive: true });
  return new Timetable(buildTimetable(read, { importedAt: now }));
}

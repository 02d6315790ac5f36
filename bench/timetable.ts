import { existsSync } from 'node:fs';
import { DAY_MS, HOUR_MS } from '#src/core/clock.ts';
import { TimetableBuilder } from '#src/timetable/import/builder.ts';
import { loadScheduleFile } from '#src/timetable/import/read-file.ts';
import { FILE_IDS, SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import { serviceDayStart, toDayNumber } from '#src/timetable/service-day.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import { describeMachine, print } from './machine.ts';
import { median } from './percentiles.ts';

/*
 * Imports the zips in a directory, laid out as upstream's paths, and measures boards from them.
 * `node --max-old-space-size=192 bench/timetable.ts DIR [STOP]`
 */
const MEGABYTE = 1024 * 1024;
const [directory = '.', stopId = '200060'] = process.argv.slice(2);
const seconds = (sinceMs: number) => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;

print(describeMachine());
const startedAt = performance.now();
let pathBytes = 0;
const builder = new TimetableBuilder((record) => {
  pathBytes += record.byteLength;
});
for (const id of FILE_IDS) {
  const path = `${directory}${SCHEDULE_FILES[id].path}.zip`;
  if (existsSync(path)) builder.add(await loadScheduleFile(path, id));
}
const packed = builder.finish({ importedAt: Date.now() });
const peak = (process.resourceUsage().maxRSS / 1024).toFixed(0);
print(
  `import ${seconds(startedAt)}, peak ${peak} MB, file ${(packed.byteLength / MEGABYTE).toFixed(1)} MB, paths ${(pathBytes / MEGABYTE).toFixed(1)} MB`,
);

const openedAt = performance.now();
const timetable = new Timetable(packed);
print(
  `opened in ${(performance.now() - openedAt).toFixed(1)} ms: ${timetable.stopCount} stops, ${timetable.tripCount} trips`,
);

const stop = timetable.findStop(stopId);
if (stop === null) throw new Error(`no stop ${stopId}`);
const firstDay = toDayNumber(timetable.files[0]?.firstDay ?? '') ?? 0;
const from = serviceDayStart(firstDay) + DAY_MS + 8 * HOUR_MS;
const stops = timetable.boardStops(stop);
const find = () => timetable.departures(stops, from, from + 3 * HOUR_MS);
for (let run = 0; run < 1000; run++) find();
const times = Array.from({ length: 2000 }, () => {
  const began = performance.now();
  find();
  return performance.now() - began;
});
print(
  `${timetable.stop(stop).name}: ${find().length} departures in three hours, median ${median(times).toFixed(3)} ms`,
);

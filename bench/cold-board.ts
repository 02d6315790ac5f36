import type { BoardRequest } from '#src/boards/pager.ts';
import { getScheduledBoard } from '#src/boards/scheduled.ts';
import { departuresOperation } from '#src/operations/departures/operation.ts';
import { parseQuery } from '#src/operations/operation.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { serviceDayStart } from '#src/timetable/service-day.ts';
import { openTimetable } from '#src/timetable/update/folder.ts';
import { ids } from '#test/support/ids.ts';
import { publishRunning } from './running-vehicles.ts';

/*
 * Processor time of an uncached board of a busy stop with the NSW timetable and every running vehicle in the feeds. Boards of
 * other stops serve as warm-up.
 *
 * `node bench/cold-board.ts TIMETABLE.bin [STOP] [MOMENT]`: a file of DATA_DIR/timetable, the time in ISO 8601.
 */
const [path = '', stopId = '200060', moment = ''] = process.argv.slice(2);
const timetable = await openTimetable(path);
const now = moment === '' ? serviceDayStart(Math.floor(Date.now() / 86_400_000)) + 8.2 * 3_600_000 : Date.parse(moment);
const stop = timetable.findStop(stopId);
if (stop === null) throw new Error(`the timetable lacks ${stopId}`);

const live = new LiveTimetable(timetable, publishRunning(timetable, now));
const BOARDS = 1000;
const WARM_UP_STOPS = ['200070', '200080', '200020', '215020', '206710'];
const WARM_UP_ROUNDS = 30;
const QUERIES: Record<string, Record<string, string>> = {
  'ten departures': {},
  'fifty departures': { limit: '50' },
  'an evening ahead': { limit: '50', time: '2000' },
  'per_route=1 runs out of lines': { limit: '50', per_route: '1' },
  'routes=NONE finds nothing': { limit: '50', routes: 'NONE' },
  'to=202030, the next ten': { to: '202030' },
  'to= where nothing goes': { to: timetable.stop(timetable.stopCount - 1).id, limit: '50' },
};

process.stdout.write(`${timetable.stop(stop).name}, ${new Date(now).toISOString()}, ${timetable.tripCount} trips\n`);
const context = {
  queryUpstream: notCalled,
  boards: { fetch: findBoard, count() {} },
  runs: {} as never,
  now: () => now,
  ids,
  run: notCalled,
};
const parse = (stop: string, query: object) => parseQuery(departuresOperation, { stop, modes: 'all', ...query });

for (let round = 0; round < WARM_UP_ROUNDS; round++) {
  for (const query of Object.values(QUERIES)) {
    for (const other of WARM_UP_STOPS) await departuresOperation.handle(parse(other, query), context as never);
  }
}
for (const [name, query] of Object.entries(QUERIES)) {
  const parsed = parse(stopId, query);
  const costs = { board: 0, json: 0 };
  let count = 0;
  for (let n = 0; n < BOARDS; n++) {
    const start = process.threadCpuUsage();
    const { body } = await departuresOperation.handle(parsed, context as never);
    const found = process.threadCpuUsage(start);
    JSON.stringify(body);
    const written = process.threadCpuUsage(start);
    count = body.departures.length;
    costs.board += found.user + found.system;
    costs.json += written.user + written.system - found.user - found.system;
  }
  const [board, json] = [costs.board / BOARDS, costs.json / BOARDS];
  process.stdout.write(`${name}: ${count} departures, ${board.toFixed(0)} µs; JSON ${json.toFixed(0)} µs\n`);
}

async function findBoard(request: BoardRequest) {
  const found = timetable.findStop(request.request.stopId) as number;
  const at = request.request.at && now + 12 * 3_600_000;
  const board = getScheduledBoard(request, at, { live, stop: found, now });
  const freshness = { retrievedAt: now, freshUntil: now, staleUntil: now, source: 'cache', shortage: null } as const;
  return { ...board, freshness, origin: { source: 'timetable' as const } };
}

function notCalled(): never {
  throw new Error('no upstream call is expected');
}

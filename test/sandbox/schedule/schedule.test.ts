import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { departureResponse } from '#sandbox/responses/departure-response.ts';
import { createSchedule, isSchedule } from '#sandbox/schedule/schedule.ts';
import { mapPage } from '#src/efa/departure-page.ts';
import { parseResponse } from '#src/efa/request.ts';
import { loadScheduleFile } from '#src/timetable/import/read-file.ts';
import { FILE_IDS, SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import type { Departure } from '#src/transit/departure.ts';
import { MODES } from '#src/transit/mode.ts';
import { UNKNOWN_ACCESS } from '#src/transit/vehicle-access.ts';
import { buildTimetable } from '#test/support/timetable.ts';
import { network } from '../feeds/played-day.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'sandbox-schedule-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The schedule of the sandbox as imported by the service. */
async function importedAt(now: number): Promise<Timetable> {
  const publish = createSchedule(network);
  const ids = FILE_IDS.filter((id) => isSchedule(SCHEDULE_FILES[id].path));
  const files = [];
  for (const id of ids) {
    const path = join(folder, `${id.replaceAll('/', '-')}.zip`);
    writeFileSync(path, (await publish(SCHEDULE_FILES[id].path, now / 1000)).zip);
    files.push(await loadScheduleFile(path, id));
  }
  expect(files.flatMap(({ report }) => Object.entries(report.leftOut))).toEqual([]);
  return new Timetable(buildTimetable(files, { importedAt: now }));
}

/** The fields of a departure that the timetable has. */
type Known = Pick<
  Departure,
  'runId' | 'stopId' | 'mode' | 'route' | 'destination' | 'platform' | 'plannedAt' | 'access'
> & { origin?: string | null; isStopAccessible: boolean };

/** The schedule has no groups of street stops, so each pole has its own board. */
const isPole = (stopId: string) => network.pointById.get(stopId)?.home.id.startsWith('G') === true;

/** Everything that the departure monitor lists in a period, read page by page like a caller. */
async function monitorBoard(
  stopId: string,
  { from, until, isArrival }: { from: number; until: number; isArrival: boolean },
): Promise<string[]> {
  const found = new Map<string, string>();
  // Without date and time, because a wall clock is ambiguous when clocks change.
  for (let at = from; at < until; ) {
    const request = { kind: 'departureMonitor', stopId, modes: MODES, at: null, isArrival } as const;
    const query = new URLSearchParams({ name_dm: stopId, mode: 'direct', depArrMacro: isArrival ? 'arr' : 'dep' });
    if (isPole(stopId)) query.set('nameKey_dm', '$USEPOINT$');
    const payload = parseResponse(request, departureResponse(network, query, at / 1000));
    const { departures } = await mapPage(request, { payload, retrievedAt: at });
    for (const { key, ...departure } of departures) {
      if (departure.plannedAt < until) found.set(`${key} ${departure.plannedAt}`, rowOf(knownOf(departure)));
    }
    const last = departures.at(-1)?.plannedAt ?? at + 24 * HOUR_MS;
    at = last > at ? last : at + MINUTE_MS;
  }
  return [...found.values()];
}

function knownOf(departure: Omit<Departure, 'key'>): Known {
  const { runId, stopId, mode, route, destination, platform, plannedAt, access } = departure;
  const isStopAccessible = departure.isStopAccessible === true;
  const { origin } = departure;
  const known = { runId, stopId, mode, route, destination, platform, plannedAt };
  return { ...known, access, isStopAccessible, ...(origin !== undefined && { origin }) };
}

/** The same departures from the timetable. */
function timetableBoard(
  timetable: Timetable,
  stopId: string,
  { from, until, isArrival }: { from: number; until: number; isArrival: boolean },
): string[] {
  const stops = timetable.boardStops(timetable.findStop(stopId) ?? -1);
  const refs = timetable.departures(stops, from, until, { isArrival });
  return refs.map(({ trip: index, day, position, plannedAt }) => {
    const { file, tripId, mode, route, isWheelchairAccessible } = timetable.trip(index);
    const calls = timetable.calls(index, day);
    const [first, call] = [calls[0], calls[position]];
    const stop = timetable.stop(call?.stop ?? -1);
    return rowOf({
      // IDs of the bundle are used nowhere else.
      runId: file === 'complete' ? null : tripId,
      stopId: stop.id,
      mode,
      route,
      destination: call?.headsign ?? '',
      platform: stop.platform,
      // Boards round planned times down to the minute.
      plannedAt: plannedAt - (plannedAt % MINUTE_MS),
      access: { ...UNKNOWN_ACCESS, wheelchairs: isWheelchairAccessible },
      isStopAccessible: stop.isWheelchairAccessible === true,
      ...(isArrival && { origin: timetable.stop(timetable.stationOf(first?.stop ?? -1)).name }),
    });
  });
}

function rowOf({ plannedAt, ...known }: Known): string {
  return JSON.stringify([new Date(plannedAt), ...Object.values(known)]);
}

/** Central, Circular Quay, a wharf, light rail, Newcastle, a street pole, a school, Merimbula. */
const STOPS = ['200060', '200020', '209573', '203294', '99003001', '201643', '212110', '99006002'];

it.each([
  ['an ordinary weekend', '2026-11-20T21:00:00Z'],
  ['the night in which the clocks go back', '2027-04-03T03:00:00Z'],
  ['the night in which the clocks go forward', '2026-10-02T21:00:00Z'],
])('the schedule of the sandbox gives the same boards as its departure monitor over 48 hours: %s', async (_, start) => {
  const now = Date.parse(start);
  const timetable = await importedAt(now);
  for (const stopId of STOPS.filter((id) => timetable.findStop(id) !== null)) {
    for (const isArrival of [false, true]) {
      const span = { from: now, until: now + 48 * HOUR_MS, isArrival };
      const [board, listed] = [timetableBoard(timetable, stopId, span), await monitorBoard(stopId, span)];
      const missing = listed.filter((row) => !board.includes(row)).slice(0, 5);
      const invented = board.filter((row) => !listed.includes(row)).slice(0, 5);
      expect({ stopId, isArrival, missing, invented }).toEqual({ stopId, isArrival, missing: [], invented: [] });
      expect(board).toHaveLength(listed.length);
    }
  }
});

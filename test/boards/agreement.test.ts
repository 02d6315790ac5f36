import { beforeAll, expect, it } from 'vitest';
import { network, openSandboxBoards, type SandboxBoards } from './sandbox-boards.ts';

/** 07:30 of a weekday in Sydney. */
const MORNING = '2026-11-17T20:30:00Z';
/** Central, Town Hall, Circular Quay, Parramatta, Manly, Bondi Junction. */
const BUSY = ['200060', '200070', '200020', '215020', '209573', '202210'];
const MINUTE = 60_000;

let sandbox: SandboxBoards;
beforeAll(async () => {
  sandbox = await openSandboxBoards(MORNING);
});

/** Feeds give an added run no planned time, headsign or origin. */
const ADDED = { scheduled_at: null, destination: null, origin: null, run_id: null };
const rowsOf = (
  list: readonly { trip_id?: string | null | undefined; stop_accessible?: boolean | null | undefined }[],
) =>
  list.map((one) =>
    JSON.stringify({
      ...one,
      // Only the timetable has lines.
      line_id: null,
      occupancy: null,
      alerts: null,
      alert_ids: null,
      stop_accessible: one.stop_accessible === true,
      ...(one.trip_id?.endsWith(':X') && ADDED),
    }),
  );

it('timetable boards agree with the departure monitor on departures and arrivals', async () => {
  const others = network.stops.filter(({ isDecommissioned }) => !isDecommissioned).map(({ id }) => id);
  let live = 0;
  for (let n = 0; n < 48; n++) {
    sandbox.advanceTo(Date.parse(MORNING) + Math.floor(n / 12) * 13 * MINUTE);
    const stop = BUSY[n % 12] ?? others[(n * 37) % others.length] ?? '';
    if (sandbox.timetable.findStop(stop) === null) continue;
    const query = { stop, modes: 'all', limit: String(5 + (n % 20)), include: 'ids,access', cancelled: 'include' };
    const ours = (await sandbox.departures(query)).body;
    const theirs = (await sandbox.monitor.departures({ ...query, limit: '50' })).body;
    const [own, other] = [rowsOf(ours.departures), rowsOf(theirs.departures.slice(0, ours.departures.length))];
    expect({
      n,
      query,
      missing: other.filter((row) => !own.includes(row)),
      invented: own.filter((row) => !other.includes(row)),
    }).toEqual({
      n,
      query,
      missing: [],
      invented: [],
    });
    expect(ours.stop_name).toBe(theirs.stop_name);
    const arriving = (await sandbox.arrivals(query)).body.arrivals;
    const listed = (await sandbox.monitor.arrivals({ ...query, limit: '50' })).body.arrivals;
    // The timetable has no suburbs. A vehicle due within this minute may already have arrived.
    const planned = (list: typeof listed) =>
      rowsOf(
        list
          .filter((one) => one.minutes_away > 1 && !one.trip_id?.endsWith(':X'))
          .map((one) => ({ ...one, origin: one.origin?.split(', ')[0] ?? null })),
      );
    expect(planned(arriving).filter((row) => !planned(listed).includes(row))).toEqual([]);
    live += ours.departures.filter(({ is_live }) => is_live).length;
  }
  expect(live).toBeGreaterThan(100);
});

import { expect, it } from 'vitest';
import { openSandboxBoards } from './sandbox-boards.ts';

/** 07:30 of a weekday in Sydney. */
const MORNING = Date.parse('2026-11-17T20:30:00Z');
/** Central, Circular Quay, Parramatta, Manly, Bondi Junction. */
const STOPS = ['200060', '200020', '215020', '209573', '202210'];

it('timetable runs agree with the departure monitor', async () => {
  const sandbox = await openSandboxBoards(new Date(MORNING).toISOString());
  let [runs, calls, live] = [0, 0, 0];
  for (const [index, stop] of STOPS.entries()) {
    sandbox.advanceTo(MORNING + index * 7 * 60_000);
    const board = await sandbox.departures({ stop, modes: 'all', limit: '10', include: 'ids', cancelled: 'include' });
    for (const { run_id: id, trip_id: tripId } of board.body.departures) {
      // For a run that a feed added, the departure monitor has more fields.
      if (!id || tripId?.endsWith(':X')) continue;
      const before = sandbox.sent.length;
      const ours = (await sandbox.run({ run_id: id })).body;
      expect(sandbox.sent.length, 'calls for a run of the timetable').toBe(before);
      const theirs = (await sandbox.monitor.run({ run_id: id })).body;
      // Only the timetable has lines.
      const { calls: own, alerts: _, retrieved_at: __, position: ___, line_id: ____, ...rest } = ours;
      expect(theirs, `${stop} ${tripId}`).toMatchObject(rest);
      runs++;
      // The departure monitor lists only calls from shortly before the requested stop.
      const last = own?.slice(-(theirs.calls?.length ?? 0)) ?? [];
      for (const [position, call] of (theirs.calls ?? []).entries()) {
        const same = last[position];
        // Boards of the departure monitor have no arrival times, and name the stands of a station differently.
        const arrival = { arrives_at: same?.arrives_at, arrives_at_realtime: same?.arrives_at_realtime };
        const isStand = call.platform?.startsWith('Stand');
        // Feeds drop calls that the vehicle has passed; runs of the timetable remember them.
        const hasPassed = [call, same].some(
          (one) => Date.parse(one?.departs_at_realtime ?? one?.arrives_at_realtime ?? '') < sandbox.now(),
        );
        const listed = {
          ...call,
          ...(call.arrives_at ? {} : arrival),
          ...(isStand && { name: same?.name }),
          ...(hasPassed && {
            arrives_at_realtime: same?.arrives_at_realtime,
            departs_at_realtime: same?.departs_at_realtime,
            occupancy: same?.occupancy,
          }),
        };
        expect(listed, `${stop} ${tripId} ${position}`).toEqual(same);
        calls++;
        if (same?.departs_at_realtime) live++;
      }
    }
  }
  expect([runs > 25, calls > 200, live > 60]).toEqual([true, true, true]);
});

import { expect, it } from 'vitest';
import { board, sandboxAt, trip } from '../requests.ts';

/** The first departure from Alder to Cedar at or after a wall-clock time, on the board and in journeys. */
async function firstDepartures(now: string, itdDate: string, itdTime: string) {
  const sandbox = await sandboxAt(now);
  const { stopEvents = [] } = await board(sandbox, '2001001', { itdDate, itdTime, TfNSWDM: 'false' });
  const { journeys = [] } = await trip(sandbox, '2001001', '200300', { itdDate, itdTime, TfNSWTR: 'false' });
  await sandbox.close();
  return [stopEvents[0]?.departureTimePlanned, journeys[0]?.legs[0]?.origin.departureTimePlanned];
}

const TIMES = ['0155', '0205', '0210', '0220', '0235', '0240', '0250', '0255', '0305'];

it.each([
  ['made before the clocks change', '2026-04-04T13:00:00Z', '2026-04-04T15:'],
  ['made early in the first pass', '2026-04-04T15:05:00Z', '2026-04-04T15:'],
  ['made late in the first pass', '2026-04-04T15:55:00Z', '2026-04-04T15:'],
  ['made early in the second pass', '2026-04-04T16:05:00Z', '2026-04-04T16:'],
  ['made late in the second pass', '2026-04-04T16:55:00Z', '2026-04-04T16:'],
])('a request %s means the same pass of the repeated hour on sandbox boards and in journeys', async (_, now, pass) => {
  for (const time of TIMES) {
    const [onBoard, inJourney] = await firstDepartures(now, '20260405', time);
    expect(inJourney).toBe(onBoard);
    if (time > '0200' && time < '0245') expect(onBoard?.startsWith(pass), `${time} ${onBoard}`).toBe(true);
  }
});

it('a skipped wall-clock time in the sandbox is no later than the next existing one', async () => {
  for (const now of ['2026-10-03T13:00:00Z', '2026-10-03T15:58:00Z', '2026-10-03T16:02:00Z']) {
    const firsts: string[] = [];
    for (const time of TIMES) {
      const [onBoard = '', inJourney] = await firstDepartures(now, '20261004', time);
      expect(inJourney).toBe(onBoard);
      firsts.push(onBoard);
    }
    expect(firsts).toEqual(firsts.toSorted());
    expect(firsts[1]).toBe('2026-10-03T16:00:00Z');
    expect(firsts.at(-2)).toBe('2026-10-03T16:00:00Z');
  }
});

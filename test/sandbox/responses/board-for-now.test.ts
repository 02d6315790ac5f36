import { DateTime } from 'luxon';
import { expect, it } from 'vitest';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { board, type StopEvent, sandboxAt } from '../requests.ts';
import { SMALL_NETWORK } from '../small-network.ts';

const WEDNESDAY_8AM = Date.parse('2026-11-17T21:00:00Z');
const MINUTE = 60_000;
const PARRAMATTA = '215020';

const bestKnown = (event: StopEvent) => Date.parse(event.departureTimeEstimated ?? event.departureTimePlanned);
const isPlannedBefore = (event: StopEvent, now: number) => Date.parse(event.departureTimePlanned) < now;

/** The board for now, and the board of planned times from half an hour earlier. */
async function boardsAt(now: number, stop = '200200', network = SMALL_NETWORK) {
  const sandbox = await sandboxAt(new Date(now).toISOString(), { network });
  const before = DateTime.fromMillis(now - 30 * MINUTE, { zone: 'Australia/Sydney' });
  const at = { itdDate: before.toFormat('yyyyMMdd'), itdTime: before.toFormat('HHmm') };
  const forNow = (await board(sandbox, stop)).stopEvents ?? [];
  const byTime = (await board(sandbox, stop, at)).stopEvents ?? [];
  await sandbox.close();
  return { forNow, byTime };
}

it('a sandbox board without date and time lists what has yet to leave by best-known time, in planned order', async () => {
  const late: StopEvent[] = [];
  for (let i = 0; i < 100; i++) {
    const now = WEDNESDAY_8AM + i * 7 * MINUTE;
    const { forNow, byTime } = await boardsAt(now);
    const expected = byTime.filter((event) => bestKnown(event) >= now);
    expect(forNow.slice(0, expected.length)).toEqual(expected);
    expect(forNow).toHaveLength(40);
    late.push(...forNow.filter((event) => isPlannedBefore(event, now)));
  }
  expect(late.length).toBeGreaterThan(20);
  expect(late.some((event) => bestKnown(event) - Date.parse(event.departureTimePlanned) > 10 * MINUTE)).toBe(true);
});

it('a vehicle that left early is not on the sandbox board for now', async () => {
  const early: StopEvent[] = [];
  const network = loadNetwork();
  for (let i = 0; i < 20; i++) {
    const now = WEDNESDAY_8AM + i * 7 * MINUTE;
    const { forNow, byTime } = await boardsAt(now, PARRAMATTA, network);
    early.push(...byTime.filter((event) => !isPlannedBefore(event, now) && bestKnown(event) < now));
    expect(forNow.filter((event) => bestKnown(event) < now)).toEqual([]);
  }
  expect(early.length).toBeGreaterThan(0);
});

it('the sandbox board lists a late extra trip after its planned time, and not the cancelled trip that it replaces', async () => {
  let extra: StopEvent | undefined;
  for (let now = WEDNESDAY_8AM; extra === undefined; now += 60 * MINUTE) {
    extra = (await boardsAt(now)).forNow.find((event) => event.realtimeStatus?.includes('EXTRA_TRIP'));
  }
  const planned = Date.parse(extra.departureTimePlanned);
  const { forNow, byTime } = await boardsAt(planned + MINUTE);
  const sameTime = (event: StopEvent) =>
    event.departureTimePlanned === extra.departureTimePlanned &&
    event.transportation.destination.name === extra.transportation.destination.name;
  expect(byTime.filter(sameTime).map((event) => event.isCancelled)).toEqual([true, undefined]);
  expect(forNow.filter(sameTime)).toMatchObject([{ realtimeStatus: ['EXTRA_TRIP', 'MONITORED'] }]);
});

it('a sandbox board for now without realtime lists planned times from this minute on', async () => {
  const sandbox = await sandboxAt('2026-11-17T21:16:40Z');
  const { stopEvents = [] } = await board(sandbox, '200200', { TfNSWDM: 'false' });
  expect(stopEvents[0]?.departureTimePlanned).toBe('2026-11-17T21:21:00Z');
});

it('a sandbox board with a time lists planned times, whether vehicles have left or not', async () => {
  const sandbox = await sandboxAt('2026-11-17T21:30:00Z');
  const { stopEvents = [] } = await board(sandbox, '200200', { itdTime: '0810' });
  expect(stopEvents[0]?.departureTimePlanned).toBe('2026-11-17T21:21:00Z');
  expect(stopEvents.every((event) => event.departureTimePlanned >= '2026-11-17T21:10:00Z')).toBe(true);
});

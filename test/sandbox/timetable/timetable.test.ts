import { DateTime } from 'luxon';
import { expect, it } from 'vitest';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import { isPublished, requestedSeconds } from '#sandbox/responses/parameters.ts';
import { departureMinutes } from '#sandbox/timetable/services.ts';
import { firstRunFrom, localDay, serviceDayStart, timetableAround } from '#sandbox/timetable/timetable.ts';
import { type BoardResponse, board, sandboxAt } from '../requests.ts';
import { SMALL_NETWORK } from '../small-network.ts';

const seconds = (iso: string) => Date.parse(iso) / 1000;
const sydney = (epochSeconds: number) => DateTime.fromSeconds(epochSeconds, { zone: 'Australia/Sydney' });
const index = indexNetwork(SMALL_NETWORK);
const [trains] = index.patterns;
if (trains === undefined) throw new Error('the small network has trains');

it('a sandbox service day starts at local midnight, or twelve hours before noon when clocks change', () => {
  const start = (date: string) => sydney(serviceDayStart(seconds(`${date}T00:00:00Z`) / 86_400)).toFormat('dd HH:mm');
  expect(start('2026-11-20')).toBe('20 00:00');
  expect(start('2026-07-01')).toBe('01 00:00');
  expect(start('2026-10-04')).toBe('03 23:00');
  expect(start('2027-04-04')).toBe('04 01:00');
});

it('sandbox departures include the first and the last, and two services in the same minute count once', () => {
  const on = (weekdays: number[], firstDay = 0, lastDay = 1_000_000) => ({
    calendar: { weekdays: [0, 1, 2, 3, 4, 5, 6].map((day) => weekdays.includes(day)), firstDay, lastDay },
  });
  const saturday = seconds('2026-11-21T00:00:00Z') / 86_400;
  const services = [
    { ...on([0, 1, 2, 3, 4, 5, 6]), firstMinute: 300, lastMinute: 360, everyMinutes: 30 },
    { ...on([5, 6]), firstMinute: 360, lastMinute: 380, everyMinutes: 10 },
    { ...on([0, 1, 2, 3, 4]), firstMinute: 1470, lastMinute: 1470, everyMinutes: 10 },
    { ...on([6], saturday + 2), firstMinute: 600, lastMinute: 600, everyMinutes: 10 },
    { ...on([4], 0, saturday - 1), firstMinute: 700, lastMinute: 700, everyMinutes: 10 },
  ];
  expect(departureMinutes(services, saturday)).toEqual([300, 330, 360, 370, 380]);
  expect(departureMinutes(services, saturday + 1)).toEqual([300, 330, 360, 370, 380]);
  expect(departureMinutes(services, saturday + 2)).toEqual([300, 330, 360, 1470]);
  expect(departureMinutes(services, saturday + 8)).toEqual([300, 330, 360, 370, 380, 600]);
  expect(departureMinutes(services, saturday - 1)).toEqual([300, 330, 360, 700, 1470]);
  expect(departureMinutes(services, saturday + 6)).toEqual([300, 330, 360, 1470]);
});

it('sandbox weekdays are Sydney weekdays, not UTC weekdays', () => {
  const coach = index.patterns.find((pattern) => pattern.line.number === '165');
  if (coach === undefined) throw new Error('the small network has a coach');
  const runs = timetableAround(seconds('2026-11-21T01:00:00Z'))(coach);
  expect(runs.map(({ startSeconds }) => sydney(startSeconds).toFormat('ccc HH:mm'))).toEqual([
    'Thu 09:00',
    'Fri 09:00',
    'Mon 09:00',
  ]);
});

it.each([
  ['2026-04-04T01:00:00Z', 'clocks go back, April 2026'],
  ['2026-10-03T01:00:00Z', 'clocks go forward, October 2026'],
  ['2027-04-03T01:00:00Z', 'clocks go back, April 2027'],
  ['2027-10-02T01:00:00Z', 'clocks go forward, October 2027'],
])('no sandbox run is lost or doubled from %s on: %s', (saturdayNoon) => {
  const runs = timetableAround(seconds(saturdayNoon))(trains);
  expect(runs).toHaveLength(5 * 96);
  expect(new Set(runs.map((run) => `${run.day} ${run.minute}`)).size).toBe(5 * 96);
  for (const run of runs) expect(run.startSeconds).toBe(serviceDayStart(run.day) + run.minute * 60);
});

it('daytime departures of the sandbox are on time by the clock on days when clocks change', () => {
  for (const noon of ['2026-04-05T02:00:00Z', '2026-10-04T01:00:00Z']) {
    const runs = timetableAround(seconds(noon))(trains);
    const run = runs[firstRunFrom(runs, seconds(noon))];
    expect(run?.minute).toBe(12 * 60);
    expect(sydney(run?.startSeconds ?? 0).toFormat('HH:mm')).toBe('12:00');
  }
});

const requestedAt = (now: string, itdDate: string, itdTime: string) =>
  requestedSeconds(new URLSearchParams({ itdDate, itdTime }), seconds(now));
const minuteOfHour = (hour: string) => Array.from({ length: 60 }, (_, minute) => hour + `${minute}`.padStart(2, '0'));

it('times in sandbox requests are Sydney wall clock', () => {
  const sent = (itdDate: string, itdTime: string) => requestedAt('2026-01-01T00:00:00Z', itdDate, itdTime);
  expect(sent('20261121', '0815')).toBe(seconds('2026-11-20T21:15:00Z'));
  expect(sent('20260701', '0815')).toBe(seconds('2026-06-30T22:15:00Z'));
  expect(sent('20261350', '0230')).toBeUndefined();
});

it('a time skipped in October means the next existing time in the sandbox', () => {
  const changeOfClocks = seconds('2026-10-03T16:00:00Z');
  for (const now of ['2026-10-03T01:00:00Z', '2026-10-03T15:50:00Z', '2026-10-03T16:10:00Z']) {
    expect(requestedAt(now, '20261004', '0159')).toBe(changeOfClocks - 60);
    for (const skipped of minuteOfHour('02')) expect(requestedAt(now, '20261004', skipped)).toBe(changeOfClocks);
    expect(requestedAt(now, '20261004', '0300')).toBe(changeOfClocks);
    expect(requestedAt(now, '20261004', '0301')).toBe(changeOfClocks + 60);
  }
});

it('the repeated hour in April means its first pass until the clocks change, then its second', () => {
  const [first, second] = [seconds('2026-04-04T15:00:00Z'), seconds('2026-04-04T16:00:00Z')];
  const pass = (now: string) =>
    minuteOfHour('02').map((time, minute) => (requestedAt(now, '20260405', time) ?? 0) - minute * 60);
  for (const now of ['2026-04-04T02:00:00Z', '2026-04-04T15:00:00Z', '2026-04-04T15:59:00Z']) {
    expect(new Set(pass(now))).toEqual(new Set([first]));
  }
  for (const now of ['2026-04-04T16:00:00Z', '2026-04-04T16:59:00Z', '2026-04-05T03:00:00Z']) {
    expect(new Set(pass(now))).toEqual(new Set([second]));
  }
});

it('the requested time in the sandbox defaults to now, to today for a time and to this time of day for a date', () => {
  const now = seconds('2026-11-20T21:15:00Z');
  expect(requestedSeconds(new URLSearchParams(), now)).toBe(now);
  expect(requestedSeconds(new URLSearchParams({ itdTime: '0900' }), now)).toBe(seconds('2026-11-20T22:00:00Z'));
  expect(requestedSeconds(new URLSearchParams({ itdDate: '20261122' }), now)).toBe(seconds('2026-11-21T21:15:00Z'));
});

it('the sandbox timetable covers one week back and two weeks ahead', () => {
  const now = seconds('2026-11-20T21:00:00Z');
  expect(localDay(now)).toBe(seconds('2026-11-21T00:00:00Z') / 86_400);
  expect(isPublished(now + 14 * 86_400, now)).toBe(true);
  expect(isPublished(now + 15 * 86_400, now)).toBe(false);
  expect(isPublished(now - 7 * 86_400, now)).toBe(true);
  expect(isPublished(now - 8 * 86_400, now)).toBe(false);
});

/** Pages like a caller: each request starts at the time of the last event, and no event counts twice. */
async function pagedTrips(now: string, from: string, until: string): Promise<string[]> {
  const sandbox = await sandboxAt(now);
  const seen = new Map<string, string>();
  for (let at = DateTime.fromISO(from, { zone: 'Australia/Sydney' }); at.toISO() !== null; ) {
    const query = { itdDate: at.toFormat('yyyyMMdd'), itdTime: at.toFormat('HHmm') };
    const events: NonNullable<BoardResponse['stopEvents']> = (await board(sandbox, '2001001', query)).stopEvents ?? [];
    for (const { properties, departureTimePlanned: planned } of events) {
      // The same trip runs again the next day.
      seen.set(`${properties.RealtimeTripId} ${planned}`, planned);
    }
    const last = events.at(-1)?.departureTimePlanned ?? until;
    if (last >= until || events.length < 40) break;
    at = DateTime.fromISO(last, { zone: 'Australia/Sydney' });
  }
  return [...seen.values()].filter((planned) => planned < until);
}

it('paging the sandbox by the time of the last event loses nothing across midnight', async () => {
  const planned = await pagedTrips('2026-11-20T21:00:00Z', '2026-11-21T08:00', '2026-11-22T21:00:00Z');
  expect(planned).toHaveLength(2 * 96);
  const gaps = planned.slice(1).map((time, i) => seconds(time) - seconds(planned[i] ?? ''));
  expect(new Set(gaps)).toEqual(new Set([15 * 60]));
});

it('paging the sandbox loses nothing in the night when clocks go back', async () => {
  const planned = await pagedTrips('2026-04-04T10:00:00Z', '2026-04-04T21:00', '2026-04-05T20:00:00Z');
  const starts = timetableAround(seconds('2026-04-04T10:00:00Z'))(trains).map(({ startSeconds }) => startSeconds);
  const expected = starts.filter(
    (start) => start >= seconds('2026-04-04T10:00:00Z') && start < seconds('2026-04-05T20:00:00Z'),
  );
  expect(planned.map(seconds)).toEqual(expected);
});

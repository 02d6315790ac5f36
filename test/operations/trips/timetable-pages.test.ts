import { describe, expect, it } from 'vitest';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { buildTestApp } from '../../support/app.ts';
import { createInlineEngine } from '../../support/inline-engine.ts';
import { datesFrom, type MadeSchedule, scheduleFile } from '../../support/schedule-file.ts';
import { currentOf, timetableOf } from '../../support/timetable.ts';

/** 08:00 in Sydney on Thursday 26 November 2026. */
const NOW = '2026-11-25T21:00:00Z';
const DAYS = datesFrom('20261120', '20261212');
const bus = (id: string, calls: [string, string][], days = DAYS) => ({ id, days, calls });

const STOPS = [
  { id: '1', name: 'A', lat: -33, lng: 150 },
  { id: '2', name: 'B', lat: -33.5, lng: 150 },
  { id: '3', name: 'C', lat: -34, lng: 150 },
];

/** Pages of journeys from A to C: the trips and the start of each. */
async function openPages(trips: MadeSchedule['trips']) {
  const timetable = timetableOf(scheduleFile('buses', { stops: STOPS, routes: [{ id: 'R' }], trips }));
  const journeys = timetableJourneys({
    timetable: currentOf(timetable),
    engines: createInlineEngine(timetable),
    feeds: null,
    now: () => Date.parse(NOW),
  });
  const app = await buildTestApp({
    now: NOW,
    upstream: async () => Promise.reject(new Error('no call is needed')),
    journeys: { fetch: (query, { turn }) => journeys.fetch(query, turn) },
  });
  const get = async (query: string) => {
    const response = await app.inject(query.startsWith('http') ? query.slice(query.indexOf('/v1')) : query);
    expect(response.statusCode, response.body).toBe(200);
    const linkTo = (page: string) =>
      new RegExp(`<([^>]*)>; rel="${page}"`).exec(String(response.headers.link))?.[1] ?? null;
    const listed = response.json().journeys as { departs_at: string; legs: { trip_id: string | null }[] }[];
    const shown = listed.map(({ departs_at, legs }) =>
      [departs_at.slice(5, 16), ...legs.map(({ trip_id }) => trip_id ?? 'walk')].join(' '),
    );
    return { shown, next: linkTo('next'), prev: linkTo('prev') };
  };
  return {
    close: () => app.close(),
    get: (more: string) => get(`/v1/trips?from=1&to=3&include=ids&path=none${more}`),
    follow: get,
  };
}

describe('pages of journeys from the timetable', () => {
  it('journeys that begin three days ahead have further pages', async () => {
    const sunday = ['20261129'];
    const { get, follow, close } = await openPages([
      bus(
        'morning',
        [
          ['1', '06:00'],
          ['3', '06:40'],
        ],
        sunday,
      ),
      bus(
        'later',
        [
          ['1', '06:30'],
          ['3', '07:10'],
        ],
        sunday,
      ),
    ]);
    const first = await get('&limit=1');
    expect(first.shown).toEqual(['11-28T19:00 morning']);
    const second = await follow(String(first.next));
    expect(second.shown).toEqual(['11-28T19:30 later']);
    expect((await follow(String(second.prev))).shown).toEqual(first.shown);
    await close();
  });

  it('journeys with via have further pages in both directions, each journey once', async () => {
    const times = Array.from({ length: 8 }, (_, index) => `${String(8 + index).padStart(2, '0')}`);
    const { get, follow, close } = await openPages(
      times.flatMap((hour) => [
        bus(`in ${hour}`, [
          ['1', `${hour}:10`],
          ['2', `${hour}:40`],
        ]),
        bus(`on ${hour}`, [
          ['2', `${hour}:50`],
          ['3', `${hour}:59`],
        ]),
      ]),
    );
    const names = (hours: readonly string[]) => hours.map((hour) => `in ${hour} on ${hour}`);
    const strip = (shown: string[]) => shown.map((one) => one.split(' ').slice(1).join(' '));
    const pages = [await get('&via=2@5&limit=2')];
    while (pages.length < 3) pages.push(await follow(String(pages.at(-1)?.next)));
    expect(pages.flatMap(({ shown }) => strip(shown))).toEqual(names(times.slice(0, 6)));
    const back = await follow(String(pages[2]?.prev));
    expect(strip(back.shown)).toEqual(names(times.slice(2, 4)));
    const by = await get('&via=2@5&limit=2&arrive_by=true&date=20261126&time=1330');
    expect(strip(by.shown)).toEqual(names(['11', '12']));
    expect(strip((await follow(String(by.prev))).shown)).toEqual(names(['09', '10']));
    expect(strip((await follow(String(by.next))).shown)).toEqual(names(['13', '14']));
    await close();
  });
});

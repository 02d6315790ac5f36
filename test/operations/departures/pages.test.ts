import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BoardRequest } from '#src/boards/pager.ts';
import { getScheduledBoard } from '#src/boards/scheduled.ts';
import { bindingOf, checkedCursor } from '#src/operations/cursor.ts';
import type { Departures } from '#src/operations/departures/departure.ts';
import { pagesOfBoard, toPageRequest } from '#src/operations/departures/pages.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import { MODES } from '#src/transit/mode.ts';
import { createPlayedService, type PlayedSandbox, startPlayedSandbox } from '#test/realtime/service/played-service.ts';
import { buildTestApp } from '#test/support/app.ts';
import { departure } from '#test/support/departure.ts';
import { ids } from '#test/support/ids.ts';
import { scheduleFile } from '#test/support/schedule-file.ts';
import { timetableOf } from '#test/support/timetable.ts';

const STOPS = ['200060', '200070', '209573', '202020', '2000216'];
const MINUTE = 60_000;

type Query = Record<string, string>;
type BoardSource = 'planner' | 'timetable';
const SOURCES = ['planner', 'timetable'] as const;
type Shown = Departures['departures'][number];
interface Page {
  shown: Shown[];
  prev: string | undefined;
  next: string | undefined;
}
type Find = (query: Query) => Promise<Page>;

type Service = ReturnType<typeof createPlayedService>;
const finder =
  (find: Service['find']): Find =>
  async (query) => {
    const { body, pages } = await find({ modes: 'all', cancelled: 'include', include: 'ids', ...query });
    const shown = (body as Departures).departures;
    // `limit` is also the maximum when cancelled departures are listed.
    expect(shown.length).toBeLessThanOrEqual(Number(query.limit ?? 10));
    return { shown, prev: pages?.prev, next: pages?.next };
  };

/** Identifies a departure by the fields that delays never change. */
const nameOf = ({ run_id, scheduled_at, route, destination }: Shown) =>
  `${scheduled_at} ${route} ${destination} ${run_id?.slice(-24)}`;
const names = (pages: readonly Page[]) => pages.flatMap(({ shown }) => shown.map(nameOf));
const sydney = (at: number) => {
  const text = new Date(at).toLocaleString('sv-SE', { timeZone: 'Australia/Sydney' });
  return { date: text.slice(0, 10).replaceAll('-', ''), time: text.slice(11, 16).replace(':', '') };
};

/** Reads pages until one reaches beyond the given time, while the clock advances. */
async function walk(
  { clock }: PlayedSandbox,
  find: Find,
  { query, direction, to, stepMs = 0 }: { query: Query; direction: 'prev' | 'next'; to: number; stepMs?: number },
): Promise<Page[]> {
  const pages = [await find(query)];
  for (;;) {
    const page = pages.at(-1);
    const cursor = page?.[direction];
    const isThere = page && plannedTimes([page]).some((at) => (direction === 'next' ? at > to : at < to));
    if (!cursor || isThere) return pages;
    await clock.advance(stepMs);
    pages.push(await find({ ...query, cursor }));
  }
}

/** Lists all departures planned between two times, from boards requested for many times in between. */
async function planned(
  find: Find,
  { stop = '', modes = 'all' }: Query,
  from: number,
  until: number,
): Promise<string[]> {
  const found = new Set<string>();
  for (let at = from - MINUTE; at < until; at += 3 * MINUTE) {
    for (const one of (await find({ stop, modes, limit: '50', ...sydney(at) })).shown) {
      const moment = Date.parse(one.scheduled_at);
      if (moment >= from && moment < until) found.add(nameOf(one));
    }
  }
  return [...found].sort();
}

const plannedTimes = (pages: readonly Page[]) =>
  pages.flatMap(({ shown }) => shown.map(({ scheduled_at }) => Date.parse(scheduled_at)));

const namesBetween = (pages: readonly Page[], from: number, until: number) =>
  pages
    .flatMap(({ shown }) => shown)
    .filter(({ scheduled_at }) => Date.parse(scheduled_at) >= from && Date.parse(scheduled_at) < until)
    .map(nameOf)
    .sort();

async function atMoment(
  start: string,
  test: (sandbox: PlayedSandbox, service: Service) => Promise<void>,
  { source = 'planner' as BoardSource } = {},
) {
  const sandbox = await startPlayedSandbox(start);
  const timetable = source === 'timetable' ? await sandbox.importTimetable() : null;
  try {
    await test(sandbox, createPlayedService(sandbox, { timetable }));
  } finally {
    await sandbox.close();
  }
}

/** Short, because boards of a busy stop are long. */
const SPAN = 24 * MINUTE;
const lists = fc.record({
  stop: fc.constantFrom(...STOPS),
  limit: fc.constantFrom('3', '10', '40'),
  modes: fc.constantFrom('all', 'train', 'bus,ferry'),
});
const samples = (count: number) => fc.sample(lists, { seed: 20261123, numRuns: count });

describe.each(SOURCES)('pages of a board from the %s', (source) => {
  const at = (start: string, test: (sandbox: PlayedSandbox, find: Find, service: Service) => Promise<void>) =>
    atMoment(
      start,
      async (sandbox, service) => {
        await test(sandbox, finder(source === 'planner' ? service.monitor : service.find), service);
        if (source === 'timetable') {
          expect(service.requests).toEqual([]);
          expect(new Set(service.boardSources)).toEqual(new Set(['timetable']));
        }
      },
      { source },
    );

  it.each([
    ['on a morning', '2026-11-19T21:00:20Z', 4],
    ['past midnight', '2026-11-20T12:50:20Z', 2],
    ['in the night with a repeated hour', '2026-04-04T14:50:20Z', 2],
    ['in the night in which an hour is missing', '2026-10-03T15:50:20Z', 2],
  ])(
    `paging a board from the ${source} shows each departure once and misses none, later and earlier, %s`,
    async (_when, start, count) => {
      await at(start, async (sandbox, find) => {
        const base = Math.floor(sandbox.clock.now() / MINUTE) * MINUTE;
        for (const one of samples(count)) {
          const query = { ...one, ...sydney(base) };
          const later = await walk(sandbox, find, { query, direction: 'next', to: base + SPAN });
          const earlier = await walk(sandbox, find, { query, direction: 'prev', to: base - SPAN });
          const all = names([...later, ...earlier.slice(1)]);
          expect(new Set(all).size, JSON.stringify(query)).toBe(all.length);
          const [from, until] = [base - SPAN, base + SPAN];
          expect(namesBetween([...later, ...earlier.slice(1)], from, until), JSON.stringify(query)).toEqual(
            await planned(find, query, from, until),
          );
        }
      });
    },
  );

  it(`paging a board from the ${source} neither repeats nor misses a departure while vehicles are delayed`, async () => {
    await at('2026-11-19T21:00:20Z', async (sandbox, find, service) => {
      if (source === 'timetable') await service.poll(['sydneytrains', 'buses', 'metro']);
      for (const query of samples(4)) {
        const base = sandbox.clock.now();
        const reference = await planned(find, query, base, base + SPAN);
        const pages = await walk(sandbox, find, { query, direction: 'next', to: base + SPAN, stepMs: 40_000 });
        const all = names(pages);
        expect(new Set(all).size, JSON.stringify(query)).toBe(all.length);
        const missing = reference.filter((name) => !all.includes(name));
        // A page does not list vehicles that have left by the time it is requested.
        const left = missing.filter((name) => Date.parse(name.slice(0, 20)) < sandbox.clock.now());
        expect(missing, JSON.stringify(query)).toEqual(left);
      }
    });
  });

  it(`paging back a board from the ${source} shows what the earlier page showed, late and departed vehicles included`, async () => {
    await at('2026-11-19T21:00:20Z', async (sandbox, find) => {
      for (const query of samples(6)) {
        const start = sandbox.clock.now();
        const walked = { query, direction: 'next', to: start + SPAN, stepMs: 10_000 } as const;
        const [first, second, third] = await walk(sandbox, find, walked);
        if (!first || !second || !third?.prev) continue;
        const back = await walk(sandbox, find, {
          query: { ...query, cursor: third.prev },
          direction: 'prev',
          to: Math.min(...plannedTimes([first, second])),
        });
        const all = names(back);
        expect(new Set(all).size).toBe(all.length);
        expect(all).toEqual(expect.arrayContaining(names([first, second])));
        expect(all.filter((name) => names([third]).includes(name))).toEqual([]);
      }
    });
  });

  it(`the next page of a board from the ${source} continues with departures that can still be caught`, async () => {
    await at('2026-11-19T21:00:20Z', async (sandbox, find) => {
      const query = { stop: '200070', limit: '3' };
      const [, ...pages] = await walk(sandbox, find, {
        query,
        direction: 'next',
        to: sandbox.clock.now() + 5 * MINUTE,
      });
      expect(pages.length).toBeGreaterThan(3);
      // Like the first page, later pages allow a minute of grace.
      const left = sandbox.clock.now() - MINUTE;
      for (const { realtime_at, scheduled_at } of pages.flatMap(({ shown }) => shown))
        expect(Date.parse(realtime_at ?? scheduled_at)).toBeGreaterThanOrEqual(left);
    });
  });

  it(`the pages of a board from the ${source} with \`to\` list only departures that call there`, async () => {
    await at('2026-11-19T21:00:20Z', async (sandbox, find) => {
      const query = { stop: '200060', to: '200070', limit: '3' };
      const pages = await walk(sandbox, find, { query, direction: 'next', to: sandbox.clock.now() + SPAN });
      expect(pages.length).toBeGreaterThan(3);
      expect(new Set(names(pages)).size).toBe(names(pages).length);
      const whole = await find({ ...query, limit: '20' });
      expect(names(pages)).toEqual(expect.arrayContaining(names([whole]).slice(0, 9)));
    });
  });

  it(`the pages of a board from the ${source} with \`per_route\` together list the next few departures of each route`, async () => {
    await at('2026-11-19T21:00:20Z', async (sandbox, find) => {
      const query = { stop: '200070', limit: '5', per_route: '2' };
      const pages = await walk(sandbox, find, { query, direction: 'next', to: sandbox.clock.now() + 2 * SPAN });
      const counts = Map.groupBy(
        pages.flatMap(({ shown }) => shown).filter(({ cancelled }) => !cancelled),
        ({ mode, route, destination }) => `${mode} ${route} ${destination}`,
      );
      expect(pages.length).toBeGreaterThan(3);
      expect(Math.max(...[...counts.values()].map(({ length }) => length))).toBe(2);
      expect(new Set(names(pages)).size).toBe(names(pages).length);
    });
  });
});

describe('pages of a board over HTTP', () => {
  it.each([
    ['next', 'further', 'stop=200070&modes=train&routes=T1'],
    ['next', 'further', 'stop=200070'],
    ['next', 'further', 'stop=200060&modes=train&routes=T1&to=200070'],
    ['prev', 'earlier', 'stop=200070'],
  ])(
    'an empty %s page with `per_route` has the notice that nothing %s is listed, and no other: %s',
    async (rel, side, query) => {
      await atMoment('2026-11-19T21:00:20Z', async ({ callUpstream }) => {
        const app = await buildTestApp({ upstream: callUpstream, now: '2026-11-19T21:00:20Z' });
        let url = `/v1/departures?${query}&per_route=1&limit=50`;
        for (;;) {
          const { headers, json } = await app.inject(url);
          url = linkTo(rel, headers.link);
          if (json().departures.length > 0 && url) continue;
          expect(json().departures).toEqual([]);
          expect(headers['x-notice']).toBe(`No ${side} departures: per_route=1 limits each route and headsign.`);
          await app.close();
          return;
        }
      });
    },
  );

  it.each(['', '&to=209573'])('only the first page has the notice about parameters to change: %s', async (to) => {
    await atMoment('2026-11-19T21:00:20Z', async ({ callUpstream }) => {
      const app = await buildTestApp({ upstream: callUpstream, now: '2026-11-19T21:00:20Z' });
      const first = await app.inject(`/v1/departures?stop=200070&routes=NONE${to}`);
      expect(first.headers['x-notice']).toMatch(to ? /None of these departures/ : /^By default only buses/);
      const second = await app.inject(linkTo('next', first.headers.link));
      expect([second.json().departures, second.headers['x-notice']]).toEqual([[], undefined]);
      await app.close();
    });
  });

  const linkTo = (rel: string, link: unknown) => new RegExp(`<([^>]*)>; rel="${rel}"`).exec(String(link))?.[1] ?? '';
  const nextOf = (link: unknown) => linkTo('next', link);

  it.each(['departures', 'arrivals'])('the `rel="next"` URL of %s works unchanged', async (path) => {
    await atMoment('2026-11-19T21:00:20Z', async ({ callUpstream }) => {
      const app = await buildTestApp({ upstream: callUpstream, now: '2026-11-19T21:00:20Z' });
      const parameters = new URLSearchParams({ stop: '200070', limit: '4', modes: 'all', include: 'ids' });
      const first = await app.inject(`/v1/${path}?${parameters}`);
      const { link, etag } = first.headers;
      expect(nextOf(link)).toMatch(new RegExp(`^/v1/${path}\\?stop=200070&limit=4&modes=all&include=ids&cursor=1n\\.`));
      const again = await app.inject({ url: `/v1/${path}?${parameters}`, headers: { 'if-none-match': String(etag) } });
      expect([again.statusCode, again.headers.link]).toEqual([304, link]);
      const second = await app.inject(nextOf(link));
      expect(second.statusCode).toBe(200);
      const shown = [first, second].flatMap((response) => response.json()[path].map((one: Shown) => nameOf(one)));
      expect(shown.length).toBeGreaterThanOrEqual(8);
      expect(new Set(shown).size).toBe(shown.length);
      // A cursor is refused for another stop or operation, and once it is too old.
      const cursor = new URL(nextOf(link), 'http://localhost').searchParams.get('cursor') ?? '';
      const other = path === 'departures' ? 'arrivals' : 'departures';
      for (const wrong of [
        `/v1/${path}?stop=200060&cursor=${cursor}`,
        `/v1/${other}?stop=200070&cursor=${cursor}`,
        `/v1/${path}?stop=200070&date=20261130&time=0800&cursor=${cursor}`,
        ...[
          'abc',
          `${cursor}x`,
          `2${cursor.slice(1)}`,
          cursor.replaceAll('.', '.zzzzzzz'),
          `${cursor}${'A'.repeat(4000)}`,
        ].map((text) => `/v1/${path}?stop=200070&cursor=${text}`),
      ]) {
        const { statusCode, body } = await app.inject(wrong);
        expect([statusCode, JSON.parse(body).error?.message], wrong).toEqual([
          400,
          expect.stringMatching(/^`cursor` (must|is too old)/),
        ]);
      }
      expect((await app.inject(`/v1/boards?stops=200070&cursor=${cursor}`)).json().error.message).toContain(
        'Unknown parameter `cursor`',
      );
      await app.close();
    });
  });
});

it('a departure of a ferry comes on one page only, also when the timetable is published again between the pages', () => {
  const now = new Date('2026-01-14T03:00:00Z');
  const ferry = (date: string) => departure({ runId: `AB12.${date}.32.2319`, key: `AB12.${date}.32.2319,P1 0` });
  const binding = bindingOf('departures', '200020');
  const about = { binding, base: now.getTime(), ids, perRoute: undefined, hasPrev: true };
  const found = { departures: [ferry('290826')], others: [], knownUntil: now.getTime() + 60_000 };
  const { next } = pagesOfBoard(found, null, about);
  const cursor = checkedCursor(next, about);
  const request: BoardRequest = {
    queryUpstream: () => Promise.reject(new Error('no upstream call is expected')),
    request: { kind: 'departureMonitor', stopId: '200020', modes: MODES, at: null },
    limit: 10,
    showsCancelled: false,
    isWanted: () => true,
  };
  const isOnNextPage = cursor && toPageRequest(request, cursor, now.getTime()).isWanted;
  expect(isOnNextPage?.(ferry('290826'), () => null)).toBe(false);
  expect(isOnNextPage?.(ferry('050926'), () => null)).toBe(false);
});

it('paging in either direction lists a vehicle that leaves two stands of a stop within a minute once for each stand', () => {
  const file = scheduleFile('buses', {
    stops: [{ id: 'S', isStation: true }, { id: '1', parentId: 'S' }, { id: '2', parentId: 'S' }, { id: '3' }],
    trips: [
      {
        id: 'bus',
        days: ['20261126'],
        calls: [
          ['1', '8:10:00'],
          ['2', '8:10:40'],
          ['3', '8:20'],
        ],
      },
    ],
    firstDay: '20261125',
    lastDay: '20261127',
  });
  const timetable = timetableOf(file);
  const now = new Date('2026-11-25T21:05:00Z');
  const about = { binding: bindingOf('departures', 'S'), base: now.getTime(), ids, perRoute: undefined, hasPrev: true };
  const first: BoardRequest = {
    queryUpstream: () => Promise.reject(new Error('no upstream call is expected')),
    request: { kind: 'departureMonitor', stopId: 'S', modes: MODES, at: null },
    limit: 1,
    showsCancelled: false,
    isWanted: () => true,
  };
  const parts = { live: new LiveTimetable(timetable, []), stop: timetable.findStop('S') as number, now: now.getTime() };
  const read = (written?: string) => {
    const cursor = written === undefined ? null : checkedCursor(written, about);
    const request = cursor ? toPageRequest(first, cursor, now.getTime()) : first;
    const board = getScheduledBoard(request, cursor ? (request.page?.from ?? null) : null, parts);
    return { stops: board.departures.map(({ stopId }) => stopId), ...pagesOfBoard(board, cursor, about) };
  };
  const page = read();
  const later = read(page.next);
  expect([page.stops, later.stops]).toEqual([['1'], ['2']]);
  expect(read(later.prev).stops).toEqual(['1']);
});

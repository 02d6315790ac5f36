import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Runs } from '#src/boards/runs.ts';
import { monitorBoards } from '#src/boards/source.ts';
import { noLines } from '#src/operations/sources.ts';
import { createTripsOperation } from '#src/operations/trips/operation.ts';
import type { JourneyBody } from '#src/operations/trips/response.ts';
import { type PlayedSandbox, startPlayedSandbox } from '#test/realtime/service/played-service.ts';
import { buildTestApp } from '#test/support/app.ts';
import { ids } from '#test/support/ids.ts';

const MINUTE = 60_000;
const SPAN = 90 * MINUTE;
/** Each request lists up to six journeys, so most journeys are listed many times. */
const STEP = 6 * MINUTE;
const PLACES = ['200060', '200070', '209573', '202020', '2000216', '-33.8731,151.2069'];

type Query = Record<string, string>;
interface Page {
  shown: JourneyBody[];
  prev?: string | undefined;
  next?: string | undefined;
}
interface RawJourney {
  isAdditional: boolean;
  legs: { origin: { departureTimePlanned: string }; destination: { arrivalTimePlanned: string } }[];
}
type Find = (query: Query) => Promise<Page>;

const operation = createTripsOperation({ stops: { get: () => null } });

/** Departure and arrival of the first leg and the last. */
const spanOf = (departs: string, arrives: string) => `${departs} ${arrives}`;

/**
 * Counts the upstream calls of each page, and records the journeys that upstream lists in sequence. Upstream adds alternatives
 * only beside the first journey, so the alternatives depend on the requested time.
 */
function finder({ callUpstream, clock }: PlayedSandbox, calls: number[] = [], inRow = new Set<string>()): Find {
  const { now } = clock;
  return async (query) => {
    let count = 0;
    const counted = (async (...sent: Parameters<typeof callUpstream>) => {
      const response = await callUpstream(...sent);
      if (sent[0].kind !== 'trip') return response;
      count++;
      for (const { isAdditional, legs } of (response.payload as unknown as { journeys: RawJourney[] }).journeys)
        if (!isAdditional)
          inRow.add(
            spanOf(legs[0]?.origin.departureTimePlanned ?? '', legs.at(-1)?.destination.arrivalTimePlanned ?? ''),
          );
      return response;
    }) as typeof callUpstream;
    const run = () => Promise.reject(new Error('no other operation is run'));
    const { body, pages } = await operation.handle(operation.query.parse({ path: 'none', include: 'ids', ...query }), {
      queryUpstream: counted,
      boards: monitorBoards,
      runs: new Runs({ now: clock.now }),
      lines: noLines,
      now,
      ids,
      run,
    });
    calls.push(count);
    return { shown: body.journeys, ...pages };
  };
}

/** Identifies a journey by its rides and their planned times, which delays never change. */
const nameOf = ({ legs }: JourneyBody) =>
  legs
    .filter(({ mode }) => mode !== 'walk')
    .map(({ trip_id, origin, destination }) => `${trip_id} ${origin.departs_at} ${destination.arrives_at}`)
    .join(', ') || 'on foot';
const names = (pages: readonly Page[]) => pages.flatMap(({ shown }) => shown.map(nameOf));
const departsAt = ({ departs_at }: JourneyBody) => Date.parse(departs_at);
const sydney = (at: number) => {
  const text = new Date(at).toLocaleString('sv-SE', { timeZone: 'Australia/Sydney' });
  return { date: text.slice(0, 10).replaceAll('-', ''), time: text.slice(11, 16).replace(':', '') };
};

async function walk(find: Find, query: Query, direction: 'prev' | 'next', to: number): Promise<Page[]> {
  const pages = [await find(query)];
  for (;;) {
    const page = pages.at(-1) as Page;
    const cursor = page[direction];
    const isThere = page.shown.some((one) => (direction === 'next' ? departsAt(one) > to : departsAt(one) < to));
    if (!cursor || isThere) return pages;
    pages.push(await find({ ...query, cursor }));
  }
}

/** Departure and arrival of the best journeys between two times: no other journey departs later and arrives earlier. */
function bestOf(
  journeys: readonly JourneyBody[],
  [from, until]: readonly [number, number],
  { max_changes = '9' }: Query,
) {
  const rides = journeys.filter(({ legs }) => legs.some(({ mode }) => mode !== 'walk'));
  const isWorse = (one: JourneyBody) =>
    rides.some(
      (other) =>
        other.departs_at >= one.departs_at &&
        other.arrives_at <= one.arrives_at &&
        (other.departs_at > one.departs_at || other.arrives_at < one.arrives_at),
    );
  const best = rides.filter(
    (one) => !isWorse(one) && departsAt(one) >= from && departsAt(one) < until && one.changes <= Number(max_changes),
  );
  return [...new Set(best.map(({ departs_at, arrives_at }) => spanOf(departs_at, arrives_at)))].sort();
}

/** All journeys that the service lists for many times, by departure or by arrival. */
async function readAll(
  find: Find,
  query: Query,
  [from, until]: readonly [number, number],
  by: 'departure' | 'arrival',
  shown: readonly JourneyBody[],
) {
  const { from: origin = '', to = '', modes = 'all', wheelchair = 'false' } = query;
  const found: JourneyBody[] = [];
  // A journey that departs earlier and arrives after one that departs later is not among the best.
  const later = shown.filter((one) => departsAt(one) >= until).map(({ arrives_at }) => Date.parse(arrives_at));
  const end = by === 'departure' ? until : Math.min(until + 180 * MINUTE, ...later) + STEP;
  for (let at = from - MINUTE; at < end; at += STEP) {
    const sent = {
      from: origin,
      to,
      modes,
      wheelchair,
      limit: '6',
      arrive_by: String(by === 'arrival'),
      ...sydney(at),
    };
    found.push(...(await find(sent).catch(() => ({ shown: [] }))).shown);
  }
  return found;
}

async function atMoment(start: string, test: (sandbox: PlayedSandbox) => Promise<void>) {
  const sandbox = await startPlayedSandbox(start);
  try {
    await test(sandbox);
  } finally {
    await sandbox.close();
  }
}

const lists = fc
  .record({
    ends: fc.shuffledSubarray(PLACES, { minLength: 2, maxLength: 2 }),
    limit: fc.constantFrom('1', '3', '6'),
    arrive_by: fc.constantFrom('true', 'false'),
    filter: fc.constantFrom<Query>({}, {}, { modes: 'train,ferry' }, { max_changes: '1' }, { wheelchair: 'true' }),
    minutes: fc.integer({ min: 0, max: 90 }),
  })
  .map(({ ends: [from = '', to = ''], filter, minutes, ...others }) => ({ from, to, ...others, ...filter, minutes }));
const samples = (count: number) => fc.sample(lists, { seed: 20261124, numRuns: count });

describe('pages of journeys', () => {
  it.each([
    ['on a morning', '2026-11-19T21:00:20Z', 5],
    ['past midnight', '2026-11-20T11:30:20Z', 4],
    ['in the night with a repeated hour', '2026-04-04T13:00:20Z', 4],
    ['after the hour that came twice', '2026-04-04T17:30:20Z', 3],
    ['in the night in which an hour is missing', '2026-10-03T14:30:20Z', 4],
  ])('paging later and earlier shows each best journey once, in order, %s', async (_when, start, count) => {
    await atMoment(start, async (sandbox) => {
      const calls: number[] = [];
      const inRow = new Set<string>();
      const find = finder(sandbox, calls, inRow);
      for (const { minutes, ...one } of samples(count)) {
        const base = Math.floor(sandbox.clock.now() / MINUTE + minutes) * MINUTE;
        const query: Query = { ...one, ...sydney(base) };
        const about = JSON.stringify(query);
        const first = await find(query).catch(() => null);
        // No journey passes the filter at this time.
        if (!first) continue;
        const later = await walk(find, query, 'next', base + SPAN);
        const earlier = await walk(find, query, 'prev', base - SPAN);
        const all = [...earlier.slice(1).reverse(), ...later];
        expect(new Set(names(all)).size, about).toBe(names(all).length);

        const further = all.filter((page) => page !== later[0]).map(({ shown }) => shown.map(departsAt));
        for (const [index, page] of further.slice(1).entries())
          expect(Math.min(...page), about).toBeGreaterThanOrEqual(Math.max(...(further[index] ?? [])));

        const shown = all.flatMap((page) => page.shown);
        const times = first.shown.map(departsAt);
        const middle = query.arrive_by === 'true' ? Math.max(...times) + 1 : Math.min(...times);
        const ahead = [middle, base + SPAN] as const;
        const back = [base - SPAN, middle] as const;
        for (const [span, by] of [
          [ahead, 'departure'],
          [back, 'arrival'],
        ] as const) {
          const all = await readAll(find, query, span, by, shown);
          const [seen, wanted] = [shown, all].map((list) => bestOf(list, span, query).filter((one) => inRow.has(one)));
          // With `arrive_by`, the first page leaves out journeys that arrive too late.
          expect(seen, about).toEqual(by === 'departure' ? wanted : expect.arrayContaining(wanted ?? []));
        }
      }
      expect(Math.max(...calls)).toBeLessThanOrEqual(3);
    });
  });

  it('journeys in the hour that comes twice have further pages, even when it is days away', async () => {
    await atMoment('2026-04-01T00:00:20Z', async (sandbox) => {
      const find = finder(sandbox);
      for (const time of ['0130', '0230', '0330']) {
        const page = await find({ from: '200060', to: '200070', date: '20260405', time });
        expect(page, time).toMatchObject({ prev: expect.any(String), next: expect.any(String) });
      }
    });
  });

  it('paging shows each journey once while vehicles are delayed, and paging back lists no later ones', async () => {
    await atMoment('2026-11-19T21:00:20Z', async (sandbox) => {
      const find = finder(sandbox);
      for (const { minutes: _, ...query } of samples(6)) {
        const about = JSON.stringify(query);
        const first = await find(query).catch(() => null);
        if (!first) continue;
        const pages = [first];
        for (let cursor = first.next; cursor && pages.length < 8; cursor = pages.at(-1)?.next) {
          await sandbox.clock.advance(40_000);
          pages.push(await find({ ...query, cursor }));
        }
        expect(new Set(names(pages)).size, about).toBe(names(pages).length);
        // A single walk has no further pages.
        if (pages.length < 2) continue;
        const [before, last] = pages.slice(-2) as [Page, Page];
        const back = await find({ ...query, cursor: last.prev ?? '' });
        expect(
          names([back]).filter((name) => names([last]).includes(name)),
          about,
        ).toEqual([]);
        const again = await find({ ...query, cursor: back.next ?? '' });
        expect(Math.min(...again.shown.map(departsAt)), about).toBeGreaterThanOrEqual(
          Math.max(...before.shown.map(departsAt)),
        );
      }
    });
  });
});

describe('pages of journeys when upstream repeats itself', () => {
  const query = { from: '202020', to: '209573', limit: '6' };

  it.each([
    ['repeats the same journeys', (first: object) => first],
    [
      'finds none',
      () => ({ journeys: [], systemMessages: [{ type: 'error', module: 'BROKER', code: -4000, text: 'no' }] }),
    ],
  ])('paging repeats no journey and ends when upstream %s', async (_what, answer) => {
    await atMoment('2026-11-19T21:00:20Z', async (sandbox) => {
      let first: Awaited<ReturnType<PlayedSandbox['callUpstream']>> | undefined;
      const callUpstream = (async (...sent: Parameters<PlayedSandbox['callUpstream']>) => {
        if (sent[0].kind !== 'trip') return sandbox.callUpstream(...sent);
        const response = first ?? (await sandbox.callUpstream(...sent));
        const payload = first ? { ...first.payload, ...answer(first.payload) } : response.payload;
        first ??= response;
        return { ...response, payload };
      }) as PlayedSandbox['callUpstream'];
      const find = finder({ ...sandbox, callUpstream });
      for (const direction of ['next', 'prev'] as const) {
        first = undefined;
        const pages: [Page, ...Page[]] = [await find(query)];
        for (let cursor = pages[0][direction]; cursor; cursor = pages.at(-1)?.[direction]) {
          pages.push(await find({ ...query, cursor }));
          if (pages.length > 2000) throw new Error('the list has no end');
        }
        expect(pages.length).toBeGreaterThan(1);
        expect(new Set(names(pages)).size).toBe(names(pages).length);
        expect(pages.slice(1).flatMap(({ shown }) => shown)).toEqual([]);
      }
    });
  });
});

describe('pages of journeys over HTTP', () => {
  const linkOf = (link: unknown, rel: string) => new RegExp(`<([^>]*)>; rel="${rel}"`).exec(String(link))?.[1] ?? '';

  it.each([
    ['stops', { from: '202020', to: '209573', modes: 'train,ferry', max_changes: '2' }],
    ['positions', { from: '-33.8731,151.2069', to: '-33.8005,151.2838', wheelchair: 'true' }],
    ['arrivals', { from: '202020', to: '209573', arrive_by: 'true', date: '20261120', time: '1000' }],
  ])('the `next` and `prev` links of journeys with %s work unchanged, on any instance', async (_what, sent) => {
    await atMoment('2026-11-19T21:00:20Z', async ({ callUpstream }) => {
      const app = await buildTestApp({ upstream: callUpstream, now: '2026-11-19T21:00:20Z' });
      const first = await app.inject(`/v1/trips?${new URLSearchParams({ ...sent, limit: '3', include: 'ids' })}`);
      const [next, prev] = [linkOf(first.headers.link, 'next'), linkOf(first.headers.link, 'prev')];
      const [later, earlier] = [await app.inject(next), await app.inject(prev)];
      const shown = [earlier, first, later].flatMap(
        (response) => response.json<{ journeys: JourneyBody[] }>().journeys,
      );
      expect(shown.length).toBeGreaterThan(5);
      expect(new Set(shown.map(nameOf)).size).toBe(shown.length);
      expect(shown.map(departsAt)).toEqual(shown.map(departsAt).toSorted((one, other) => one - other));
      // Another instance, without anything cached.
      const other = await buildTestApp({ upstream: callUpstream, now: '2026-11-19T21:00:50Z' });
      expect((await other.inject(next)).json().journeys).toEqual(later.json().journeys);
      await other.close();
      await app.close();
    });
  });

  it('a journey cursor is refused with other places, another operation or another time, and when malformed', async () => {
    await atMoment('2026-11-19T21:00:20Z', async ({ callUpstream }) => {
      const app = await buildTestApp({ upstream: callUpstream, now: '2026-11-19T21:00:20Z' });
      const ends = 'from=202020&to=209573';
      const first = await app.inject(`/v1/trips?${ends}`);
      const cursor = new URLSearchParams(linkOf(first.headers.link, 'next').split('?')[1]).get('cursor') ?? '';
      const board = await app.inject('/v1/departures?stop=202020&modes=all');
      const ofBoard = new URLSearchParams(linkOf(board.headers.link, 'next').split('?')[1]).get('cursor') ?? '';
      const parts = cursor.split('.');
      for (const wrong of [
        `/v1/trips?from=209573&to=202020&cursor=${cursor}`,
        `/v1/trips?${ends}&cursor=${ofBoard}`,
        `/v1/departures?stop=202020&cursor=${cursor}`,
        `/v1/trips?${ends}&date=20261126&time=0800&cursor=${cursor}`,
        `/v1/trips?${ends}&cursor=${cursor.replace('1n', '2n')}`,
        `/v1/trips?${ends}&cursor=${cursor}.1`,
        `/v1/trips?${ends}&cursor=${cursor}zz`,
        `/v1/trips?${ends}&cursor=${[...parts.slice(0, -1), '1'].join('.')}`,
      ]) {
        const { statusCode, body } = await app.inject(wrong);
        expect([statusCode, JSON.parse(body).error?.message], wrong).toEqual([
          400,
          expect.stringMatching(/^`cursor` (must|is too old)/),
        ]);
      }
      expect((await app.inject(`/v1/boards?stops=202020&cursor=${ofBoard}`)).json().error.message).toContain(
        'Only /v1/departures and /v1/arrivals (one stop)',
      );
      await app.close();
    });
  });
});

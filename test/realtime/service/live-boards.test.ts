import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Departures } from '#src/departures/departure.ts';
import { departuresOperation } from '#src/departures/operation.ts';
import type { Ask } from '#src/efa/ask.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { FailedPoll } from '#src/realtime/polling/feed-client.ts';
import { FEED_SOURCES, type FeedSourceId } from '#src/realtime/polling/feed-source.ts';
import { createResponses } from '#src/responses/responses.ts';
import { toSydneyWallClock } from '#src/transit/time.ts';
import { ids } from '#test/support/ids.ts';
import { createPlayedService, type PlayedSandbox, startPlayedSandbox } from './played-service.ts';

/** 08:00:20 of a weekday in Sydney. */
const MORNING = '2026-04-14T22:00:20Z';
const TRAINS = { stop: '200070', modes: 'train', limit: '10' };

// Feeds of hundreds of trips are made and read many times.
vi.setConfig({ testTimeout: 30_000 });

let sandbox: PlayedSandbox;
const day = () => sandbox;
beforeAll(async () => {
  sandbox = await startPlayedSandbox(MORNING);
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(() => sandbox.close());

type Service = ReturnType<typeof createPlayedService>;

const closing: (() => Promise<void>)[] = [];

/** A service that knows the stop, with the feed of trains polled. */
async function startService(query: Record<string, string> = TRAINS, options = {}, sources = ['sydneytrains']) {
  const service = createService(options);
  await service.find(query);
  await service.crowd(sources as FeedSourceId[]);
  await service.find(query);
  service.requests.length = 0;
  service.boardSources.length = 0;
  return service;
}

function createService(options = {}): Service {
  const service = createPlayedService(day(), options);
  closing.push(() => service.feeds.close());
  return service;
}

/** `time` of so many minutes from now. */
function timeIn(minutes: number): string {
  return toSydneyWallClock(new Date(day().clock.now() + minutes * 60_000)).time;
}

const liveOf = ({ departures }: Departures) => departures.filter((departure) => departure.is_live).length;
const timesOf = ({ departures }: Departures) =>
  departures.map(({ route, scheduled_at, realtime_at, platform }) =>
    [route, scheduled_at, realtime_at, platform].join(' '),
  );

describe('a board with living feeds', () => {
  it('costs no call and says what the departure monitor says', async () => {
    const service = await startService();
    const { body } = await service.find(TRAINS);
    expect(service.boardSources).toEqual(['overlay']);
    expect(service.requests).toEqual([]);
    expect(liveOf(body)).toBeGreaterThan(5);
    expect(timesOf(body)).toEqual(timesOf((await service.monitor(TRAINS)).body));
  });

  it.each(['1', '2'])('has the next %s of each route and headsign that the departure monitor has', async (perRoute) => {
    const query = { ...TRAINS, limit: '12', per_route: perRoute };
    const service = await startService(query);
    const { body } = await service.find(query);
    expect(service.boardSources).toEqual(['overlay']);
    const routes = body.departures.map(({ route, destination }) => `${route} ${destination}`);
    const counts = [...Map.groupBy(routes, (name) => name).values()].map(({ length }) => length);
    expect([routes.length, Math.max(...counts)]).toEqual([12, Number(perRoute)]);
    expect(timesOf(body)).toEqual(timesOf((await service.monitor(query)).body));
  });

  it('of a stop that nothing was known of costs one call, which comes before those of other requests', async () => {
    const service = await startService();
    const purposes: unknown[] = [];
    const { ask } = service.upstream;
    service.upstream.ask = (request, options) => {
      purposes.push(options?.purpose);
      return ask(request, options);
    };
    const query = { ...TRAINS, stop: '200060', limit: '5' };
    const { body, freshness } = await service.find(query);
    expect(service.boardSources).toEqual(['overlay']);
    expect(purposes).toEqual(['timetable']);
    // The first page has something to show, and the next one only makes the board longer.
    await service.find({ ...query, limit: '50' });
    expect(purposes.slice(1)).toContain('readOn');
    expect(purposes.slice(1)).not.toContain('timetable');
    expect(freshness.source).toBe('upstream');
    expect(timesOf(body)).toEqual(timesOf((await service.monitor(query)).body));
  });

  it('tells of the oldest feed by which it calls anything live', async () => {
    const service = await startService({ ...TRAINS, modes: 'all', limit: '20' }, {}, Object.keys(FEED_SOURCES));
    const { body, freshness } = await service.find({ ...TRAINS, modes: 'all', limit: '20' });
    const headers = service.feeds.list().flatMap(({ headerAt }) => headerAt ?? []);
    expect(headers).toContain(freshness.retrievedAt);
    expect(Date.parse(body.retrieved_at)).toBe(freshness.retrievedAt);
    expect(day().clock.now() - freshness.retrievedAt).toBeLessThan(90_000);
  });

  it('is fresh until the next poll can say something else', async () => {
    const service = await startService();
    const { freshness } = await service.find(TRAINS);
    expect(freshness).toMatchObject({ source: 'cache', shortage: null });
    expect(freshness.freshUntil - day().clock.now()).toBeGreaterThanOrEqual(1000);
    expect(freshness.freshUntil - day().clock.now()).toBeLessThanOrEqual(17_000);
  });

  it('follows the feeds from poll to poll', async () => {
    const service = await startService();
    for (let minute = 0; minute < 4; minute++) {
      await day().clock.advance(60_000);
      const { body } = await service.find(TRAINS);
      const next = Date.parse(body.departures[0]?.realtime_at ?? body.departures[0]?.scheduled_at ?? '');
      expect(next).toBeGreaterThan(day().clock.now() - 90_000);
    }
    expect(new Set(service.boardSources)).toEqual(new Set(['overlay']));
  });

  it('asks for a timetable again when the one it has runs out', async () => {
    const service = await startService();
    for (let step = 0; step < 3; step++) {
      await day().clock.advance(7 * 60_000);
      // Others go on asking meanwhile.
      await service.crowd(['sydneytrains']);
      expect((await service.find(TRAINS)).body.departures).toHaveLength(10);
    }
    expect(service.requests.length).toBeGreaterThan(1);
    expect(service.requests.length).toBeLessThan(8);
  });

  it('lists what the feeds cancel when that is asked for, and leaves it out otherwise', async () => {
    const service = await startService({ ...TRAINS, limit: '50' });
    let cancelled = 0;
    for (let step = 0; step < 4; step++) {
      await day().clock.advance(3 * 60_000);
      const [all, running] = [
        await service.find({ ...TRAINS, limit: '50', cancelled: 'include' }),
        await service.find(TRAINS),
      ];
      cancelled += all.body.departures.filter((departure) => departure.cancelled).length;
      expect(running.body.departures.some((departure) => 'cancelled' in departure)).toBe(false);
    }
    expect(cancelled).toBeGreaterThan(0);
  });

  it('is made for a time to come where the timetable covers it', async () => {
    const service = await startService({ ...TRAINS, limit: '50' });
    const query = { ...TRAINS, limit: '3', time: timeIn(12) };
    const { body } = await service.find(query);
    expect(service.boardSources).toEqual(['overlay']);
    expect(service.requests).toEqual([]);
    expect(timesOf(body)).toEqual(timesOf((await service.monitor(query)).body));
  });

  it('is asked from the departure monitor for a time soon where only it can say what is live', async () => {
    const canberra = { stop: '99004002', modes: 'all', limit: '10' };
    const service = await startService(canberra);
    const query = { ...canberra, time: timeIn(5) };
    const { body, boards } = await service.find(query);
    expect(service.boardSources).toEqual(['monitor: no feed']);
    expect(boards?.[0]?.detail).toMatch(/^(bus|lightrail) \S+, network \d+, run \S+$/);
    expect(liveOf(body)).toBeGreaterThan(0);
    expect(timesOf(body)).toEqual(timesOf((await service.monitor(query)).body));
  });

  it('is finished once between two polls', async () => {
    const service = await startService();
    let found = 0;
    const find = () => {
      found++;
      return service.find(TRAINS);
    };
    const counted = { ...departuresOperation, find };
    const responses = createResponses({
      ask: day().ask,
      ids,
      now: () => new Date(day().clock.now()),
      deadlineMs: 5000,
      log: { warn() {}, debug() {} },
    });
    const query = departuresOperation.query.parse(TRAINS);
    const first = await responses.find(counted, query, { priority: 'high' });
    const again = await responses.find(counted, query, { priority: 'high' });
    expect(found).toBe(1);
    expect(again.body).toBe(first.body);
    await day().clock.advance(17_000);
    await responses.find(counted, query, { priority: 'high' });
    expect(found).toBe(2);
  });
});

describe('a board whose feed cannot be believed', () => {
  const failing = (failure: 'not 200' | 'a web page' | 'no response' | 'no calls left' | 'undecodable') => async () => {
    throw new FailedPoll(failure, failure);
  };
  it.each([
    ['not 200', failing('not 200')],
    ['a web page', failing('a web page')],
    ['no response', failing('no response')],
    ['no calls left', failing('no calls left')],
    ['undecodable', async () => Buffer.from('x')],
    ['a frozen header', null],
  ] as const)(
    '(%s) is asked from the departure monitor, and made of the feed again when it lives',
    async (problem, fetch) => {
      const service = await startService();
      const sound = service.upstream.fetch;
      const frozen = day().feed('sydneytrains');
      service.upstream.fetch = fetch ?? (async () => frozen);
      await day().clock.advance(180_000);
      const { body, boards } = await service.find(TRAINS);
      expect(service.boardSources.at(-1)).toBe(`monitor: ${problem}: sydneytrains`);
      expect(boards).toEqual([{ source: 'monitor', reason: problem, feed: 'sydneytrains' }]);
      expect(timesOf(body)).toEqual(timesOf((await service.monitor(TRAINS)).body));
      service.upstream.fetch = sound;
      await day().clock.advance(121_000);
      await service.find(TRAINS);
      expect(service.boardSources.at(-1)).toBe('overlay');
    },
  );

  it('of another mode is made of its own feed', async () => {
    const service = await startService();
    const sound = service.upstream.fetch;
    service.upstream.fetch = async (source) =>
      source === 'buses' ? Promise.reject(new FailedPoll('not 200', 'no')) : sound(source);
    await day().clock.advance(180_000);
    await service.find(TRAINS);
    expect(service.boardSources.at(-1)).toBe('overlay');
  });

  it('whose runs the departure monitor calls live and the feed does not know is given up', async () => {
    const service = await startService();
    for (let response = 0; response < 3; response++) service.feeds.addMatches('sydneytrains', 0, 40);
    const purposes: unknown[] = [];
    const { ask } = service.upstream;
    service.upstream.ask = (request, options) => {
      purposes.push(options?.purpose);
      return ask(request, options);
    };
    await service.find(TRAINS);
    expect(service.boardSources.at(-1)).toBe('monitor: runs are not found: sydneytrains');
    expect(new Set(purposes)).toEqual(new Set(['board']));
  });

  it('loses no request while the feeds come and go, and is never older than it says', async () => {
    const service = await startService();
    const sound = service.upstream.fetch;
    for (let turn = 0; turn < 24; turn++) {
      service.upstream.fetch = Math.floor(turn / 8) % 2 === 0 ? sound : failing('no response');
      await day().clock.advance(20_000);
      const { body, freshness } = await service.find(TRAINS);
      expect(body.departures).toHaveLength(10);
      expect(day().clock.now() - freshness.retrievedAt).toBeLessThanOrEqual(105_000);
    }
    expect(new Set(service.boardSources).size).toBeGreaterThan(1);
  });
});

describe('a board while the departure monitor fails', () => {
  const down = () => Promise.reject(new ApiError('UPSTREAM_ERROR', 'down'));

  it('is made of timetable and feeds', async () => {
    const service = await startService();
    service.upstream.ask = down;
    const { body } = await service.find(TRAINS);
    expect(body.departures).toHaveLength(10);
  });

  it('is the error of today where nothing is known of the stop', async () => {
    const service = await startService();
    service.upstream.ask = down;
    await expect(service.find({ ...TRAINS, stop: '200060' })).rejects.toThrow('down');
  });
});

describe('in the background (shadow)', () => {
  it("the feeds are compared with each answer, and every board is the departure monitor's", async () => {
    const service = await startService(TRAINS, { mode: 'shadow' });
    for (let minute = 0; minute < 5; minute++) {
      await day().clock.advance(60_000);
      await service.find(TRAINS);
    }
    expect(new Set(service.boardSources)).toEqual(new Set(['monitor: shadow']));
    const { train } = service.comparison.agreement();
    expect(train?.compared).toBeGreaterThan(50);
    expect(train?.bothLive).toBeGreaterThan(20);
    expect((train?.live ?? 0) / (train?.compared ?? 1)).toBeGreaterThan(0.9);
    expect(train?.time).toBe(train?.bothLive);
  });
});

describe('instances with one store', () => {
  it('ask for the timetable of a stop once', async () => {
    const kept = new Map<string, Buffer>();
    const store = {
      get: async (key: string) => kept.get(key) ?? null,
      set: (key: string, value: Buffer) => void kept.set(key, value),
    };
    await startService(TRAINS, { store });
    const second = createService({ store });
    await second.crowd(['sydneytrains']);
    const { body } = await second.find(TRAINS);
    expect(second.boardSources).toEqual(['overlay']);
    expect(second.requests).toEqual([]);
    expect(liveOf(body)).toBeGreaterThan(5);
  });
});

it('the departure monitor is asked about trains without updates while there are calls enough, and not when they are short', async () => {
  const services = [await startService(), await startService(TRAINS, { stretch: 2 })];
  for (let minute = 0; minute < 12; minute++) {
    await day().clock.advance(60_000);
    for (const service of services) await service.find(TRAINS);
  }
  const [calm, short] = services.map(({ requests }) => requests.length);
  expect(calm).toBeGreaterThan(2);
  expect(short).toBeLessThan(calm ?? 0);
});

describe('a board that needs the departure monitor when calls are too short for that', () => {
  async function startShort(options = {}) {
    const service = await startService(TRAINS, { stretch: 4, ...options });
    service.upstream.fetch = () => Promise.reject(new FailedPoll('not 200', 'not 200'));
    await day().clock.advance(4 * 60_000);
    service.upstream.ask = () => Promise.reject(new ApiError('UPSTREAM_UNAVAILABLE', 'calls are short'));
    return service;
  }

  it('has the departures of the kept timetable, nothing live, and says how old that is', async () => {
    const service = await startShort();
    const { body, freshness, boards } = await service.find(TRAINS);
    expect(boards).toEqual([{ source: 'overlay', reason: 'calls are short', detail: 'not 200', feed: 'sydneytrains' }]);
    expect(body.departures).toHaveLength(10);
    expect(liveOf(body)).toBe(0);
    const planned = body.departures.map(({ scheduled_at }) => Date.parse(scheduled_at));
    expect(Math.min(...planned)).toBeGreaterThan(day().clock.now() - 60_000);
    expect(service.boardSources).toEqual(['overlay: calls are short: sydneytrains']);
    expect(freshness).toMatchObject({ source: 'cache', shortage: 'busy' });
    expect(day().clock.now() - freshness.retrievedAt).toBeGreaterThan(4 * 60_000);
    expect(Date.parse(body.retrieved_at)).toBe(freshness.retrievedAt);
  });

  /** Calls are left for pages of timetables only. */
  const askForTimetables: Ask = (request, options) =>
    options?.purpose === 'timetable'
      ? day().ask(request, options)
      : Promise.reject(new ApiError('UPSTREAM_UNAVAILABLE', 'calls are short'));

  type StopEvent = Record<string, unknown>;

  /** The departure monitor lists other departures. */
  function askForOthers(change: (events: StopEvent[]) => StopEvent[]): Ask {
    return async (request, options) => {
      const response = await day().ask(request, options);
      const { stopEvents = [] } = response.payload as { stopEvents?: StopEvent[] };
      return { ...response, payload: { ...(response.payload as object), stopEvents: change(stopEvents) } as never };
    };
  }

  it('has those of a page asked for as one of the timetable where none is kept', async () => {
    const service = await startShort();
    service.upstream.ask = askForTimetables;
    const { body, freshness } = await service.find({ ...TRAINS, stop: '200060' });
    expect(body.departures).toHaveLength(10);
    expect(freshness.shortage).toBe('busy');
  });

  it('has those of the next page where the kept one lists none before its last minute, as in the night', async () => {
    const service = createService({ stretch: 4 });
    service.upstream.ask = askForOthers((events) => {
      const [first, last] = [events[0], events.at(-1)].map((event) => event?.departureTimePlanned);
      return events.map((event, index) => ({
        ...event,
        departureTimePlanned: index < 5 ? first : last,
        departureTimeEstimated: undefined,
      }));
    });
    await service.find(TRAINS);
    await day().clock.advance(4 * 60_000);
    service.upstream.ask = askForTimetables;
    const { body } = await service.find(TRAINS);
    expect(service.boardSources.at(-1)).toBe('overlay: calls are short: sydneytrains');
    expect(body.departures).toHaveLength(10);
  });

  it('is empty where nothing leaves any more', async () => {
    const service = createService({ stretch: 4 });
    service.upstream.ask = askForOthers(() => []);
    await service.find(TRAINS);
    await day().clock.advance(4 * 60_000);
    service.upstream.ask = () => Promise.reject(new ApiError('UPSTREAM_UNAVAILABLE', 'calls are short'));
    const { body, freshness } = await service.find(TRAINS);
    expect(body.departures).toEqual([]);
    expect(freshness.shortage).toBe('busy');
  });

  it('is refused where no timetable can be had, for a time to come, and while calls are not short', async () => {
    const refused = { code: 'UPSTREAM_UNAVAILABLE' };
    const short = await startShort();
    await expect(short.find({ ...TRAINS, stop: '200060' })).rejects.toMatchObject(refused);
    await expect(short.find({ ...TRAINS, date: '20260415', time: '2300' })).rejects.toMatchObject(refused);
    const calm = await startShort({ stretch: 1 });
    await expect(calm.find(TRAINS)).rejects.toMatchObject(refused);
  });
});

it('whatever a feed sends, no request fails and nothing is live by a feed older than 105 s', async () => {
  const service = await startService();
  const sound = service.upstream.fetch;
  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(
      Buffer.alloc(0),
      Buffer.alloc(50_000, 0xff),
      Buffer.from('<html>'),
      'halved',
      'cut',
      'old',
      'sound',
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 12 }), async (polls) => {
      for (const poll of polls) {
        service.upstream.fetch = async (source) => {
          if (Buffer.isBuffer(poll)) return poll;
          const bytes = await sound(source);
          return poll === 'cut' ? bytes.subarray(0, bytes.length >> 1) : bytes;
        };
        await day().clock.advance(15_000);
        const { body, freshness } = await service.find(TRAINS);
        expect(body.departures.length).toBeGreaterThan(0);
        if (liveOf(body) > 0) expect(day().clock.now() - freshness.retrievedAt).toBeLessThanOrEqual(107_000);
      }
    }),
    { numRuns: 8 },
  );
});

it('a board counts once where it is found in several steps, to know which departures go to a stop', async () => {
  const service = await startService();
  const { body } = await service.find({ ...TRAINS, to: '200060' });
  expect(body.departures.length).toBeGreaterThan(0);
  expect(service.requests.length).toBeGreaterThan(0);
  expect(service.boardSources).toEqual(['overlay']);
});

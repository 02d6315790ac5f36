import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { departuresResponse } from '#src/operations/departures/departure.ts';
import { tripsResponse } from '#src/operations/trips/response.ts';
import { colorsOf } from '#src/transit/line-colour.ts';
import { toSydneyWallClock } from '#src/transit/time.ts';
import { buildSandboxApp, type TestApp } from '#test/support/app.ts';

/** A Friday, 13:00 in Sydney, when departures of the next hour are cancelled. */
const NOW = '2026-11-20T02:00:20Z';
const BOARD = '/v1/departures?stop=200070&modes=all&limit=50';
const TRIPS = '/v1/trips?from=200070&to=209573';

let app: TestApp;
beforeAll(async () => {
  app = await buildSandboxApp(NOW);
});
afterAll(() => app.close());

const get = async (url: string) => {
  const { statusCode, body } = await app.inject(url);
  expect(statusCode, body).toBe(200);
  return JSON.parse(body);
};
const board = async (query = '') => departuresResponse.parse(await get(BOARD + query)).departures;
const journeys = async (query = '') => tripsResponse.parse(await get(TRIPS + query)).journeys;

describe('cancelled departures', () => {
  it('`cancelled=include` adds cancelled departures to the board and marks each of them', async () => {
    const [plain, whole] = [await board(), await board('&cancelled=include')];
    const running = whole.filter(({ cancelled }) => cancelled === false);
    const cancelled = whole.filter(({ cancelled }) => cancelled === true);
    // Cancelled departures count towards `limit` too.
    expect(running.map(({ cancelled: _, ...departure }) => departure)).toEqual(plain.slice(0, running.length));
    expect(cancelled.length).toBeGreaterThan(0);
    expect(running.length + cancelled.length).toBe(whole.length);
    for (const departure of cancelled) expect(departure).toMatchObject({ realtime_at: null, is_live: false });
  });

  it('cancelled departures are the same on /v1/boards and on the text board', async () => {
    const { boards } = await get('/v1/boards?stops=200070&modes=all&limit=50&cancelled=include&include=ids');
    expect(boards[0].departures).toEqual(await board('&cancelled=include&include=ids'));
    const { body: text } = await app.inject('/board/200070?limit=50&cancelled=include');
    expect(text.match(/^cancelled /gm)?.length).toBe(
      (await board('&cancelled=include')).filter(({ cancelled }) => cancelled).length,
    );
  });
});

describe('values of `include`', () => {
  it('values of `include` are case-insensitive', async () => {
    expect(await board('&include=IDS,%20Colors')).toEqual(await board('&include=ids,colors'));
  });
});

describe('`include=ids`', () => {
  it('trip IDs name the same run on a board and in a journey', async () => {
    const legs = (await journeys('&include=ids')).flatMap(({ legs }) => legs);
    const here = legs.filter(({ mode, origin }) => mode !== 'walk' && origin.parent_stop_id === '200070');
    expect(here.length).toBeGreaterThan(0);
    for (const { trip_id, mode, origin } of here) {
      const { time } = toSydneyWallClock(Date.parse(origin.departs_at));
      const url = `/v1/departures?stop=200070&modes=${mode}&time=${time}&include=ids`;
      expect(departuresResponse.parse(await get(url)).departures).toContainEqual(expect.objectContaining({ trip_id }));
    }
  });

  it('the parent stop IDs of legs have boards, and a walk has no trip ID', async () => {
    const legs = (await journeys('&include=ids')).flatMap(({ legs }) => legs);
    expect(legs.map(({ mode }) => mode)).toEqual(expect.arrayContaining(['walk', 'ferry']));
    for (const { mode, origin, trip_id } of legs) {
      if (mode === 'walk') expect(trip_id).toBeNull();
      expect((await get(`/v1/departures?stop=${origin.parent_stop_id}`)).stop_name).toBe(origin.name);
    }
  });
});

describe('texts of alerts', () => {
  it.each([BOARD, `${TRIPS}&path=none`])(
    'alert texts appear once in the body and records refer to them: %s',
    async (url) => {
      const recordsOf = (body: { departures?: object[]; journeys?: { legs: object[] }[] }) =>
        (body.departures ?? body.journeys?.flatMap(({ legs }) => legs)) as { alerts: string[]; alert_ids: string[] }[];
      const plain = await get(url);
      const apart = await get(`${url}&include=alert_texts&include=colors`);
      const texts = recordsOf(apart).map(({ alert_ids }) => alert_ids.map((id) => apart.alert_texts[id]));
      expect(texts).toEqual(recordsOf(plain).map(({ alerts }) => alerts));
      expect(recordsOf(apart).flatMap(({ alerts }) => alerts)).toEqual([]);
      const named = Object.values(apart.alert_texts as Record<string, string>);
      expect(named.length).toBeGreaterThan(0);
      expect(new Set(named).size).toBe(named.length);
      expect(recordsOf(await get(`${url}&include=ids`)).map(({ alert_ids }) => alert_ids)).toEqual(
        recordsOf(apart).map(({ alert_ids }) => alert_ids),
      );
    },
  );

  it('the text board shows alerts with and without `include=alert_texts`', async () => {
    const [plain, apart] = await Promise.all(
      ['', '&include=alert_texts'].map((query) => app.inject(`/board/200070?limit=50${query}`)),
    );
    expect(plain?.body).toContain('\n! ');
    expect(apart?.body).toBe(plain?.body);
  });
});

describe('`include=colors`', () => {
  it('a leg has the colours of its line in GTFS, and a walk has none', async () => {
    const legs = (await journeys('&include=colors')).flatMap(({ legs }) => legs);
    const lines = new Set<string>();
    for (const { mode, route, color, text_color } of [...legs, ...(await board('&include=colors,ids'))]) {
      const [walks, line] = [mode === 'walk', `${mode} ${route}`];
      lines.add(line);
      if (walks) expect([color, text_color]).toEqual([null, null]);
      else expect([color, text_color].join()).toMatch(/^[0-9A-F]{6},(000000|FFFFFF)$/);
      if (line === 'train T1') expect([color, text_color]).toEqual(['F99D1C', '000000']);
      if (line === 'ferry F1') expect([color, text_color]).toEqual(['00774B', 'FFFFFF']);
    }
    expect([...lines]).toEqual(expect.arrayContaining(['train T1', 'ferry F1', 'walk null']));
  });

  it.each([
    ['train', 'T6', 'F6891F'],
    ['train', '31', 'E56E0F'],
    ['train', '623', 'E56E0F'],
    ['train', 'NRW', 'E56E0F'],
    ['coach', '135', '732A82'],
    ['lightrail', 'LX', 'EE343F'],
    ['ferry', 'F10', '469B3B'],
    ['ferry', 'MFF', '5AB031'],
    ['ferry', 'CCTZ', '5AB031'],
    ['ferry', 'Stkn', '5AB031'],
  ] as const)('the colour of %s %s is %s, as in the timetable', (mode, route, color) => {
    expect(colorsOf(mode, route).color).toBe(color);
  });

  it('colours default to the colours of the mode', () => {
    expect(colorsOf('bus', '333')).toEqual({ color: '006A99', text_color: 'FFFFFF' });
    expect(colorsOf('train', 'constructor')).toEqual(colorsOf('train'));
  });
});

it('a response contains an optional field only if requested', async () => {
  for (const url of [BOARD, TRIPS, '/v1/nearby?lat=-33.8731&lng=151.2069&modes=all', '/v1/boards?stops=200070']) {
    for (const query of ['', '&cancelled=exclude', '&include=']) {
      if (url.includes('nearby') && query.includes('cancelled')) continue;
      expect(JSON.stringify(await get(url + query))).not.toMatch(
        /"(cancelled|line_id|trip_id|parent_stop_id|children|color|text_color|alert_ids|alert_texts|vehicle_accessible|bikes_allowed|stop_accessible)":/,
      );
    }
  }
});

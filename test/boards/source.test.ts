import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '#src/errors/api-error.ts';
import { Timetable } from '#src/timetable/timetable.ts';
import { buildTestApp } from '#test/support/app.ts';
import { scheduleFile } from '#test/support/schedule-file.ts';
import { buildTimetable } from '#test/support/timetable.ts';
import { openSandboxBoards, type SandboxBoards } from './sandbox-boards.ts';

/** 07:30 of a weekday in Sydney. */
const MORNING = '2026-11-17T20:30:00Z';
const CENTRAL = { stop: '200060', modes: 'train', limit: '5' };
const DOWN = new ApiError('UPSTREAM_ERROR', 'down');
const MINUTE = 60_000;

let on: SandboxBoards;
let auto: SandboxBoards;
beforeAll(async () => {
  on = await openSandboxBoards(MORNING);
  auto = await openSandboxBoards(MORNING, { mode: 'auto' });
});
afterEach(() => {
  for (const { state, sent, origins } of [on, auto]) {
    state.isUpstreamAway = null;
    state.away.clear();
    sent.length = 0;
    origins.length = 0;
  }
  on.advanceTo(MORNING);
});

describe('boards with TIMETABLE=on', () => {
  it.each([
    ['of the present', {}],
    ['of this evening', { time: '2030' }],
    ['of tomorrow', { date: '20261119', time: '0800' }],
    ['of a time that is over', { time: '0600' }],
    ['with calls', { include: 'calls,ids' }],
    ['of what calls elsewhere', { to: '200070' }],
  ])('a timetable board makes no upstream call: %s', async (_, more) => {
    const { body } = await on.departures({ ...CENTRAL, ...more });
    expect(body.departures).toHaveLength(5);
    expect(on.origins).toEqual(['timetable']);
    expect(on.sent).toEqual([]);
    expect(
      (await on.arrivals({ ...CENTRAL, ...('to' in more || 'include' in more ? {} : more) })).body.arrivals,
    ).toHaveLength(5);
  });

  it.each([
    ['a stop that it lacks', { ...CENTRAL, stop: '99004002', modes: 'all' }, 'the timetable lacks the stop'],
    ['a day that it does not cover', { ...CENTRAL, date: '20270301' }, 'the timetable does not cover the day'],
    ['a destination that it lacks', { ...CENTRAL, to: 'G1' }, 'the timetable lacks the destination'],
  ])('a board of %s comes from the trip planner', async (_, query, reason) => {
    const boards = await on.departures(query).then(
      ({ boards }) => boards,
      () => on.origins,
    );
    expect(on.sent.length).toBeGreaterThan(0);
    if (on.origins.length > 0) expect(boards).toEqual([{ source: 'planner', reason }]);
  });

  it('a timetable board is as old as the oldest feed that makes a departure live', async () => {
    const { body, freshness } = await on.departures(CENTRAL);
    expect(body.departures.some(({ is_live }) => is_live)).toBe(true);
    expect(freshness.retrievedAt).toBeLessThanOrEqual(on.now());
    expect(on.now() - freshness.retrievedAt).toBeLessThan(MINUTE);
  });

  it('timetable boards last ten minutes without upstream and feeds, with a notice', async () => {
    const before = await on.departures(CENTRAL);
    on.state.isUpstreamAway = DOWN;
    on.state.away = new Set([
      'sydneytrains',
      'nswtrains',
      'metro',
      'buses',
      'cbdandsoutheast',
      'innerwest',
      'sydneyferries',
      'MFF',
    ]);
    for (let minute = 1; minute <= 10; minute++) {
      on.advanceTo(Date.parse(MORNING) + minute * MINUTE);
      for (const stop of ['200060', '200020', '209573', '202210']) {
        const { body, notices, freshness } = await on.departures({ stop, modes: 'all', limit: '20' });
        expect(body.departures.length, stop).toBeGreaterThan(5);
        expect(body.departures.some(({ is_live }) => is_live)).toBe(false);
        expect(notices?.[0]?.text).toMatch(/^No live times at present: /);
        if (stop === '200060') expect(freshness.retrievedAt).toBe(before.freshness.retrievedAt);
      }
    }
    expect(new Set(on.origins.slice(1))).toEqual(new Set(['timetable: no response']));
  });

  it('an expired file sends only its own modes to the trip planner, and other departures survive an upstream outage', async () => {
    const calls = [
      ['2001', '8:00'],
      ['2002', '8:10'],
    ] as const;
    const of = (mode: 'train' | 'ferry', lastDay: string) => ({
      stops: [{ id: '2001' }, { id: '2002' }],
      routes: [{ id: 'R', mode }],
      trips: [{ id: mode, days: [lastDay], calls }],
      firstDay: '20261001',
      lastDay: mode === 'train' ? '20261210' : lastDay,
    });
    const files = [scheduleFile('sydneytrains', of('train', '20261118')), scheduleFile('MFF', of('ferry', '20261101'))];
    const { timetable } = on;
    on.state.timetable = new Timetable(buildTimetable(files, { importedAt: 0 }));
    on.state.isUpstreamAway = DOWN;
    try {
      const trains = await on.departures({ stop: '2001', modes: 'train', include: 'ids' });
      expect(trains.body.departures.map(({ trip_id }) => trip_id)).toEqual(['train']);
      expect(on.sent).toEqual([]);
      const all = await on.departures({ stop: '2001', modes: 'all', include: 'ids' });
      expect(all.body.departures.map(({ trip_id }) => trip_id)).toEqual(['train']);
      expect(on.sent).toHaveLength(1);
      await expect(on.departures({ stop: '2001', modes: 'ferry' })).rejects.toBe(DOWN);
    } finally {
      on.state.timetable = timetable;
    }
  });

  it('the notice about missing live times names only modes whose feeds are unavailable', async () => {
    on.state.away.add('cbdandsoutheast');
    on.state.away.add('innerwest');
    const { notices } = await on.departures({ ...CENTRAL, modes: 'all', limit: '30' });
    expect(notices).toEqual([{ text: 'No live times at present: lightrail.' }]);
    expect((await on.departures(CENTRAL)).notices).toEqual([]);
  });

  it('the notice names a mode without live departures even if another of its feeds works', async () => {
    on.state.away = new Set(['sydneytrains']);
    const { body, notices } = await on.departures({ ...CENTRAL, modes: 'train', limit: '5' });
    expect(body.departures.map(({ is_live }) => is_live)).toEqual([false, false, false, false, false]);
    expect(notices).toEqual([{ text: 'No live times at present: train.' }]);
  });
});

describe('boards with TIMETABLE=on over HTTP', () => {
  it('a timetable board names its source, and is a 200 with notice and age while everything else is unavailable', async () => {
    const { boards, state } = on;
    const clock = () => new Date(on.now());
    const app = await buildTestApp({
      upstream: () => Promise.reject(state.isUpstreamAway ?? DOWN),
      now: clock,
      boards,
    });
    const get = () => app.inject('/v1/departures?stop=200060&modes=train&limit=5');
    const first = await get();
    expect([first.statusCode, first.headers['x-times-source'], first.headers['x-notice']]).toEqual([
      200,
      'timetable',
      undefined,
    ]);
    state.away = new Set(['sydneytrains', 'nswtrains']);
    on.advanceTo(Date.parse(MORNING) + 10 * MINUTE);
    const later = await get();
    expect(later.json().departures).toHaveLength(5);
    expect(later.headers).toMatchObject({
      'x-times-source': 'timetable',
      'x-notice': 'No live times at present: train.',
    });
    expect(Number(later.headers.age)).toBeGreaterThanOrEqual(600);
    const both = await app.inject('/v1/boards?stops=200060,200070&modes=train');
    expect([both.statusCode, both.headers['x-times-source']]).toEqual([200, 'timetable']);
    expect((await app.inject('/v1/departures?stop=99004002')).statusCode).toBe(502);
    await app.close();
  });
});

describe('boards with TIMETABLE=auto', () => {
  const BUSY = ['200060', '200070', '200020', '215020', '202210', '216120', '220510'];

  it('boards come from the trip planner and are compared until their mode is trusted', async () => {
    await auto.departures({ ...CENTRAL, modes: 'train' });
    expect(auto.origins).toEqual(['planner: the timetable is not trusted yet']);
    for (let turn = 0; turn < 8 && !auto.trust.isTrusted('train'); turn++) {
      auto.advanceTo(Date.parse(MORNING) + turn * 11 * MINUTE);
      for (const stop of BUSY) await auto.departures({ ...CENTRAL, stop });
    }
    const { train } = auto.trust.report();
    expect(train?.isTrusted, JSON.stringify(train)).toBe(true);
    await auto.departures(CENTRAL);
    auto.advanceTo(auto.now() + 15 * MINUTE);
    auto.sent.length = 0;
    auto.origins.length = 0;
    for (let n = 0; n < 100; n++) await auto.departures(CENTRAL);
    expect(new Set(auto.origins)).toEqual(new Set(['timetable']));
    expect(auto.sent.map(({ priority }) => priority)).toEqual(['background']);
  });

  it('boards of an untrusted mode come from the timetable, with a notice, when the trip planner fails or is out of date', async () => {
    auto.state.isUpstreamAway = DOWN;
    const { body, notices, boards } = await auto.departures({ stop: '201643', modes: 'bus', limit: '3' });
    expect(body.departures).toHaveLength(3);
    expect(notices?.[0]?.text).toBe('The trip planner is unavailable, so this board comes from the timetable.');
    expect(boards).toMatchObject([{ source: 'timetable', reason: 'the trip planner fails', detail: 'UPSTREAM_ERROR' }]);
    auto.state.isUpstreamAway = null;
    auto.state.responseAgeMs = 46_000;
    const old = await auto.departures({ stop: '201643', modes: 'bus', limit: '3' });
    expect(old.notices?.[0]?.text).toBe(
      "The trip planner's live times are out of date, so this board comes from the timetable.",
    );
    expect(old.boards).toMatchObject([{ source: 'timetable', reason: 'the trip planner is behind' }]);
    auto.state.responseAgeMs = 44_000;
    const recent = await auto.departures({ stop: '201643', modes: 'bus', limit: '3' });
    expect(recent.boards).toMatchObject([{ source: 'planner' }]);
    auto.state.responseAgeMs = 0;
    auto.state.isUpstreamAway = new ApiError('STOP_NOT_FOUND', 'no such stop');
    await expect(auto.departures({ stop: '201643', modes: 'bus' })).rejects.toThrow('no such stop');
  });
});

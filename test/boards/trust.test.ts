import { expect, it } from 'vitest';
import { BoardTrust, type ComparedPage } from '#src/boards/trust.ts';
import type { Departure } from '#src/transit/departure.ts';
import type { Mode } from '#src/transit/mode.ts';
import { departure } from '#test/support/departure.ts';

const NOW = Date.parse('2026-11-26T00:00:00Z');
const MINUTE = 60_000;

function createTrust(mode: BoardTrust['mode'] = 'auto') {
  const lines: string[] = [];
  const note = (_: object, message: string) => void lines.push(message);
  const clock = { now: NOW };
  return { trust: new BoardTrust({ mode, now: () => clock.now, log: { info: note, warn: note } }), lines, clock };
}

const board = (count: number, more: (n: number) => Partial<Departure> = () => ({})) =>
  Array.from({ length: count }, (_, n) =>
    departure({ runId: `${n}`, key: `${n}`, plannedAt: NOW + (10 + n) * MINUTE, platform: 'Stand A', ...more(n) }),
  );
const pageOf = (departures: readonly Departure[], modes: Mode[] = ['bus']): ComparedPage => {
  const until = Math.max(NOW, ...departures.map(({ plannedAt }) => plannedAt)) + 1;
  return { modes, isPresent: true, from: NOW - MINUTE, until, departures };
};

it('a mode is trusted once 98 % of 200 departures agree, and loses trust below that', () => {
  const { trust, lines } = createTrust();
  for (let n = 0; n < 4; n++) {
    expect(trust.isTrusted('bus')).toBe(false);
    trust.compare('200070', pageOf(board(40)), board(40));
  }
  trust.compare(
    '200070',
    pageOf(board(40)),
    board(40, (n) => (n < 4 ? { platform: 'Stand B' } : {})),
  );
  expect(trust.isTrusted('bus')).toBe(true);
  expect(trust.isTrusted('train')).toBe(false);
  expect(trust.report()).toEqual({ bus: { compared: 200, agreed: 196, isTrusted: true } });
  trust.compare(
    '200070',
    pageOf(board(40)),
    board(40, (n) => (n === 0 ? { route: '344' } : {})),
  );
  expect(trust.isTrusted('bus')).toBe(false);
  expect(lines).toEqual([
    'boards of this mode come from the timetable',
    'timetable disagrees with the trip planner: boards of this mode come from the trip planner again',
  ]);
});

it.each<[string, (ours: Departure[]) => Departure[], number]>([
  ['another minute', (ours) => ours.map((one) => ({ ...one, plannedAt: one.plannedAt + MINUTE })), 0],
  ['another run', (ours) => ours.map((one) => ({ ...one, runId: `x${one.runId}` })), 0],
  ['missing', () => [], 0],
  ['in another order', (ours) => ours.toReversed(), 10],
])('trust compares run, minute, platform and line: %s', (_, change, agreed) => {
  const { trust } = createTrust();
  const page = pageOf(board(10));
  trust.compare('200070', { ...page, until: page.until + 5 * MINUTE }, change(board(10)));
  expect(trust.report().bus?.agreed).toBe(agreed);
});

it('trust compares runs of ferries and TrainLink without the publication date in their IDs', () => {
  const { trust } = createTrust();
  const published = (date: string) => board(10, (n) => ({ runId: `AB12.${date}.32.${1000 + n}` }));
  trust.compare('200070', pageOf(published('290826')), published('050926'));
  expect(trust.report().bus).toMatchObject({ compared: 10, agreed: 10 });
});

it('trust ignores departures that have just left or lie beyond the page', () => {
  const { trust } = createTrust();
  const gone = departure({ runId: 'gone', key: 'gone', plannedAt: NOW + MINUTE });
  const far = departure({ runId: 'far', key: 'far', plannedAt: NOW + 90 * MINUTE });
  trust.compare('200070', pageOf([gone, ...board(10)]), [...board(10), far]);
  expect(trust.report().bus).toMatchObject({ compared: 10, agreed: 10 });
});

it('trust records which modes the timetable lacks at a station of the trip planner', () => {
  const { trust } = createTrust();
  expect(trust.lackingAt('200070')).toBeNull();
  const trains = board(5, () => ({ mode: 'train' }));
  trust.compare('200070', pageOf([...trains, ...board(5)], ['train', 'bus', 'ferry']), trains);
  expect(trust.lackingAt('200070')).toEqual(['bus']);
  trust.compare('200070', pageOf(board(5)), board(5));
  expect(trust.lackingAt('200070')).toEqual([]);
});

it('trust samples a board of each mode every 15 minutes', () => {
  const { trust, clock } = createTrust();
  expect([trust.isSampled(['bus']), trust.isSampled(['bus']), trust.isSampled(['bus', 'train'])]).toEqual([
    true,
    false,
    true,
  ]);
  clock.now += 14 * MINUTE;
  expect(trust.isSampled(['bus', 'train'])).toBe(false);
  clock.now += MINUTE;
  expect(trust.isSampled(['bus'])).toBe(true);
});

it('trust logs once an hour', () => {
  const { trust, lines, clock } = createTrust();
  for (const minutes of [10, 30, 61, 70, 122]) {
    clock.now = NOW + minutes * MINUTE;
    trust.compare('200070', pageOf([]), []);
  }
  expect(lines).toEqual(Array(2).fill('timetable compared with the trip planner'));
});

it('TIMETABLE=on trusts every mode, and TIMETABLE=off none', () => {
  expect(createTrust('on').trust.isTrusted('ferry')).toBe(true);
  expect(createTrust('off').trust.isTrusted('ferry')).toBe(false);
});

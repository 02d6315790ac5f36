import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Int32Column } from '#src/core/columns.ts';
import { nextTurn } from '#src/core/event-loop-turn.ts';
import { mergeOrders } from '#src/lines/stop-order.ts';

/** Each text is a run; each letter of it a stop, one minute after the one before. */
const merge = (...runs: string[]) =>
  mergeOrders(
    runs.map((run) => ({
      stops: Array.from(run, (stop) => stop.charCodeAt(0)),
      seconds: Int32Column.from(run, (_, at) => at * 60),
    })),
  );
const orderOf = async (...runs: string[]) =>
  String.fromCharCode(...(await merge(...runs)).order.map(({ stop }) => stop));

it.each([
  ['are the stops of the only pattern', ['ABC'], 'ABC'],
  ['are not repeated for a part of a longer run', ['ABCDE', 'BCD', 'ACE'], 'ABCDE'],
  ['have a stop that only one run has between its neighbours', ['ACD', 'ABCD'], 'ABCD'],
  ['have a branch at its beginning just before the common part', ['ABCD', 'XYCD'], 'ABXYCD'],
  ['have a branch at its end just after the common part', ['ABCD', 'ABXY'], 'ABXYCD'],
  ['have a stop twice if a loop calls at it twice', ['ABCA', 'ABC', 'BCA'], 'ABCA'],
  ['follow one another for runs without a common stop', ['AB', 'XY'], 'ABXY'],
  ['have a stop twice if two runs pass it in opposite orders', ['ABC', 'CBA'], 'ABCBA'],
])('the rows of a timetable %s', async (_name, runs, order) => {
  expect(await orderOf(...runs)).toBe(order);
});

it('rows give the typical time since the first row, even on a branch that starts elsewhere', async () => {
  const { order } = await merge('ABCD', 'XCD');
  expect(order.map(({ stop, seconds }) => [String.fromCharCode(stop), seconds])).toEqual([
    ['A', 0],
    ['B', 60],
    ['X', 60],
    ['C', 120],
    ['D', 180],
  ]);
});

it('rows contain every run in order, and nothing that no run has', async () => {
  const run = fc.array(fc.constantFrom(...'ABCDEFGH'), { minLength: 2, maxLength: 10 }).map((stops) => stops.join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 8 }), async (runs) => {
      const merged = await merge(...runs);
      const { order } = merged;
      const rows = merged.rows.map((own) => own ?? []);
      expect(rows.map((own) => String.fromCharCode(...own.map(({ stop }) => stop)))).toEqual(runs);
      for (const own of rows) {
        const places = own.map((row) => order.indexOf(row));
        expect(places).toEqual([...new Set(places)].sort((one, other) => one - other));
        expect(places).not.toContain(-1);
      }
      expect(new Set(rows.flat()).size).toBe(order.length);
    }),
    { numRuns: 300 },
  );
});

/** Sequences of the same stops, each in an order of its own. */
function shuffled(count: number, length: number) {
  let random = 1;
  return Array.from({ length: count }, () => {
    const stops = Array.from({ length }, (_, stop) => stop);
    for (let at = length - 1; at > 0; at--) {
      random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
      const other = (random >>> 8) % (at + 1);
      [stops[at], stops[other]] = [stops[other] as number, stops[at] as number];
    }
    return { stops, seconds: Int32Column.from(stops, (_, at) => at) };
  });
}

it('patterns that no one order of rows fits are left out before the table is too long, the busiest last', async () => {
  const sequences = shuffled(300, 600);
  const { order, rows } = await mergeOrders(sequences);
  expect(order.length).toBeLessThanOrEqual(2000);
  expect(rows).toHaveLength(300);
  expect(rows[0]?.map(({ stop }) => stop)).toEqual(sequences[0]?.stops);
  expect(rows.at(-1)).toBeNull();
  for (const [at, own] of rows.entries()) if (own) expect(own.map(({ stop }) => stop)).toEqual(sequences[at]?.stops);
});

it('other requests get turns while patterns are merged', async () => {
  let turns = 0;
  let isMerged = false;
  const takeTurns = async () => {
    for (; !isMerged; turns++) await nextTurn();
  };
  const merged = mergeOrders(shuffled(300, 600)).then(() => {
    isMerged = true;
  });
  await Promise.all([merged, takeTurns()]);
  expect(turns).toBeGreaterThan(10);
});

it('runs with the same sequence of stops have the same rows', async () => {
  const { rows } = await merge('ABCD', 'ABXD', 'ABCD', 'AXD', 'ABCD');
  expect(rows[4]).toEqual(rows[2]);
  expect(rows[4]?.map(({ stop }) => String.fromCharCode(stop)).join('')).toBe('ABCD');
});

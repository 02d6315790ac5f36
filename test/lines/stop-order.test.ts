import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mergeOrders } from '#src/lines/stop-order.ts';

/** Each text is a run; each letter of it a stop, one minute after the one before. */
const merge = (...runs: string[]) =>
  mergeOrders(
    runs.map((run) => ({
      stops: Array.from(run, (stop) => stop.charCodeAt(0)),
      seconds: Array.from(run, (_, at) => at * 60),
    })),
  );
const orderOf = (...runs: string[]) => String.fromCharCode(...merge(...runs).order.map(({ stop }) => stop));

it.each([
  ['are the stops of the only pattern', ['ABC'], 'ABC'],
  ['are not repeated for a part of a longer run', ['ABCDE', 'BCD', 'ACE'], 'ABCDE'],
  ['have a stop that only one run has between its neighbours', ['ACD', 'ABCD'], 'ABCD'],
  ['have a branch at its beginning just before the common part', ['ABCD', 'XYCD'], 'ABXYCD'],
  ['have a branch at its end just after the common part', ['ABCD', 'ABXY'], 'ABXYCD'],
  ['have a stop twice if a loop calls at it twice', ['ABCA', 'ABC', 'BCA'], 'ABCA'],
  ['follow one another for runs without a common stop', ['AB', 'XY'], 'ABXY'],
  ['have a stop twice if two runs pass it in opposite orders', ['ABC', 'CBA'], 'ABCBA'],
])('the rows of a timetable %s', (_name, runs, order) => {
  expect(orderOf(...runs)).toBe(order);
});

it('rows give the typical time since the first row, even on a branch that starts elsewhere', () => {
  const { order } = merge('ABCD', 'XCD');
  expect(order.map(({ stop, seconds }) => [String.fromCharCode(stop), seconds])).toEqual([
    ['A', 0],
    ['B', 60],
    ['X', 60],
    ['C', 120],
    ['D', 180],
  ]);
});

it('rows contain every run in order, and nothing that no run has', () => {
  const run = fc.array(fc.constantFrom(...'ABCDEFGH'), { minLength: 2, maxLength: 10 }).map((stops) => stops.join(''));
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 8 }), (runs) => {
      const { order, rows } = merge(...runs);
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

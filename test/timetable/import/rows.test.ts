import fc from 'fast-check';
import papaparse from 'papaparse';
import { expect, it } from 'vitest';
import { loadRows } from '#src/timetable/import/rows.ts';

const COLUMNS = ['a', 'b', 'c'] as const;

/** The rows of a text that arrives in pieces of `piece` bytes. */
async function read(text: string, piece: number, columns: readonly (typeof COLUMNS)[number][] = COLUMNS) {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let start = 0; start < bytes.length; start += piece) yield bytes.subarray(start, start + piece);
  }
  const rows: string[][] = [];
  await loadRows(chunks(), { name: 'test.txt', required: columns, optional: [], maxRows: 1000, size: 0 }, (row, at) => {
    rows.push(columns.map((column) => row.text(at[column])));
  });
  return rows;
}

const value = fc
  .array(fc.constantFrom('x', 'é', '🚆', '"', ',', '\n', ' ', '1', ':'), { maxLength: 6 })
  .map((letters) => letters.join('').trim());

it('the CSV reader reads what papaparse writes, in pieces of any size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(value, value, value), { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.integer({ min: 1, max: 40 }),
      async (rows, newline, quotes, piece) => {
        const text = papaparse.unparse([[...COLUMNS], ...rows], { newline, quotes });
        expect(await read(text, piece)).toEqual(rows);
      },
    ),
    { numRuns: 500 },
  );
});

it('the CSV reader returns nothing for the missing values of a short row, and ignores extra ones', async () => {
  expect(await read('a,b,c\n1,2,3\n4\n5,6,7,8,9\n', 1000)).toEqual([
    ['1', '2', '3'],
    ['4', '', ''],
    ['5', '6', '7'],
  ]);
});

it('the CSV reader accepts both line ends in one file', async () => {
  expect(await read('a,b,c\r\n1,2,3\n4,5,6\r\n7,8,9\n', 1000)).toEqual([
    ['1', '2', '3'],
    ['4', '5', '6'],
    ['7', '8', '9'],
  ]);
});

it('the CSV reader finds values by column name', async () => {
  expect(await read('\uFEFF"x"," c ","b","a"\n0,3,2,1', 2)).toEqual([['1', '2', '3']]);
});

it.each([
  ['07:05:00', 25_500],
  ['7:05:09', 25_509],
  [' 7:05:00 ', 25_500],
  ['"00:00:00"', 0],
  ['48:00:00', 172_800],
  ['48:00:01', Number.NaN],
  ['07:60:00', Number.NaN],
  ['07:05', 25_500],
  [' 5:45 ', 20_700],
  ['34:30', 124_200],
  ['7:5', Number.NaN],
  ['07:60', Number.NaN],
  [':05', Number.NaN],
  ['-7:05:00', Number.NaN],
  ['070500', Number.NaN],
  ['', Number.NaN],
])('the CSV reader reads the time %s as %d seconds', async (text, seconds) => {
  const found: number[] = [];
  async function* chunks() {
    yield Buffer.from(`time,other\n${text},1\n`);
  }
  await loadRows(
    chunks(),
    { name: 'test.txt', required: ['time', 'other'], optional: [], maxRows: 1000, size: 0 },
    (row, at) => {
      found.push(row.seconds(at.time));
    },
  );
  expect(found).toEqual([seconds]);
});

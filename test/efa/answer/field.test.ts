import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { flag, listOf, number, text } from '#src/efa/answer/field.ts';

const record = z.compile(z.object({ text, number, flag, list: listOf(z.object({ id: z.string() })) }));

function read(given: object) {
  const { list: _, ...fields } = record.parse(given);
  return fields;
}

describe('a field of a record', () => {
  it.each<[keyof z.input<typeof record>, unknown, unknown]>([
    ['text', 'T8', 'T8'],
    ['text', '', ''],
    ['text', 216120, '216120'],
    ['text', true, undefined],
    ['text', null, undefined],
    ['text', {}, undefined],
    ['number', 12.5, 12.5],
    ['number', '12.5', 12.5],
    ['number', '-3', -3],
    ['number', -1e9, -1e9],
    ['number', 1e9 + 1, undefined],
    ['number', '1e3', undefined],
    ['number', ' 1', undefined],
    ['number', '', undefined],
    ['number', null, undefined],
    ['flag', true, true],
    ['flag', 'false', false],
    ['flag', 'TRUE', true],
    ['flag', '1', true],
    ['flag', '0', false],
    ['flag', 1, undefined],
    ['flag', 'yes', undefined],
    ['flag', [true], undefined],
  ])('%s %j reads as %j', (name, given, expected) => {
    expect(read({ [name]: given })).toEqual({ [name]: expected });
  });

  it('that is missing stays missing', () => {
    expect(read({})).toEqual({});
  });

  it('that is a list keeps the elements that can be read, and may be missing or bare', () => {
    const lists = [[{ id: 'a' }, 7, { id: 1 }, { id: 'b' }], { id: 'a' }, 'x', null, undefined];
    expect(lists.map((list) => record.parse({ list }).list)).toEqual([
      [{ id: 'a' }, { id: 'b' }],
      [{ id: 'a' }],
      [],
      [],
      [],
    ]);
    expect(record.parse({}).list).toEqual([]);
  });
});

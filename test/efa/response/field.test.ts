import { describe, expect, it } from 'vitest';
import { parseFlag, parseList, parseName, parseNumber, parseObject, parseText } from '#src/efa/response/field.ts';

const READERS = { text: parseText, name: parseName, number: parseNumber, flag: parseFlag };

describe('a field of a record', () => {
  it.each<[keyof typeof READERS, unknown, unknown]>([
    ['text', 'T8', 'T8'],
    ['text', '', ''],
    ['text', 216120, '216120'],
    ['text', true, undefined],
    ['text', null, undefined],
    ['text', undefined, undefined],
    ['text', {}, undefined],
    ['text', '2000\u202e60\u{e0041}', '200060'],
    ['name', 'Town Hall,  Park St & Druitt’s ⚠️', 'Town Hall,  Park St & Druitt’s ⚠️'],
    ['name', 216120, '216120'],
    ['name', '<b>Town</b> Hall &amp;lt;i&amp;gt;Station', 'Town Hall Station'],
    ['name', 'Platform\u200b 3\u2066\u{e0049}\u0007', 'Platform 3'],
    ['name', '<i></i>', ''],
    ['name', null, undefined],
    ['number', 12.5, 12.5],
    ['number', '12.5', 12.5],
    ['number', '-3', -3],
    ['number', -1e9, -1e9],
    ['number', 1e9 + 1, undefined],
    ['number', '1e3', undefined],
    ['number', ' 1', undefined],
    ['number', '', undefined],
    ['number', null, undefined],
    ['number', undefined, undefined],
    ['flag', true, true],
    ['flag', 'false', false],
    ['flag', 'TRUE', true],
    ['flag', '1', true],
    ['flag', '0', false],
    ['flag', 1, undefined],
    ['flag', 'yes', undefined],
    ['flag', [true], undefined],
    ['flag', undefined, undefined],
  ])('the %s field %j reads as %j', (name, given, expected) => {
    expect(READERS[name](given)).toBe(expected);
  });

  it('a list field keeps readable elements, and may be missing or a single element', () => {
    const lists = [[{ id: 'a' }, 7, [], { id: 'b' }], { id: 'a' }, 'x', null, undefined];
    expect(lists.map((list) => parseList(list, parseObject))).toEqual([
      [{ id: 'a' }, { id: 'b' }],
      [{ id: 'a' }],
      [],
      [],
      [],
    ]);
  });
});

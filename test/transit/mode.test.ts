import { describe, expect, it } from 'vitest';
import { isWalkClass, toExcludedClasses, toMode } from '#src/efa/product-class.ts';
import { MODES, modesParameter, sortModes } from '#src/transit/mode.ts';

describe('the `modes` parameter', () => {
  it.each([
    ['bus', ['bus']],
    ['ferry,train', ['train', 'ferry']],
    [' Bus , TRAIN,bus,', ['train', 'bus']],
    ['all', [...MODES]],
    ['bus,ALL', [...MODES]],
  ])('`modes` %j is read as %j', (text, modes) => {
    expect(modesParameter.parse(text)).toEqual(modes);
  });

  it.each([
    ['bus,tram,boat', '"tram", "boat"'],
    ['all,tram', '"tram"'],
    ['bus,Walk', '"Walk"'],
    ['walk', 'separated by commas, not "walk"'],
    [',', 'all or some of train, metro'],
  ])('`modes` %j is refused, and the message contains %s', (text, part) => {
    const message = modesParameter.safeParse(text).error?.issues[0]?.message;
    expect(message).toContain(part);
    expect(message).toContain('schoolbus');
  });

  it('`modes` is refused if given twice', () => {
    expect(modesParameter.safeParse(['bus', 'train']).error?.issues[0]?.message).toBe('must be given once');
  });
});

it('modes are sorted in the order of the specification, without duplicates', () => {
  expect(sortModes(['schoolbus', 'bus', 'train', 'bus'])).toEqual(['train', 'bus', 'schoolbus']);
});

describe('product classes', () => {
  it.each([
    [1, 'train'],
    [2, 'metro'],
    [4, 'lightrail'],
    [5, 'bus'],
    [7, 'coach'],
    [9, 'ferry'],
    [10, 'bus'],
    [11, 'schoolbus'],
    [0, null],
    [3, null],
    [77, null],
    [99, null],
    [100, null],
  ])('product class %i is %s', (productClass, mode) => {
    expect(toMode(productClass)).toBe(mode);
  });

  it('only product classes 99 and 100 are walks', () => {
    expect([1, 5, 77, 98, 99, 100, 107].filter(isWalkClass)).toEqual([99, 100]);
  });

  it('product classes of other modes are excluded, on-demand together with buses', () => {
    expect(toExcludedClasses(['bus'])).toEqual([1, 2, 4, 7, 9, 11]);
    expect(toExcludedClasses(['train'])).toEqual([2, 4, 5, 7, 9, 10, 11]);
    expect(toExcludedClasses(MODES)).toEqual([]);
  });
});

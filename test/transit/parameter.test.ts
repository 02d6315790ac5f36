import { describe, expect, it } from 'vitest';
import {
  countUpTo,
  decimalBetween,
  optional,
  requiredText,
  someOf,
  splitList,
  withDefault,
} from '#src/transit/parameter.ts';

const message =
  (schema: { safeParse(value: unknown): { error?: { issues: { message: string }[] } | undefined } }) =>
  (value: unknown) =>
    schema.safeParse(value).error?.issues[0]?.message;

describe('a count', () => {
  const count = countUpTo(50);
  it.each([
    ['1', 1],
    ['007', 7],
    ['50', 50],
    ['51', 50],
    ['999999999999999999999', 50],
  ])('the count %j is read as %i', (text, number) => {
    expect(count.parse(text)).toBe(number);
  });

  it.each(['0', '-1', '1.5', '1e3', '0x1f', ' 5', '5 ', '+5', 'ten', 'Infinity', ''])(
    'the count %j is refused',
    (text) => {
      expect(message(count)(text)).toBe('must be a whole number from 1 to 50');
    },
  );
});

describe('a decimal', () => {
  const latitude = decimalBetween(-90, 90);
  it.each([
    ['-33.884', -33.884],
    ['.5', 0.5],
    ['5.', 5],
    ['90', 90],
    ['-90.000', -90],
    ['0', 0],
  ])('the decimal %j is read as %d', (text, number) => {
    expect(latitude.parse(text)).toBe(number);
  });

  it.each(['90.1', '-91', '1e1', '0x10', 'NaN', 'Infinity', '', ' ', '1,5', '--1', '.', '-'])(
    'the decimal %j is refused',
    (text) => {
      expect(message(latitude)(text)).toBe('must be a decimal number from -90 to 90');
    },
  );
});

describe('missing parameters', () => {
  it('an empty optional parameter counts as missing', () => {
    expect(optional(countUpTo(5)).parse('')).toBeUndefined();
    expect(optional(countUpTo(5)).parse(undefined)).toBeUndefined();
    expect(withDefault(countUpTo(5), '3').parse('')).toBe(3);
    expect(withDefault(countUpTo(5), '3').parse(undefined)).toBe(3);
  });

  it('the error for a required parameter says what is expected, or that it was given twice', () => {
    expect(message(requiredText('a stop identifier'))(undefined)).toBe('is required: a stop identifier');
    expect(message(requiredText('a stop identifier'))(['1', '2'])).toBe('must be given once');
    expect(message(optional(countUpTo(5)))(['1', '2'])).toBe('must be given once');
  });
});

it('the error for a list of words repeats the unknown ones as they were sent', () => {
  const schema = someOf(['mon', 'tue']);
  expect(schema.parse('Tue,MON')).toEqual(['mon', 'tue']);
  expect(message(schema)('mon,NaN')).toContain('not "NaN"');
});

it('a list parameter is split at commas and trimmed, without empty parts', () => {
  expect(splitList(' 324, 500X,,T1 ,')).toEqual(['324', '500X', 'T1']);
  expect(splitList(',')).toEqual([]);
});

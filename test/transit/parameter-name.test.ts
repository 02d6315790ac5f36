import { expect, it } from 'vitest';
import { findForeign, findMeant, PARAMETER_NAMES } from '#src/transit/parameter.ts';
import { describedOperations } from '#test/support/operations.ts';

it('the list of parameter names contains exactly the parameters of all operations', () => {
  // Parameters in paths need no suggestion: they cannot be forgotten or misspelt.
  const names = new Set(
    describedOperations().flatMap(({ path, query }) =>
      Object.keys(query.shape).filter((name) => !path.includes(`{${name}}`)),
    ),
  );
  expect(PARAMETER_NAMES.toSorted()).toEqual([...names].toSorted());
});

it.each([
  ['mode', 'modes'],
  ['MODES', 'modes'],
  ['omdes', 'modes'],
  ['mdes', 'modes'],
  ['modess', 'modes'],
  ['nodes', 'modes'],
  ['lon', 'lng'],
  ['Longitude', 'lng'],
  ['ARRIVEBY', 'arrive_by'],
  ['stop[]', 'stop'],
  ['modes[0]', 'modes'],
])('the unknown parameter %s suggests %s', (name, meant) => {
  expect(findMeant(name, PARAMETER_NAMES)).toBe(meant);
});

it.each(['lang', 'plat', 'last', 't', '_', 'on', 'too', 'key', 'mds', 'constructor', '__proto__', ''])(
  'the unknown parameter %j suggests nothing',
  (name) => {
    expect([findMeant(name, PARAMETER_NAMES), findForeign(name)]).toEqual([null, null]);
  },
);

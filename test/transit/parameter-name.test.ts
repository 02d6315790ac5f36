import { expect, it } from 'vitest';
import { AlertList } from '#src/alerts/alert-list.ts';
import { Vehicles } from '#src/live/vehicles.ts';
import { Verdicts } from '#src/nearby/verdict.ts';
import { createOperations } from '#src/operations.ts';
import { StopLines } from '#src/stops/lines.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { findForeign, findMeant, PARAMETER_NAMES } from '#src/transit/parameter.ts';

it('every parameter of every operation is in the list, and no other', () => {
  const nearby = { verdicts: new Verdicts(() => new Date()), checkQueue: { add() {} } };
  const stops = new StopRegister(noStops);
  const operations = createOperations({
    nearby,
    stops,
    lines: new StopLines(() => Date.now()),
    vehicles: new Vehicles({ now: Date.now }),
    alerts: new AlertList(Date.now, new StopRegister(noStops)),
    docsUrl: 'https://example.test/docs',
  });
  // A part of a path cannot be forgotten or misspelt.
  const names = new Set(
    operations.flatMap(({ path, query }) => Object.keys(query.shape).filter((name) => !path.includes(`{${name}}`))),
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
])('%s is meant for %s', (name, meant) => {
  expect(findMeant(name, PARAMETER_NAMES)).toBe(meant);
});

it.each(['lang', 'plat', 'last', 't', '_', 'on', 'too', 'key', 'mds', 'constructor', '__proto__', ''])(
  '%j is meant for none',
  (name) => {
    expect([findMeant(name, PARAMETER_NAMES), findForeign(name)]).toEqual([null, null]);
  },
);

it('format, which other APIs take, is ignored by operations that have none', () => {
  expect(findForeign('format')).toBeNull();
});

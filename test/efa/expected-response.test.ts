import { describe, expect, it } from 'vitest';
import { findKnownStop, isBoardOfAnotherStop, mayBeStop } from '#src/efa/expected-response.ts';
import { parseDepartureMonitor } from '#src/efa/payload.ts';

const central = {
  id: '200060',
  name: 'Central Station',
  type: 'stop',
  isBest: true,
  properties: { stopId: '10101100' },
};
const crownSt = { id: 'G201023', name: 'Crown St', type: 'stop', isBest: true, properties: { stopId: '10111010' } };
const platform = (id: string, parent: object = central) => ({ location: { id, type: 'platform', parent } });
const board = (locations: object[], stopEvents: object[] = [], code?: number) =>
  parseDepartureMonitor({ locations, stopEvents, systemMessages: code ? [{ code }] : [] });

describe('a board of the requested stop', () => {
  it.each<[what: string, stopId: string, locations: object[], stopEvents: object[]]>([
    ['by its own ID', '200060', [central], [platform('2000336')]],
    ['by its internal number', '10101100', [central], [platform('2000336')]],
    ['by the ID of a street stop', 'G201023', [crownSt], [platform('201023', crownSt)]],
    ['by the number of a pole without departures', '201023', [crownSt], []],
    ['by a platform on the board', '99010396', [central], [platform('99010396')]],
    ['by a platform with the number of a station, on the board', '201080', [central], [platform('201080')]],
    ['by a platform that the board does not mention', '2000337', [central], [platform('2000336')]],
    ['by a platform with the postcode of the next suburb', '201016', [central], [platform('2000336')]],
    ['by a platform without departures', '2000337', [central], []],
    ['by the stop of its events, without locations', '200060', [], [platform('2000336')]],
    ['by a number without a postcode', '99010396', [central], [platform('2000336')]],
  ])('a board is recognised as that of the requested stop %s', (_what, stopId, locations, stopEvents) => {
    expect(isBoardOfAnotherStop(board(locations, stopEvents), stopId)).toBe(false);
  });
});

describe('a board of another stop', () => {
  it.each<[what: string, stopId: string, locations: object[], stopEvents: object[]]>([
    ['of another region', '99999', [central], [platform('2000336')]],
    ['that is another station of the suburb', '200070', [central], [platform('2000336')]],
    ['that is a station without departures', '200070', [central], []],
    ['that is a street stop', 'G201099', [crownSt], [platform('201023', crownSt)]],
    ['with another internal number', '10101101', [central], [platform('2000336')]],
    ['without any stop in the payload', '200060', [], [{}]],
  ])('a board is rejected as that of another stop: %s', (_what, stopId, locations, stopEvents) => {
    const payload = board(locations, stopEvents);
    expect(isBoardOfAnotherStop(payload, stopId)).toBe(true);
    expect(findKnownStop(payload, stopId)).toBeNull();
  });
});

describe('a stop without departures', () => {
  it.each<[what: string, stopId: string, locations: object[], code: number | undefined, isKnown: boolean]>([
    ['is known when nothing leaves', '200060', [central], -4050, true],
    ['is unknown without a location', '200060', [], undefined, false],
    ['is unknown when upstream says so', '200060', [central], -2000, false],
    ['is unknown when locations are guesses', '20006', [{ ...central, isBest: false }], -8011, false],
    ['is known by its number among guesses', '10101100', [{ ...central, isBest: false }], undefined, true],
    ['remains unknown for a date beyond the timetable', '200060', [central], -4001, false],
  ])('a stop without departures %s', (_what, stopId, locations, code, isKnown) => {
    expect(findKnownStop(board(locations, [], code), stopId) !== null).toBe(isKnown);
  });
});

describe('the end of a journey', () => {
  it.each<[ids: string[], stopId: string, isPossible: boolean]>([
    [['2000336', '200060', '10101100'], '200060', true],
    [['2000336', '200060', '10101100'], '10101100', true],
    [['2000336', '200060'], '201016', true],
    [['200043', '2000171'], '200070', true],
    [['222321', 'G222321'], '222320', true],
    [['coord:151.2:-33.8:EPSG:4326'], '200060', true],
    [['2000336', '200060'], '222320', false],
    [['202091', '202020'], '200060', false],
    [['202091', '202020'], 'G222321', false],
  ])('a journey end with the IDs %j may be the stop %s: %s', (ids, stopId, isPossible) => {
    expect(mayBeStop(ids, stopId)).toBe(isPossible);
  });
});

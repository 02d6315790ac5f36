import { describe, expect, it } from 'vitest';
import {
  listModes,
  mapPath,
  parseStopPoint,
  type StopPoint,
  toLocality,
  toPlatform,
  toPosition,
  toStopId,
  toStopName,
} from '#src/efa/stop-point.ts';
import type { Mode } from '#src/transit/mode.ts';

const point = (record: object) => parseStopPoint(record) as StopPoint;
const suburb = (name: string) => ({ type: 'locality', name });

describe('the platform label', () => {
  it.each<[mode: Mode | null, platformName: string | undefined, code: string | undefined, label: string | null]>([
    ['train', 'Platform 3', 'THL3', 'Platform 3'],
    ['train', 'Platform 26', 'CE26', 'Platform 26'],
    ['train', 'Platforms 4/5', 'BMT4', 'Platforms 4/5'],
    ['train', 'THL6', 'THL6', 'Platform 6'],
    ['train', 'Penrith Station', 'X1', null],
    ['train', undefined, 'THL3', 'Platform 3'],
    ['train', undefined, undefined, null],
    ['metro', undefined, 'CE26', 'Platform 26'],
    ['metro', undefined, 'SD02', 'Platform 2'],
    ['bus', 'Town Hall, Park St, Stand K', 'K', 'Stand K'],
    ['bus', 'Parramatta Station, Stand A1', 'A1', 'Stand A1'],
    ['bus', 'Crown St before Foveaux St', 'X1', null],
    ['bus', 'Longueville, Wharf Rd', 'X2', null],
    ['bus', 'Stand St, Bay Rd', 'X2', null],
    ['bus', 'Platform Bar, George St', 'X2', null],
    ['bus', undefined, 'K', 'Stand K'],
    ['bus', undefined, 'X', null],
    ['bus', undefined, 'X1', null],
    ['schoolbus', undefined, 'B', 'Stand B'],
    ['lightrail', 'Somewhere', 'LR1', null],
    ['lightrail', 'LR1', 'LR1', null],
    ['lightrail', 'Town Hall Light Rail', undefined, 'Town Hall Light Rail'],
    ['lightrail', undefined, 'L2', null],
    ['bus', 'Town Hall Light Rail', 'LR1', null],
    ['ferry', 'Wharf 3, Side A', 'F3A', 'Wharf 3, Side A'],
    ['ferry', 'Side A', 'A', 'Side A'],
    ['ferry', 'Taronga Zoo Wharf', 'F1', null],
    ['ferry', undefined, 'A', null],
    ['coach', 'Central Station, Coach Bay 10', 'CB10', 'Coach Bay 10'],
    ['coach', 'Coach Bay', 'BUS1', 'Coach Bay'],
    ['coach', 'Bathurst Station, Coach Stop', 'BUS1', 'Coach Stop'],
    ['coach', 'Barraba Coach Stop', 'BUS1', null],
    ['coach', undefined, 'BUS1', null],
    [null, undefined, 'SVH3', 'Platform 3'],
    [null, undefined, 'LR1', null],
  ])('the platform label of a %s point named %j with code %j is %j', (mode, platformName, platform, label) => {
    expect(toPlatform(point({ name: 'Somewhere', properties: { platform, platformName } }), mode, 'Somewhere')).toBe(
      label,
    );
  });

  it.each<[name: string, label: string | null]>([
    ['Yennora, Yennora Station, Platform 2', 'Platform 2'],
    ['Central Station, Platform 26, Sydney', 'Platform 26'],
    ['Circular Quay, Wharf 3, Side A, Sydney', 'Wharf 3, Side A'],
    ['Central Station, Coach Bay 10, Sydney', 'Coach Bay 10'],
    ['King Street Wharf 3', null],
    ['Side St, Sydney', null],
  ])('the platform label comes from the name %j when there is no own field: %j', (name, label) => {
    expect(toPlatform(point({ name }), 'train', name)).toBe(label);
  });

  it('the platform label comes from the name of the stop when the point has none', () => {
    const parent = { type: 'stop', name: 'Town Hall Station, Platform 1, Sydney', parent: suburb('Sydney') };
    expect(toPlatform(point({ name: 'Town Hall Station', parent }), 'train', 'Town Hall Station')).toBe('Platform 1');
  });

  it.each<[point: object, stopName: string, place: string | null]>([
    [{ properties: { platformName: 'Town Hall Light Rail' } }, 'Town Hall Station', 'Town Hall Light Rail'],
    [{ properties: { platformName: 'Circular Quay Light Rail' } }, 'Circular Quay', 'Circular Quay Light Rail'],
    [
      { properties: { platformName: 'Central Chalmers Street Light Rail' } },
      'Central Grand Concourse Light Rail',
      'Central Chalmers Street Light Rail',
    ],
    [{ properties: { platformName: 'Randwick Light Rail' } }, 'Randwick Light Rail', null],
    [{ properties: { platformName: 'Randwick Light Rail' } }, 'Randwick Light Rail, Randwick', null],
    [{ properties: { platformName: 'Randwick' } }, 'Randwick Light Rail', null],
    [{ properties: { platformName: 'Platform 2' } }, 'Newcastle Interchange', 'Platform 2'],
    [{ name: 'Town Hall Station, Town Hall Light Rail' }, 'Town Hall Station', 'Town Hall Light Rail'],
    [{ disassembledName: 'Town Hall Light Rail' }, 'Town Hall Station', 'Town Hall Light Rail'],
    [{ disassembledName: 'Town Hall Light Rail' }, 'Town Hall Light Rail', null],
    [{ properties: { platformName: '???' } }, 'Town Hall Station', null],
    [{}, 'Town Hall Station', null],
  ])('the platform label of the light rail point %j at %j is %j', (record, stopName, place) => {
    expect(toPlatform(point(record), 'lightrail', stopName)).toBe(place);
  });

  it('the platform label of a walk is a stand at a bus stop and nothing at a wharf', () => {
    const properties = { platform: 'A' };
    expect(toPlatform(point({ properties, modes: [1, 5, 11] }), null, null)).toBe('Stand A');
    expect(toPlatform(point({ properties, modes: [5, 9] }), null, null)).toBeNull();
    expect(toPlatform(point({ properties }), null, null)).toBeNull();
  });
});

describe('the stop name', () => {
  it.each<[what: string, record: object, name: string | null]>([
    ['drops the platform', { disassembledName: 'Central Station, Platform 18' }, 'Central Station'],
    ['drops the stand', { disassembledName: 'Town Hall, Park St, Stand K' }, 'Town Hall, Park St'],
    ['drops wharf and side', { disassembledName: 'Circular Quay, Wharf 3, Side A' }, 'Circular Quay'],
    [
      'drops an internal code',
      { disassembledName: 'Town Hall Station, THL6', properties: { platform: 'THL6' } },
      'Town Hall Station',
    ],
    ['drops the internal code of a platform of the station', { name: 'Town Hall Station, THL6' }, 'Town Hall Station'],
    [
      'drops the light rail stop after the station',
      {
        disassembledName: 'Town Hall Station, Town Hall Light Rail',
        properties: { platformName: 'Town Hall Light Rail' },
      },
      'Town Hall Station',
    ],
    [
      'keeps a name that the platform repeats',
      { disassembledName: 'Town Hall Light Rail', properties: { platformName: 'Town Hall Light Rail' } },
      'Town Hall Light Rail',
    ],
    ['drops the suburb', { name: 'Town Hall Station, Sydney', parent: suburb('Sydney') }, 'Town Hall Station'],
    [
      'drops the suburb of a short name that carries one',
      { disassembledName: 'Crown St before Foveaux St, Surry Hills', parent: suburb('Surry Hills') },
      'Crown St before Foveaux St',
    ],
    ['keeps a road that is called Wharf', { disassembledName: 'Longueville, Wharf Rd' }, 'Longueville, Wharf Rd'],
    ['keeps a suburb that is the whole name', { name: 'Manly', parent: suburb('Manly') }, 'Manly'],
    ['ignores question marks', { disassembledName: '???', name: 'Wynyard Station' }, 'Wynyard Station'],
    ['ignores an empty field', { disassembledName: '', name: 'Wynyard Station' }, 'Wynyard Station'],
    ['ignores the literal undefined', { disassembledName: 'undefined, undefined', name: 'Wynyard' }, 'Wynyard'],
    ['comes from the stop', { name: '???', parent: { type: 'stop', name: 'Wynyard Station' } }, 'Wynyard Station'],
    ['never comes from the suburb', { name: '', parent: suburb('Sydney') }, null],
    ['is null without any name', {}, null],
  ])('the stop name %s', (_what, record, name) => {
    expect(toStopName(point(record))).toBe(name);
  });
});

describe('ID, position, suburb, modes and path of a point', () => {
  it('the ID of a point falls back to its stop, the internal ID and the position, in this order', () => {
    const parent = { id: '200060', type: 'stop' };
    const properties = { stopId: '10101100' };
    const coord = [-33.88, 151.2];
    expect(toStopId(point({ id: 2000337, parent, properties, coord }))).toBe('2000337');
    expect(toStopId(point({ parent, properties, coord }))).toBe('200060');
    expect(toStopId(point({ parent: { ...suburb('Sydney'), id: 'placeID:1' }, properties, coord }))).toBe('10101100');
    expect(toStopId(point({ coord }))).toBe('coord:151.2:-33.88:EPSG:4326');
    expect(toStopId(point({}))).toBeNull();
  });

  it('the position of a point falls back to its stop, never to its suburb', () => {
    const stop = { type: 'stop', coord: [-33.9, 151.3] };
    expect(toPosition(point({ coord: [-33.88, 151.2], parent: stop }))).toEqual([-33.88, 151.2]);
    expect(toPosition(point({ coord: ['x'], parent: stop }))).toEqual([-33.9, 151.3]);
    expect(toPosition(point({ parent: { ...suburb('Sydney'), coord: [-33.8, 151.2] } }))).toBeNull();
    expect(toPosition(point({ coord: [151.2, -33.88] }))).toBeNull();
  });

  it('the suburb of a point is its main locality, else the nearest place above', () => {
    const parent = { type: 'stop', name: 'Central Station', parent: suburb('Haymarket') };
    expect(toLocality(point({ properties: { mainLocality: 'Sydney' }, parent }))).toBe('Sydney');
    expect(toLocality(point({ parent }))).toBe('Haymarket');
    expect(toLocality(point({ parent: suburb('Duffy (ACT)') }))).toBe('Duffy (ACT)');
    expect(toLocality(point({}))).toBeNull();
  });

  it('the modes of a point come from either list, without unknown classes', () => {
    expect(listModes(point({ modes: [1, 5, 99, 77, 'x'] }))).toEqual(['train', 'bus']);
    expect(listModes(point({ productClasses: [9] }))).toEqual(['ferry']);
    expect(listModes(point({}))).toEqual([]);
  });

  it('a path keeps its pairs in order and drops everything else', () => {
    expect(mapPath([[-33.8, 151.2], null, [-33.9], ['a', 'b'], [-33.9, 151.3]])).toEqual([
      [-33.8, 151.2],
      [-33.9, 151.3],
    ]);
    expect(mapPath(undefined)).toEqual([]);
  });
});

import { expect, it } from 'vitest';
import { places, sandboxAt } from '../requests.ts';

const NOW = '2026-11-17T21:00:00Z';

it('a sandbox text search finds stops, streets, sights and suburbs, with stops scored highest and one best match', async () => {
  const sandbox = await sandboxAt(NOW);
  const { locations = [], systemMessages } = await places(sandbox, 'stop_finder', {
    type_sf: 'any',
    name_sf: 'birch',
    TfNSWSF: 'true',
  });
  expect(systemMessages).toMatchObject([{ code: -8011, text: '' }]);
  expect(locations.map((place) => place.type).toSorted()).toEqual(['poi', 'stop', 'street', 'suburb']);
  for (const { type, matchQuality } of locations) {
    expect(matchQuality).toBeGreaterThan(type === 'stop' ? 950 : 226);
    expect(matchQuality).toBeLessThan(type === 'stop' ? 1001 : 251);
  }
  expect(locations.filter((place) => place.isBest)).toMatchObject([
    {
      id: '200200',
      name: 'Birch Station, Birch',
      disassembledName: 'Birch Station',
      modes: [1, 7],
      coord: [-33.8, 151.05],
      parent: { name: 'Birch', type: 'locality' },
      properties: { stopId: '10100002', mainLocality: 'Birch' },
    },
  ]);
});

it('sandbox search words match by prefix, in any order, the suburb included', async () => {
  const sandbox = await sandboxAt(NOW);
  const found = async (name_sf: string) =>
    (await places(sandbox, 'stop_finder', { type_sf: 'any', name_sf })).locations?.map((place) => place.id);
  expect(await found('alder stat')).toEqual(['200100']);
  expect(await found('station cedar')).toEqual(['200300']);
  expect(await found('dogwood cedar')).toEqual(['G200400']);
  expect(await found('main')).toEqual(['G200400']);
  expect(await found('zzzz')).toBeUndefined();
});

it('sandbox search results name the classes productClasses without TfNSWSF', async () => {
  const sandbox = await sandboxAt(NOW);
  const { locations = [] } = await places(sandbox, 'stop_finder', { type_sf: 'any', name_sf: 'alder station' });
  expect(locations[0]).toMatchObject({ id: '200100', productClasses: [1] });
  expect(locations[0]).not.toHaveProperty('modes');
});

it.each(['any', 'stop'])('a sandbox search for an ID finds one stop, with type %s', async (type_sf) => {
  const sandbox = await sandboxAt(NOW);
  for (const name_sf of ['200200', '10100002']) {
    const { locations } = await places(sandbox, 'stop_finder', { type_sf, name_sf });
    expect(locations).toMatchObject([
      { id: '200200', matchQuality: 100_000, isBest: true, productClasses: [1, 7], assignedStops: [{ id: '200200' }] },
    ]);
  }
});

it('a sandbox text search with type_sf=stop finds names without coordinates', async () => {
  const sandbox = await sandboxAt(NOW);
  const { locations = [], systemMessages } = await places(sandbox, 'stop_finder', {
    type_sf: 'stop',
    name_sf: 'station',
  });
  expect(systemMessages).toMatchObject([{ code: 1, text: 'name list' }]);
  expect(locations.map((place) => place.id)).toEqual(['10100001', '10100002', '10100003']);
  for (const place of locations) {
    expect(place).not.toHaveProperty('coord');
    expect(place.isBest).toBe(false);
  }
});

it.each(['old mill', 'G200900', '10100009', '2009001'])(
  'a sandbox search for %s does not find the decommissioned stop',
  async (name_sf) => {
    const sandbox = await sandboxAt(NOW);
    for (const type_sf of ['any', 'stop']) {
      const response = await places(sandbox, 'stop_finder', { type_sf, name_sf });
      expect(response.systemMessages).toMatchObject([{ code: -8020 }]);
      expect(response).not.toHaveProperty('locations');
    }
  },
);

it('a sandbox search without matches has no locations and code -8020', async () => {
  const sandbox = await sandboxAt(NOW);
  const response = await places(sandbox, 'stop_finder', { type_sf: 'any', name_sf: 'nowhere' });
  expect(response.systemMessages).toMatchObject([{ code: -8020 }]);
  expect(response).not.toHaveProperty('locations');
});

const AT_CEDAR = { coord: '151.1:-33.8:EPSG:4326', inclFilter: '1' };

it('a sandbox BUS_POINT request finds platforms nearest first, with their stop and without modes', async () => {
  const sandbox = await sandboxAt(NOW);
  const { locations = [] } = await places(sandbox, 'coord', { ...AT_CEDAR, type_1: 'BUS_POINT', radius_1: '240' });
  expect(locations.map((place) => [place.id, place.properties?.distance])).toEqual([
    ['2003001', 0],
    ['2003002', 18],
    ['2004001', 231],
  ]);
  expect(locations[0]).toMatchObject({
    name: 'Cedar Station, Platform 1, Cedar',
    properties: {
      STOP_GLOBAL_ID: '200300',
      STOP_NAME_WITH_PLACE: 'Cedar Station, Cedar',
      STOP_AREA_NAME: 'P1',
      IDENTIFIER: 'CED1',
    },
  });
  expect(locations[0]).not.toHaveProperty('modes');
  expect(locations[0]).not.toHaveProperty('productClasses');
});

it('a sandbox STOP request finds stops, decommissioned ones too, with modes and the name "undefined, undefined"', async () => {
  const sandbox = await sandboxAt(NOW);
  const query = { coord: '151.009:-33.8:EPSG:4326', inclFilter: '1', type_1: 'STOP', radius_1: '900' };
  const { locations = [] } = await places(sandbox, 'coord', query);
  expect(locations).toMatchObject([
    { id: 'G200900', name: 'undefined, undefined', productClasses: [5], properties: { STOP_MOT_LIST: '5' } },
    {
      id: '200100',
      productClasses: [1],
      properties: { STOP_NAME_WITH_PLACE: 'Alder Station, Alder', stopId: '10100001' },
    },
  ]);
});

it('a sandbox request with two filters, each with its radius, returns one list sorted by distance', async () => {
  const sandbox = await sandboxAt(NOW);
  const query = { ...AT_CEDAR, type_1: 'BUS_POINT', radius_1: '100', type_2: 'STOP', radius_2: '500' };
  const { locations = [] } = await places(sandbox, 'coord', query);
  expect(locations.map((place) => place.id)).toEqual(['2003001', '200300', '2003002', 'G200400']);
});

it('a sandbox request far from all stops has no locations', async () => {
  const sandbox = await sandboxAt(NOW);
  const query = { coord: '140:-30:EPSG:4326', inclFilter: '1', type_1: 'STOP', radius_1: '900' };
  expect(await places(sandbox, 'coord', query)).not.toHaveProperty('locations');
});

import { readFileSync } from 'node:fs';
import Papa from 'papaparse';
import { expect, it } from 'vitest';
import { distanceMetres } from '#src/transit/place.ts';
import { positionInPlaceId } from '#src/transit/place-grid.ts';

it.each([
  [
    'streetID:1500000021::95365003:-1:Epping Rd:Double Bay:Epping Rd::Epping Rd: 2028:ANY:DIVA_STREET:4892759:3757126:GDAV:nsw',
    -33.881389,
    151.245664,
  ],
  [
    'streetID:1500000022::95969009:-1:Epping Rd:Pilliga:Epping Rd::Epping Rd: 2388:ANY:DIVA_STREET:4651528:3357871:GDAV:nsw',
    -30.343219,
    148.576445,
  ],
  [
    'streetID:1500000032::95701033:-1:Eppalock St:Duffy (ACT):Eppalock St::Eppalock St: 2611:ANY:DIVA_STREET:4684833:3911753:GDAV:nsw',
    -35.331945,
    149.033635,
  ],
  [
    'streetID:1500000012::95384014:-1:Station St:Central Tilba:Station St::Station St: 2546:ANY:DIVA_STREET:4776024:4022999:GDAV:nsw:0',
    -36.312509,
    150.074323,
  ],
  [
    'poiID:858291922:95982004:-1:Central Darling - Wilcannia Fire Station:Wilcannia:Central Darling - Wilcannia Fire Station:ANY:POI:4155872:3497546:GDAV:nsw',
    -31.561593,
    143.374961,
  ],
  ['suburbID:95325016:1:Epping:4878178:3744296:GDAV', -33.771296, 151.082905],
])('a place ID gives its position to a metre: %s', (id, lat, lng) => {
  expect(distanceMetres(positionInPlaceId(id) ?? [0, 0], [lat, lng])).toBeLessThan(1);
});

it('the place IDs of the sandbox contain their positions', () => {
  const text = readFileSync('sandbox/network/gtfs/efa_places.txt', 'utf8');
  const places = Papa.parse<Record<string, string>>(text.trim(), { header: true }).data;
  expect(places.length).toBeGreaterThan(20);
  for (const { place_id = '', place_lat, place_lon } of places) {
    const position = positionInPlaceId(place_id);
    if (!place_id.includes('GDAV')) continue;
    expect(distanceMetres(position ?? [0, 0], [Number(place_lat), Number(place_lon)]), place_id).toBeLessThan(1);
  }
});

it.each([
  '200060',
  'poiID:1:2:-1:Park:Sydney:Park:ANY:POI',
  'poiID:1:2:-1:Park:Sydney:Park:ANY:POI:4892759:3757126:MGA:nsw',
  'poiID:1:2:-1:Park:Sydney:Park:ANY:POI:1000000:1000000:GDAV:nsw',
  'poiID:1:2:-1:Park:Sydney:Park:ANY:POI:99999999:3757126:GDAV:nsw',
])('the place ID %s without a position in New South Wales gives null', (id) => {
  expect(positionInPlaceId(id)).toBeNull();
});

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';

/** The small network with text in its files replaced. Each replaced text must exist. */
function networkWith(...replacements: [file: string, from: string, to: string][]) {
  const folder = mkdtempSync(join(tmpdir(), 'gtfs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(new URL('../small-network/', import.meta.url), folder, { recursive: true });
  for (const [file, from, to] of replacements) {
    const text = readFileSync(join(folder, file), 'utf8');
    if (!text.includes(from)) throw new Error(`${file} does not contain ${from}`);
    writeFileSync(join(folder, file), text.replaceAll(from, to));
  }
  return loadNetwork(pathToFileURL(`${folder}/`));
}

const lineOf = (network: ReturnType<typeof loadNetwork>, id: string) => network.lines.find((line) => line.id === id);

it('the network reader turns stations into stops and platforms into points, in file order', () => {
  const birch = networkWith().stops[1];
  expect(birch).toMatchObject({ id: '200200', stopId: '10100002', name: 'Birch Station', locality: 'Birch' });
  expect(birch?.points).toEqual([
    { id: '2002001', code: 'BIR1', platformName: 'Platform 1', lat: -33.8, lng: 151.05 },
    { id: '2002002', code: 'BIR2', platformName: 'Platform 2', lat: -33.8, lng: 151.0502 },
    { id: '2002003', code: 'A', platformName: 'Birch Station, Station St, Stand A', lat: -33.8, lng: 151.0506 },
  ]);
});

it('a trip with frequencies departs at each interval before end_time, a trip without them once', () => {
  const network = networkWith(['frequencies.txt', '05:10:00,25:11:00,1200', '05:10:00,25:10:00,1200']);
  const services = (id: string) => lineOf(network, id)?.patterns[0]?.services;
  expect(services('nsw:30010')).toMatchObject([{ firstMinute: 310, lastMinute: 1509, everyMinutes: 20 }]);
  expect(services('nsw:70165')).toMatchObject([{ firstMinute: 540, lastMinute: 540 }]);
});

it('trips of a route with equal calls form one pattern, whatever their days and times', () => {
  const network = networkWith(
    ['trips.txt', 'nsw:70165,weekdays', 'nsw:70165,weekends,late,Heath,0,,\nnsw:70165,weekdays'],
    ['stop_times.txt', '70165-1-weekdays-0900,09', 'late,21:00:00,21:00:00,2002003,1\n70165-1-weekdays-0900,09'],
    ['stop_times.txt', '70165-1-weekdays-0900,12', 'late,24:20:00,24:20:00,2008001,2\n70165-1-weekdays-0900,12'],
  );
  const [pattern, ...others] = lineOf(network, 'nsw:70165')?.patterns ?? [];
  expect(others).toEqual([]);
  expect(pattern?.calls).toEqual([
    { point: '2002003', minutes: 0 },
    { point: '2008001', minutes: 200 },
  ]);
  expect(pattern?.services.map(({ firstMinute, calendar }) => [firstMinute, calendar.weekdays[5]])).toEqual([
    [1260, true],
    [540, false],
  ]);
});

it('stop times and shape points are sorted by sequence number', () => {
  const network = networkWith(
    ['stop_times.txt', '00:00:00,00:00:00,2001001,1', '00:00:00,00:00:00,2001001,0'],
    ['shapes.txt', '-33.8,151,1', '-33.8,151.2,9'],
  );
  const pattern = lineOf(network, 'nsw:020T1')?.patterns[0];
  expect(pattern?.calls.map((call) => call.point)).toEqual(['2001001', '2002001', '2003001']);
  expect(pattern?.path?.at(-1)).toEqual({ lat: -33.8, lng: 151.2 });
});

it('the network reader ignores unknown columns, empty lines and a byte order mark', () => {
  const network = networkWith(
    ['agency.txt', 'agency_url', 'agency_website'],
    ['routes.txt', 'route_id,', '\uFEFFroute_id,'],
    ['efa_places.txt', 'place_lon\n', 'place_lon\n\n'],
  );
  expect(network).toEqual(networkWith());
});

it('the network reader accepts files without the columns that GTFS makes optional', () => {
  const network = networkWith(
    ['trips.txt', 'wheelchair_accessible', 'bikes_allowed'],
    ['trips.txt', 'direction_id', 'block_id'],
    ['stops.txt', 'wheelchair_boarding', 'zone_id'],
  );
  expect(lineOf(network, 'nsw:020T1')?.patterns[1]).toMatchObject({ direction: 0, wheelchairAccessible: null });
  expect(network.stops[0]?.wheelchairAccess).toBe(false);
});

it('trips with and without wheelchair access form different patterns', () => {
  const patterns = lineOf(networkWith(), 'nsw:30010')?.patterns;
  expect(patterns?.map((pattern) => pattern.wheelchairAccessible)).toEqual([false, true]);
});

it.each([
  ['stops.txt', '-33.8,151.0002', 'south,151.0002', 'stops.txt, line 4: ✖ expected a number'],
  ['stops.txt', 'efa_platform', 'platform_code', 'stops.txt, line 2: ✖ Invalid input'],
  ['routes.txt', 'alder-buses', 'elm-buses', 'route nsw:30010: no agency elm-buses in agency.txt'],
  ['routes.txt', ',3,5,1', ',3,6,1', 'route nsw:30010: no product 6 in efa_products.txt'],
  ['routes.txt', 'nsw:70165', 'nsw:70166', 'trips.txt: no route nsw:70165 in routes.txt'],
  ['trips.txt', ',0,020T1-1,', ',0,020T1-9,', 'trip 020T1-1-daily: no shape 020T1-9 in shapes.txt'],
  ['trips.txt', 'nsw:70165,weekdays', 'nsw:70165,never', 'trip 70165-1-weekdays-0900: no service never'],
  ['stop_times.txt', '090F1-1-daily', '090F1-1-weekly', 'trip 090F1-1-daily has no stop times'],
  [
    'frequencies.txt',
    '22:01:00,1800',
    '22:01:00,90',
    'trip 090F1-1-daily: departures of the sandbox are on whole minutes',
  ],
  ['frequencies.txt', '22:01:00', '06:00:00', 'trip 090F1-1-daily: end_time is not after start_time'],
  ['calendar.txt', 'daily,1', 'daily,1,1', 'calendar.txt, line 2: Too many fields'],
])('the network file %s with "%s" changed to "%s" is refused: %s', (file, from, to, message) => {
  expect(() => networkWith([file, from, to])).toThrow(message);
});

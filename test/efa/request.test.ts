import { describe, expect, it } from 'vitest';
import { isKeptWhole, requestKey, toRequest, type UpstreamRequest } from '#src/efa/request.ts';
import { departuresQuery, toDeparturesRequest } from '#src/operations/departures/query.ts';
import { nearbyQuery, toNearbyRequest } from '#src/operations/nearby/operation.ts';
import { stopSearchQuery, toStopSearchRequest } from '#src/operations/stop-search/query.ts';
import { toTripRequest, tripsQuery } from '#src/operations/trips/query.ts';

/** The request with its parameters sorted by name. */
const written = (request: UpstreamRequest) => {
  const { endpoint, query } = toRequest(request);
  return sorted(`${endpoint}?${new URLSearchParams(query)}`);
};
const sorted = (url: string) => {
  const [endpoint, query] = url.split('?');
  const parameters = new URLSearchParams(query);
  parameters.sort();
  return `${endpoint}?${parameters}`;
};
const parameters = (url: string) => Object.fromEntries(new URLSearchParams(url));

const departuresUrl = (url: string, now: string) =>
  written(toDeparturesRequest(departuresQuery.parse(parameters(url)), Date.parse(now)));
const tripsUrl = (url: string, now: string) =>
  written(toTripRequest(tripsQuery.parse(parameters(url)), Date.parse(now)));

/** 16:25 on Wednesday 15 April 2026 in Sydney. */
const NOW = '2026-04-15T06:25:30Z';
const FORMAT = 'outputFormat=rapidJSON&coordOutputFormat=EPSG%3A4326';
const MONITOR = (stop: string) =>
  `departure_mon?${FORMAT}&mode=direct&type_dm=stop&name_dm=${stop}&departureMonitorMacro=true&TfNSWDM=true&depArrMacro=dep`;
const BUS_ONLY = '&excludedMeans=checkbox&exclMOT_1=1&exclMOT_2=1&exclMOT_4=1&exclMOT_7=1&exclMOT_9=1&exclMOT_11=1';

describe('requests for departures', () => {
  it.each([
    ['stop=200060', MONITOR('200060') + BUS_ONLY],
    ['stop=g201023', MONITOR('G201023') + BUS_ONLY],
    ['stop=200060&modes=all', MONITOR('200060')],
    ['stop=200060&modes=train,metro,lightrail,bus,coach,ferry,schoolbus', MONITOR('200060')],
    [
      'stop=200060&modes=train',
      `${MONITOR('200060')}&excludedMeans=checkbox&exclMOT_2=1&exclMOT_4=1&exclMOT_5=1&exclMOT_7=1&exclMOT_9=1&exclMOT_10=1&exclMOT_11=1`,
    ],
    [
      'stop=200060&modes=schoolbus, Ferry',
      `${MONITOR('200060')}&excludedMeans=checkbox&exclMOT_1=1&exclMOT_2=1&exclMOT_4=1&exclMOT_5=1&exclMOT_7=1&exclMOT_10=1`,
    ],
    [
      'stop=200060&modes=train,metro,lightrail,coach,ferry,schoolbus',
      `${MONITOR('200060')}&excludedMeans=checkbox&exclMOT_5=1&exclMOT_10=1`,
    ],
    ['stop=200060&limit=50&routes=500X,324', MONITOR('200060') + BUS_ONLY],
    ['stop=200060&modes=all&date=20260420&time=0800', `${MONITOR('200060')}&itdDate=20260420&itdTime=0800`],
    ['stop=200060&modes=all&date=20260420', `${MONITOR('200060')}&itdDate=20260420&itdTime=1625`],
    ['stop=200060&modes=all&time=0905', `${MONITOR('200060')}&itdDate=20260415&itdTime=0905`],
    ['stop=200060&modes=all&date=&time=', MONITOR('200060')],
  ])('the request for departures with %s has the expected parameters', (query, upstream) => {
    expect(departuresUrl(query, NOW)).toBe(sorted(upstream));
  });

  it('a request for departures with calls has upstream’s parameters and is not cached whole', () => {
    const request = toDeparturesRequest(departuresQuery.parse({ stop: '200060', modes: 'all' }), Date.parse(NOW));
    const withCalls = { ...request, withCalls: true };
    expect(written(withCalls)).toBe(sorted(`${MONITOR('200060')}&depType=stopEvents&includeCompleteStopSeq=1`));
    expect([request, withCalls].map(isKeptWhole)).toEqual([true, false]);
    expect(requestKey(withCalls)).not.toBe(requestKey(request));
  });

  it.each(['2026-04-15T14:03:00Z', '2026-04-04T15:30:00Z', '2026-04-04T16:30:00Z', '2026-10-03T16:05:00Z'])(
    'a request for departures now has no time, so that it includes late vehicles, at %s',
    (now) => {
      expect(departuresUrl('stop=200060&modes=all', now)).toBe(sorted(MONITOR('200060')));
    },
  );

  it('a request for departures with only a time means today in Sydney, even if UTC is still on yesterday', () => {
    expect(departuresUrl('stop=200060&modes=all&time=0000', '2026-04-14T14:00:00Z')).toBe(
      sorted(`${MONITOR('200060')}&itdDate=20260415&itdTime=0000`),
    );
  });
});

describe('wall-clock times in upstream requests', () => {
  it.each([
    ['the hour that comes twice', '20260405', '0230'],
    ['the minute before it', '20260405', '0159'],
    ['the hour that does not exist', '20261004', '0230'],
    ['the minute after it', '20261004', '0300'],
    ['midnight', '20261004', '0000'],
    ['the last minute of a day', '20261231', '2359'],
  ])('upstream receives the wall-clock time unchanged: %s', (_what, date, time) => {
    const now = '2026-03-30T00:00:00Z';
    expect(departuresUrl(`stop=200060&modes=all&date=${date}&time=${time}`, now)).toBe(
      sorted(`${MONITOR('200060')}&itdDate=${date}&itdTime=${time}`),
    );
    expect(tripsUrl(`from=200060&to=200070&date=${date}&time=${time}`, now)).toContain(
      `&itdDate=${date}&itdTime=${time}&`,
    );
  });
});

describe('requests for journeys', () => {
  const ends = 'type_origin=any&name_origin=200060&type_destination=any&name_destination=G201023';
  it.each([
    ['from=200060&to=g201023', `trip?${FORMAT}&${ends}&depArrMacro=dep&calcNumberOfTrips=6&TfNSWTR=true`],
    ['from=200060&to=G201023&limit=1', `trip?${FORMAT}&${ends}&depArrMacro=dep&calcNumberOfTrips=6&TfNSWTR=true`],
    [
      'from=200060&to=G201023&arrive_by=true&date=20260420&time=0800',
      `trip?${FORMAT}&${ends}&depArrMacro=arr&itdDate=20260420&itdTime=0800&calcNumberOfTrips=6&TfNSWTR=true`,
    ],
    [
      'from=200060&to=G201023&arrive_by=false&time=1700',
      `trip?${FORMAT}&${ends}&depArrMacro=dep&itdDate=20260415&itdTime=1700&calcNumberOfTrips=6&TfNSWTR=true`,
    ],
    [
      'from=-33.87311,151.20691&to=g201023&modes=train,bus,coach,metro,ferry,schoolbus&wheelchair=true&max_changes=1',
      `trip?${FORMAT}&type_origin=coord&name_origin=151.2069:-33.8731:EPSG:4326&type_destination=any&name_destination=G201023&depArrMacro=dep&calcNumberOfTrips=6&TfNSWTR=true&excludedMeans=checkbox&exclMOT_4=1&wheelchair=on`,
    ],
    [
      'from=200060&to=.5,-7.',
      `trip?${FORMAT}&type_origin=any&name_origin=200060&type_destination=coord&name_destination=-7:0.5:EPSG:4326&depArrMacro=dep&calcNumberOfTrips=6&TfNSWTR=true`,
    ],
    [
      'from=200060&to=G201023&date=20260416',
      `trip?${FORMAT}&${ends}&depArrMacro=dep&itdDate=20260416&itdTime=1625&calcNumberOfTrips=6&TfNSWTR=true`,
    ],
  ])('the request for journeys with %s has the expected parameters', (query, upstream) => {
    expect(tripsUrl(query, NOW)).toBe(sorted(upstream));
  });
});

describe('requests for nearby stops', () => {
  it.each([
    ['lat=-33.884&lng=151.206', '151.206%3A-33.884', 500],
    ['lat=-35.278&lng=149.13&radius=2000', '149.13%3A-35.278', 2000],
    ['lat=-33.884&lng=151.206&radius=9999', '151.206%3A-33.884', 2000],
    ['lat=-0.5&lng=.25', '0.25%3A-0.5', 500],
  ])('the request for stops near %s has the longitude first', (query, coord, radius) => {
    expect(written(toNearbyRequest(nearbyQuery.parse(parameters(query))))).toBe(
      sorted(
        `coord?${FORMAT}&coord=${coord}%3AEPSG%3A4326&inclFilter=1&type_1=BUS_POINT&radius_1=${radius}&type_2=STOP&radius_2=${radius}`,
      ),
    );
  });

  it('a coordinate very near zero is written without an exponent', () => {
    const coordOf = (lat: number, lng: number) => toRequest({ kind: 'coord', lat, lng, radiusMetres: 500 }).query.coord;
    expect(coordOf(-0.00000049, 100)).toBe('100:0:EPSG:4326');
    expect(coordOf(0.00014, 1.5)).toBe('1.5:0.0001:EPSG:4326');
  });
});

describe('requests for stop search', () => {
  it.each([
    ['Central', 'central'],
    ['  Town Hall ', 'town+hall'],
    ['Park & Ride', 'park+%26+ride'],
    ['Café', 'caf%C3%A9'],
    ['g201023', 'G201023'],
  ])('the request for the search text %j is normalised', (q, name) => {
    expect(written(toStopSearchRequest(stopSearchQuery.parse({ q })))).toBe(
      sorted(`stop_finder?${FORMAT}&type_sf=any&name_sf=${name}&TfNSWSF=true`),
    );
  });
});

describe('the key of a request', () => {
  const board = { kind: 'departureMonitor', stopId: 'G201023', modes: ['bus', 'train'], at: null } as const;
  const at = { date: '20260415', time: '1639' };

  it.each<[string, UpstreamRequest, UpstreamRequest]>([
    ['in the order of modes', board, { ...board, modes: ['train', 'bus'] }],
    ['in the case of a stop', board, { ...board, stopId: 'g201023' }],
    [
      'in spaces and case of a name',
      { kind: 'stopFinder', text: ' Town  Hall' },
      { kind: 'stopFinder', text: 'town hall' },
    ],
    [
      'by less than ten metres',
      { kind: 'coord', lat: -33.87311, lng: 151.20691, radiusMetres: 500 },
      { kind: 'coord', lat: -33.87309, lng: 151.20694, radiusMetres: 500 },
    ],
  ])('requests that differ only %s have the same key', (_difference, one, other) => {
    expect(requestKey(one)).toBe(requestKey(other));
  });

  it.each<[string, UpstreamRequest, UpstreamRequest]>([
    ['in the modes', board, { ...board, modes: ['bus'] }],
    ['in the time', board, { ...board, at }],
    ['in required freshness', { ...board, at }, { ...board, at, isForNow: true }],
    [
      'in departure or arrival time',
      { kind: 'trip', from: '1', to: '2', at, isArrival: false },
      { kind: 'trip', from: '1', to: '2', at, isArrival: true },
    ],
    [
      'in the modes of journeys',
      { kind: 'trip', from: '1', to: '2', at, isArrival: true },
      { kind: 'trip', from: '1', to: '2', at, isArrival: true, modes: ['bus'] },
    ],
    [
      'in wheelchair access',
      { kind: 'trip', from: '1', to: '2', at, isArrival: true },
      { kind: 'trip', from: '1', to: '2', at, isArrival: true, isAccessible: true },
    ],
  ])('requests that differ %s have different keys', (_difference, one, other) => {
    expect(requestKey(one)).not.toBe(requestKey(other));
  });
});

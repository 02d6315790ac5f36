import type { SandboxLine, SandboxNetwork, SandboxPoint, SandboxProduct, SandboxStop } from '#src/sandbox/network.ts';

/*
 * Two towns and an island, small enough to know every right answer by heart.
 *
 *   Alder ──T1── Birch ──T1── Cedar ~walk~ Dogwood St ──bus 10── Elm      Fern Wharf ──F1── Gull Wharf (an island)
 *                  └──coach 165 (weekdays, one a day)── Heath
 */

const TRAINS: SandboxProduct = { id: 1, class: 1, name: 'Sydney Trains Network' };
const BUSES: SandboxProduct = { id: 5, class: 5, name: 'Sydney Buses Network' };
const COACHES: SandboxProduct = { id: 7, class: 7, name: 'Regional Trains and Coaches Network' };
const FERRIES: SandboxProduct = { id: 10, class: 9, name: 'Sydney Ferries Network' };

const LAT = -33.8;

function point(id: string, code: string, platformName: string, lng: number, lat = LAT): SandboxPoint {
  return { id, code, platformName, lat, lng };
}

function stop(id: string, stopId: string, name: string, locality: string, points: SandboxPoint[]): SandboxStop {
  const { lat = LAT, lng = 151 } = points[0] ?? {};
  return { id, stopId, name, locality, lat, lng, wheelchairAccess: id !== 'G200500', points };
}

const stops: SandboxStop[] = [
  stop('200100', '10100001', 'Alder Station', 'Alder', [
    point('2001001', 'ALD1', 'Platform 1', 151.0),
    point('2001002', 'ALD2', 'Platform 2', 151.0002),
  ]),
  stop('200200', '10100002', 'Birch Station', 'Birch', [
    point('2002001', 'BIR1', 'Platform 1', 151.05),
    point('2002002', 'BIR2', 'Platform 2', 151.0502),
    point('2002003', 'A', 'Birch Station, Station St, Stand A', 151.0506),
  ]),
  stop('200300', '10100003', 'Cedar Station', 'Cedar', [
    point('2003001', 'CED1', 'Platform 1', 151.1),
    point('2003002', 'CED2', 'Platform 2', 151.1002),
  ]),
  stop('G200400', '10100004', 'Dogwood St at Main Rd', 'Cedar', [
    point('2004001', 'X1', 'Dogwood St at Main Rd', 151.1025),
    point('2004002', 'X2', 'Dogwood St at Main Rd', 151.1027),
  ]),
  stop('G200500', '10100005', 'Elm St before Park Ave', 'Elm', [
    point('2005001', 'X1', 'Elm St before Park Ave', 151.14),
  ]),
  stop('200600', '10100006', 'Fern Wharf', 'Fern Island', [point('2006001', 'F1', 'Wharf 1', 151.3)]),
  stop('200700', '10100007', 'Gull Wharf', 'Fern Island', [point('2007001', 'A', 'Side A', 151.34)]),
  stop('200800', '10100008', 'Heath Coach Stop', 'Heath', [point('2008001', 'C1', 'Heath Coach Stop', 150.2)]),
  stop('G200900', '10100009', 'Old Mill Rd', 'Alder', [point('2009001', 'X1', 'Old Mill Rd', 151.01)]),
];

const ROUND_THE_CLOCK = [{ days: 'daily', from: '00:00', until: '23:45', everyMinutes: 15 }] as const;
const DAY_AND_EVENING = [{ days: 'daily', from: '05:10', until: '25:10', everyMinutes: 20 }] as const;

const lines: SandboxLine[] = [
  {
    id: 'nsw:020T1',
    route: 'T1',
    number: 'T1 Alder & Cedar Line',
    product: TRAINS,
    operator: 'Sydney Trains',
    description: 'Alder to Cedar via Birch',
    monitored: true,
    patterns: [
      {
        headsign: 'Cedar via Birch',
        calls: [
          { point: '2001001', minutes: 0 },
          { point: '2002001', minutes: 6.5 },
          { point: '2003001', minutes: 13 },
        ],
        services: ROUND_THE_CLOCK,
        path: [
          [LAT, 151.0],
          [-33.801, 151.02],
          [LAT, 151.05],
          [-33.799, 151.08],
          [LAT, 151.1],
        ],
      },
      {
        headsign: 'Alder',
        calls: [
          { point: '2003002', minutes: 0 },
          { point: '2002002', minutes: 6.5 },
          { point: '2001002', minutes: 13 },
        ],
        services: ROUND_THE_CLOCK,
      },
    ],
  },
  {
    id: 'nsw:30010',
    route: '10',
    number: '10',
    product: BUSES,
    operator: 'Alder Buses',
    description: 'Cedar to Elm',
    monitored: true,
    patterns: [
      {
        headsign: 'Elm',
        calls: [
          { point: '2004001', minutes: 0 },
          { point: '2005001', minutes: 9 },
        ],
        services: DAY_AND_EVENING,
      },
      {
        headsign: 'Cedar',
        calls: [
          { point: '2005001', minutes: 0 },
          { point: '2004002', minutes: 9 },
        ],
        services: DAY_AND_EVENING,
      },
    ],
  },
  {
    id: 'nsw:70165',
    route: null,
    number: '165',
    product: COACHES,
    operator: 'NSW TrainLink Coaches',
    description: 'Birch to Heath',
    monitored: false,
    patterns: [
      {
        headsign: 'Heath',
        calls: [
          { point: '2002003', minutes: 0 },
          { point: '2008001', minutes: 200 },
        ],
        services: [{ days: 'weekdays', from: '09:00', until: '09:00', everyMinutes: 60 }],
      },
    ],
  },
  {
    id: 'nsw:090F1',
    route: 'F1',
    number: 'F1 Gull',
    product: FERRIES,
    operator: 'Sydney Ferries',
    description: 'Fern to Gull',
    monitored: true,
    patterns: [
      {
        headsign: 'Gull',
        calls: [
          { point: '2006001', minutes: 0 },
          { point: '2007001', minutes: 12 },
        ],
        services: [{ days: 'daily', from: '06:00', until: '22:00', everyMinutes: 30 }],
      },
    ],
  },
];

export const SMALL_NETWORK: SandboxNetwork = {
  stops,
  lines,
  places: [
    { id: 'streetID:1::Birch St', name: 'Birch St', locality: 'Alder', type: 'street', lat: LAT, lng: 151.003 },
    { id: 'poiID:2:Birch Park', name: 'Birch Park', locality: 'Birch', type: 'poi', lat: -33.802, lng: 151.052 },
    { id: 'suburbID:3:Birch', name: 'Birch', locality: 'Birch', type: 'suburb', lat: LAT, lng: 151.05 },
  ],
};

/**
 * Valid upstream responses, one per endpoint: every kind of record we return, twice where one could hide the other, with the
 * fields we read and many that we ignore.
 */

/** The current time in these responses: a Wednesday afternoon in Sydney. */
export const NOW = '2026-04-15T06:24:00Z';

const SYDNEY = { id: 'placeID:95301001:1', name: 'Sydney', type: 'locality' };
const MANLY = { id: 'placeID:95331018:1', name: 'Manly', type: 'locality' };
const MASCOT = { id: 'placeID:95310008:1', name: 'Mascot', type: 'locality' };

const alert = {
  priority: 'normal',
  id: 'ems-4711',
  version: 12,
  type: 'lineInfo',
  properties: {
    publisher: 'ems.comm.addinfo',
    infoType: 'lineInfo',
    smsText: 'Wharf works',
    speechText: 'Allow time.',
  },
  infoLinks: [{ urlText: 'Wharf works', url: 'https://transportnsw.info/alerts/details#/ems-4711' }],
  urlText: 'Wharf works',
  url: 'https://transportnsw.info/alerts/details#/ems-4711',
  content: '<p>Boarding moves to <b>Side B</b>.<br />Allow&nbsp;time.</p>',
  subtitle: 'Wharf works',
};

const permanentNotice = { ...alert, priority: 'veryLow', id: 'ems-1', subtitle: 'Platforms may change' };

/** Circular Quay with train, ferry, light rail and bus; live, scheduled only and cancelled. */
export const departureMonitorResponse = {
  version: '10.6.21.17',
  systemMessages: [{ type: 'warning', module: 'BROKER', code: -10015, text: 'itp' }],
  locations: [
    {
      id: '200020',
      isGlobalId: true,
      name: 'Circular Quay, Sydney',
      disassembledName: 'Circular Quay',
      coord: [-33.861351, 151.210813],
      type: 'stop',
      matchQuality: 100000,
      isBest: true,
      parent: SYDNEY,
      properties: { stopId: '10101103' },
      modes: [1, 4, 5, 9],
    },
  ],
  stopEvents: [
    {
      realtimeStatus: ['MONITORED'],
      isRealtimeControlled: true,
      location: {
        id: '2000351',
        isGlobalId: true,
        name: 'Circular Quay, Platform 1, Sydney',
        disassembledName: 'Circular Quay, Platform 1, Sydney',
        type: 'platform',
        coord: [-33.861351, 151.210295],
        properties: {
          stopId: '10101103',
          area: '1',
          platform: 'CCQ1',
          platformName: 'Platform 1',
          plannedPlatformName: 'Platform 1',
          occupancy: 'MANY_SEATS',
          realtimeStatus: ['EXTRA_STOP'],
        },
        parent: {
          id: '200020',
          isGlobalId: true,
          name: 'Circular Quay, Platform 1, Sydney',
          disassembledName: 'Circular Quay, Platform 1',
          type: 'stop',
          parent: SYDNEY,
          properties: { stopId: '10101103' },
        },
      },
      departureTimePlanned: '2026-04-15T06:29:00Z',
      departureTimeBaseTimetable: '2026-04-15T06:29:06Z',
      departureTimeEstimated: '2026-04-15T06:31:12Z',
      transportation: {
        id: 'nsw:020T2: :H:sj2',
        name: 'Sydney Trains Network T2 Leppington & Inner West Line',
        disassembledName: 'T2',
        number: 'T2 Leppington & Inner West Line',
        description: 'City to Leppington',
        product: { id: 1, class: 1, name: 'Sydney Trains Network', iconId: 1 },
        operator: { id: 'x0001', name: 'Sydney Trains' },
        destination: { id: '10101289', name: 'Leppington via Granville', type: 'stop' },
        properties: { tripCode: 347, lineDisplay: 'LINE', RealtimeTripId: '26-S.2005.100' },
        iconId: 1,
      },
      infos: [alert, permanentNotice],
      properties: { WheelchairAccess: 'true', RealtimeTripId: '26-S.2005.100' },
    },
    {
      realtimeStatus: ['MONITORED'],
      isRealtimeControlled: true,
      location: {
        id: '20003',
        isGlobalId: true,
        name: 'Circular Quay, Wharf 3, Side A, Sydney',
        disassembledName: 'Circular Quay, Wharf 3, Side A, Sydney',
        type: 'platform',
        coord: [-33.860757, 151.211361],
        properties: { stopId: '10101103', area: '5', platform: 'F3A', platformName: 'Wharf 3, Side A' },
        parent: { id: '200020', name: 'Circular Quay, Sydney', type: 'stop', parent: SYDNEY },
      },
      departureTimePlanned: '2026-04-15T06:30:00Z',
      departureTimeEstimated: '2026-04-15T06:30:00Z',
      transportation: {
        id: 'nsw:090F1: :H:sj2',
        name: 'Sydney Ferries Network F1 Manly',
        disassembledName: 'F1',
        number: 'F1 Manly',
        product: { id: 10, class: 9, name: 'Sydney Ferries Network', iconId: 9 },
        destination: { id: '10102027', name: 'Manly', type: 'stop' },
        properties: { tripCode: 51 },
      },
      infos: [alert],
      properties: { WheelchairAccess: 'true' },
    },
    {
      location: {
        id: '2000447',
        name: 'Circular Quay, Circular Quay Light Rail, Sydney',
        type: 'platform',
        coord: [-33.862127, 151.211],
        properties: { platform: 'LR1', platformName: 'Circular Quay Light Rail', occupancy: 'STANDING_ONLY' },
        parent: { id: '200020', name: 'Circular Quay, Sydney', type: 'stop', parent: SYDNEY },
      },
      departureTimePlanned: '2026-04-15T06:32:00Z',
      transportation: {
        id: 'nsw:780L2: :H:sj2',
        disassembledName: 'L2',
        number: 'L2 Randwick Line',
        product: { id: 13, class: 4, name: 'Sydney Light Rail Network', iconId: 4 },
        destination: { name: 'Randwick' },
        properties: { tripCode: 9 },
      },
      properties: { WheelchairAccess: 'false' },
    },
    {
      location: {
        id: '200057',
        name: 'Circular Quay, Alfred St, Stand K, Sydney',
        type: 'platform',
        coord: [-33.861719, 151.211958],
        properties: { platform: 'K', platformName: 'Circular Quay, Alfred St, Stand K' },
        parent: { id: '200020', name: 'Circular Quay, Sydney', type: 'stop', parent: SYDNEY },
      },
      departureTimePlanned: '2026-04-15T06:34:00Z',
      transportation: {
        id: 'nsw:14324: :H:sj2',
        name: 'Sydney Buses Network 324',
        disassembledName: '324',
        number: '324',
        product: { id: 5, class: 5, name: 'Sydney Buses Network', iconId: 5 },
        destination: { name: 'Watsons Bay' },
        properties: { tripCode: 77 },
      },
      infos: [],
      properties: { WheelchairAccess: 'true' },
    },
    {
      isCancelled: true,
      isRealtimeControlled: true,
      realtimeStatus: ['TRIP_CANCELLED', 'MONITORED'],
      location: { id: '2000352', name: 'Circular Quay, Platform 2, Sydney', type: 'platform' },
      departureTimePlanned: '2026-04-15T06:35:00Z',
      transportation: {
        disassembledName: 'T8',
        product: { class: 1 },
        destination: { name: 'Macarthur via Airport' },
      },
    },
  ],
};

/** Around Circular Quay: STOP records with meaningless names, and BUS_POINT platforms. */
export const coordResponse = {
  version: '10.6.21.17',
  locations: [
    {
      id: '200020',
      isGlobalId: true,
      name: 'undefined, undefined',
      disassembledName: 'undefined, undefined',
      type: 'stop',
      coord: [-33.861351, 151.210813],
      parent: { id: '200020', name: 'undefined, undefined', type: 'locality' },
      productClasses: [1, 4, 5, 9],
      properties: {
        distance: 64,
        STOP_GLOBAL_ID: '200020',
        STOP_NAME_WITH_PLACE: 'Circular Quay, Sydney',
        STOP_MAJOR_MEANS: '2',
        STOP_MOT_LIST: '1,4,5,9',
        stopId: '10101103',
      },
    },
    {
      id: '200057',
      isGlobalId: true,
      name: 'Circular Quay, Alfred St, Stand K, Sydney',
      type: 'platform',
      coord: [-33.861719, 151.211958],
      parent: SYDNEY,
      properties: {
        distance: 71,
        STOP_GLOBAL_ID: '200020',
        STOP_NAME_WITH_PLACE: 'Circular Quay, Sydney',
        STOP_AREA_NAME: 'K',
        STOP_POINT_REFERED_NAME: 'Alfred St',
      },
    },
    {
      id: 'G200098',
      name: 'undefined, undefined',
      type: 'stop',
      coord: [-33.863127, 151.2086],
      productClasses: [5, 11],
      properties: {
        distance: 240,
        STOP_GLOBAL_ID: 'G200098',
        STOP_NAME_WITH_PLACE: 'George St at Grosvenor St, Sydney',
      },
    },
    {
      id: '200098',
      name: 'George St at Grosvenor St, Sydney',
      type: 'platform',
      coord: [-33.863127, 151.2086],
      properties: {
        distance: 241,
        STOP_GLOBAL_ID: 'G200098',
        STOP_NAME_WITH_PLACE: 'George St at Grosvenor St, Sydney',
      },
    },
  ],
};

/** "manly": stops among a park and a street. */
export const stopFinderResponse = {
  version: '10.6.21.17',
  systemMessages: [{ type: 'error', module: 'BROKER', code: -8011, text: '' }],
  locations: [
    {
      id: 'poiID:858283006:95331018:-1:Manly Oval:Manly:Manly Oval:ANY:POI',
      name: 'Manly Oval, Manly',
      disassembledName: 'Manly Oval',
      coord: [-33.795, 151.283],
      type: 'poi',
      matchQuality: 230,
      isBest: false,
      parent: MANLY,
    },
    {
      id: '209573',
      isGlobalId: true,
      name: 'Manly Wharf, Manly',
      disassembledName: 'Manly Wharf',
      coord: [-33.80027, 151.283893],
      type: 'stop',
      matchQuality: 979,
      isBest: true,
      parent: MANLY,
      properties: { stopId: '10102027', mainLocality: 'Manly' },
      modes: [5, 9, 11],
    },
    {
      id: 'streetID:1500000823::95331018:-1:Manly Rd:Seaforth:Manly Rd::Manly Rd: 2092:ANY',
      name: 'Manly Rd, Seaforth',
      coord: [-33.793, 151.246],
      type: 'street',
      matchQuality: 227,
      isBest: false,
      properties: { postCode: ' 2092' },
    },
    {
      id: 'G2095102',
      isGlobalId: true,
      name: 'Manly Library, Belgrave St, Manly',
      disassembledName: 'Manly Library, Belgrave St',
      coord: [-33.796, 151.285],
      type: 'stop',
      matchQuality: 966,
      isBest: false,
      parent: MANLY,
      productClasses: [5],
    },
  ],
};

const airportPlatform = {
  isGlobalId: true,
  id: '202091',
  name: 'Domestic Airport Station, Platform 1, Mascot',
  disassembledName: 'Domestic Airport Station, Platform 1',
  type: 'platform',
  coord: [-33.933605, 151.180864],
  parent: {
    id: '202020',
    name: 'Domestic Airport Station, Platform 1, Mascot',
    disassembledName: 'Domestic Airport Station, Platform 1',
    type: 'stop',
    coord: [-33.93363, 151.18066],
    parent: MASCOT,
    properties: { stopId: '10101331' },
  },
  properties: { WheelchairAccess: 'true', area: '1', platform: 'SDT1', platformName: 'Platform 1' },
  modes: [1],
};

const quayPlatform = {
  isGlobalId: true,
  id: '2000351',
  name: 'Circular Quay, Platform 1, Sydney',
  disassembledName: 'Circular Quay, Platform 1',
  type: 'platform',
  coord: [-33.861351, 151.210295],
  parent: {
    id: '200020',
    name: 'Circular Quay, Sydney',
    type: 'stop',
    coord: [-33.861351, 151.210813],
    parent: SYDNEY,
  },
  properties: { area: '1', platform: 'CCQ1', platformName: 'Platform 1' },
  modes: [1, 4, 5, 9],
};

const quayWharf = {
  id: '20003',
  name: 'Circular Quay, Wharf 3, Side A, Sydney',
  disassembledName: 'Circular Quay, Wharf 3, Side A',
  type: 'platform',
  coord: [-33.860757, 151.211361],
  parent: {
    id: '200020',
    name: 'Circular Quay, Sydney',
    type: 'stop',
    coord: [-33.861351, 151.210813],
    parent: SYDNEY,
  },
  properties: { platform: 'F3A', platformName: 'Wharf 3, Side A' },
};

const manlyWharf = {
  id: '20951',
  name: 'Manly Wharf, Wharf 1, Manly',
  disassembledName: 'Manly Wharf, Wharf 1',
  type: 'platform',
  coord: [-33.80027, 151.283893],
  parent: { id: '209573', name: 'Manly Wharf, Manly', type: 'stop', coord: [-33.8003, 151.2839], parent: MANLY },
  properties: { platform: 'F1', platformName: 'Wharf 1' },
};

const manlyStreetStop = {
  id: 'G2095102',
  name: 'Manly Library, Belgrave St, Manly',
  type: 'stop',
  coord: [-33.796, 151.285],
  parent: MANLY,
};

const airportBusStop = {
  id: '202087',
  name: 'Domestic Airport, Keith Smith Av, Stand B, Mascot',
  type: 'platform',
  coord: [-33.9332, 151.1811],
  parent: { id: 'G202087', name: 'Domestic Airport, Keith Smith Av, Mascot', type: 'stop', parent: MASCOT },
  properties: { platform: 'B', platformName: 'Domestic Airport, Keith Smith Av, Stand B' },
};

const footpath = { product: { class: 100, name: 'footpath', iconId: 100 }, properties: { lineDisplay: 'LINE' } };
const footpathInside = { product: { class: 99, name: 'footpath', iconId: 99 }, properties: { tripCode: 0 } };

const departs = (planned: string, estimated = planned) => ({
  departureTimeBaseTimetable: planned,
  departureTimePlanned: planned,
  departureTimeEstimated: estimated,
});

const arrives = (planned: string, estimated = planned) => ({
  arrivalTimeBaseTimetable: planned,
  arrivalTimePlanned: planned,
  arrivalTimeEstimated: estimated,
});

/** Domestic Airport to Manly, twice: train, footpath within the station, ferry, walk; and walk, bus, walk, ferry. */
export const tripResponse = {
  version: '10.6.21.17',
  systemMessages: [{ type: 'warning', module: 'BROKER', code: -10015, text: 'itp', subType: 'itp-monomodal' }],
  journeys: [
    {
      rating: 0,
      isAdditional: false,
      interchanges: 1,
      legs: [
        {
          duration: 1164,
          isRealtimeControlled: true,
          realtimeStatus: ['MONITORED'],
          origin: { ...airportPlatform, ...departs('2026-04-15T06:30:36Z', '2026-04-15T06:31:36Z') },
          destination: { ...quayPlatform, ...arrives('2026-04-15T06:50:00Z', '2026-04-15T06:51:00Z') },
          transportation: {
            id: 'nsw:020T8: :R:sj2',
            name: 'Sydney Trains Network T8 Airport & South Line',
            disassembledName: 'T8',
            number: 'T8 Airport & South Line',
            product: { id: 1, class: 1, name: 'Sydney Trains Network', iconId: 1 },
            destination: { id: '10101428', name: 'City Circle via Museum', type: 'stop' },
            properties: { tripCode: 618, RealtimeTripId: '24-C.1257.152' },
            iconId: 1,
          },
          stopSequence: [
            { id: '202091', name: 'Domestic Airport Station, Platform 1, Mascot' },
            { id: '2020111', name: 'Mascot Station, Platform 1, Mascot' },
            { id: '2000351', name: 'Circular Quay, Platform 1, Sydney' },
          ],
          footPathInfo: [{ position: 'AFTER', duration: 240, footPathElem: [{ type: 'STAIRS', levelFrom: 1 }] }],
          interchange: {
            desc: 'Fussweg',
            type: 100,
            coords: [
              [-33.861351, 151.210295],
              [-33.861185, 151.210913],
              [-33.860757, 151.211361],
            ],
          },
          infos: [alert, permanentNotice],
          coords: [
            [-33.933605, 151.180864],
            [-33.9, 151.2],
            [-33.861351, 151.210295],
          ],
          properties: { PlanWheelChairAccess: '1' },
        },
        {
          duration: 1800,
          isRealtimeControlled: true,
          realtimeStatus: ['MONITORED'],
          origin: { ...quayWharf, ...departs('2026-04-15T07:00:00Z') },
          destination: { ...manlyWharf, ...arrives('2026-04-15T07:30:00Z') },
          transportation: {
            id: 'nsw:090F1: :H:sj2',
            name: 'Sydney Ferries Network F1 Manly',
            disassembledName: 'F1',
            number: 'F1 Manly',
            product: { id: 10, class: 9, name: 'Sydney Ferries Network', iconId: 9 },
            destination: { name: 'Manly' },
          },
          stopSequence: [{ id: '20003' }, { id: '20951' }],
          hints: [{ content: 'Gates close two minutes before departure.', type: 'Timetable' }],
          infos: [],
          coords: [
            [-33.860757, 151.211361],
            [-33.80027, 151.283893],
          ],
        },
        {
          duration: 420,
          distance: 496,
          origin: { ...manlyWharf, disassembledName: '???', properties: {}, ...departs('2026-04-15T07:30:00Z') },
          destination: { ...manlyStreetStop, ...arrives('2026-04-15T07:37:00Z') },
          transportation: footpath,
          stopSequence: [],
          infos: [],
          coords: [
            [-33.80027, 151.283893],
            [-33.796, 151.285],
          ],
        },
      ],
      fare: { tickets: [] },
      daysOfService: { rvb: '0000' },
    },
    {
      isAdditional: true,
      interchanges: 1,
      legs: [
        {
          duration: 180,
          distance: 210,
          origin: { ...airportPlatform, ...departs('2026-04-15T06:33:00Z') },
          destination: { ...airportBusStop, properties: {}, ...arrives('2026-04-15T06:36:00Z') },
          transportation: footpath,
          coords: [
            [-33.933605, 151.180864],
            [-33.9332, 151.1811],
          ],
        },
        {
          duration: 2400,
          isRealtimeControlled: false,
          origin: { ...airportBusStop, ...departs('2026-04-15T06:36:00Z') },
          destination: { ...quayPlatform, id: '200057', ...arrives('2026-04-15T07:16:00Z') },
          transportation: {
            id: 'nsw:14400: :R:sj2',
            name: 'Sydney Buses Network 400',
            disassembledName: '400',
            number: '400',
            product: { id: 5, class: 5, name: 'Sydney Buses Network', iconId: 5 },
            destination: { name: 'Circular Quay' },
          },
          stopSequence: [{ id: '202087' }, { id: '202010' }, { id: '200057' }],
          infos: [alert],
          coords: [
            [-33.9332, 151.1811],
            [-33.861351, 151.210295],
          ],
        },
        {
          duration: 240,
          distance: 146,
          origin: { ...quayPlatform, id: '200057', ...departs('2026-04-15T07:16:00Z') },
          destination: { ...quayWharf, properties: {}, ...arrives('2026-04-15T07:20:00Z') },
          transportation: footpathInside,
          stopSequence: [{ id: '200057' }, { id: '20003' }],
          footPathInfo: [{ position: 'IDEST', duration: 240 }],
          coords: [
            [-33.861351, 151.210295],
            [-33.860757, 151.211361],
          ],
        },
        {
          duration: 1800,
          isRealtimeControlled: true,
          origin: { ...quayWharf, ...departs('2026-04-15T07:30:00Z', '2026-04-15T07:31:00Z') },
          destination: { ...manlyWharf, ...arrives('2026-04-15T08:00:00Z', '2026-04-15T08:01:00Z') },
          transportation: {
            name: 'Sydney Ferries Network F1 Manly',
            disassembledName: 'F1',
            number: 'F1 Manly',
            product: { class: 9 },
            destination: { name: 'Manly' },
          },
          stopSequence: [{ id: '20003' }, { id: '20951' }],
          coords: [
            [-33.860757, 151.211361],
            [-33.80027, 151.283893],
          ],
        },
      ],
    },
  ],
};

import { describe, expect, it } from 'vitest';
import {
  parseTransportation,
  type Transportation,
  toHeadsign,
  toLineName,
  toRouteName,
} from '#src/efa/response/run.ts';

it.each([
  [
    'a train',
    'T8',
    'T8 Airport & South Line',
    'Sydney Trains Network T8 Airport & South Line',
    'T8',
    'T8 Airport & South Line',
  ],
  [
    'a train whose line has a name only',
    'CCN',
    'Central Coast & Newcastle Line',
    undefined,
    'CCN',
    'Central Coast & Newcastle Line',
  ],
  ['a ferry', 'F1', 'F1 Manly', 'Sydney Ferries Network F1 Manly', 'F1', 'F1 Manly'],
  ['a bus', '324', '324', 'Sydney Buses Network 324', '324', 'Sydney Buses Network 324'],
  [
    'a regional train',
    '621',
    '621',
    'Regional Trains and Coaches Network 621',
    '621',
    'Regional Trains and Coaches Network 621',
  ],
  [
    'a coach',
    undefined,
    '165',
    'Regional Trains and Coaches Network 165',
    '165',
    'Regional Trains and Coaches Network 165',
  ],
  ['a school bus', undefined, 'S120', 'School buses S120', 'S120', 'School buses S120'],
  ['a line with a short name only', 'N60', undefined, undefined, 'N60', 'N60'],
  ['a line with a name only', undefined, undefined, 'Zig Zag Railway', 'Zig Zag Railway', 'Zig Zag Railway'],
  ['a line with blank names', ' ', ' ', ' 504 ', '504', '504'],
  ['a line with numbers for names', 504, 504, 'Sydney Buses Network 504', '504', 'Sydney Buses Network 504'],
  ['a line without a name', undefined, undefined, undefined, null, null],
])(
  'the route and line name of %s are taken from the right fields',
  (_what, disassembledName, number, name, route, lineName) => {
    const transportation = parseTransportation({ disassembledName, number, name }) as Transportation;
    expect(toRouteName(transportation)).toBe(route);
    expect(toLineName(transportation)).toBe(lineName);
  },
);

describe('a line without a short name', () => {
  it.each<[number: string, id: string, route: string]>([
    ['T1 North Shore & Western Line', 'nsw:020T1:N:H:', 'T1'],
    ['T1 North Shore & Western Line', 'unknown', 'T1'],
    ['Blue Mountains Line', 'nsw:02BMT: :H:', 'BMT'],
    ['Blue Mountains Line', 'nsw:76BMT: :R:sj2', 'BMT'],
    ['South Coast Line', 'nsw:02SCO: :R:', 'SCO'],
    ['M1 Metro North West & Bankstown Line', 'nsw:030M1: :H:', 'M1'],
    ['L1 Dulwich Hill Line', 'nsw:780L1: :H:', 'L1'],
    ['F10 Blackwattle Bay', 'nsw:09F10: :H:', 'F10'],
    ['F10 Blackwattle Bay', 'nsw:990FX: :H:', 'F10'],
    ['CCTZ Taronga Zoo Ferry', 'nsw:04CCT:Z:H:', 'CCTZ'],
    ['Stkn Stockton Ferry', 'nsw:11STK:N:H:', 'STKN'],
    ['2307', 'nsw:76230:7:H:', '2307'],
    ['Shuttle Bus', 'nsw:14SHU: :H:', 'Shuttle Bus'],
    ['Shuttle Bus', '', 'Shuttle Bus'],
  ])('the line %j with the ID %j has the route %j', (number, id, route) => {
    const transportation = parseTransportation({ number, id }) as Transportation;
    expect(toRouteName(transportation)).toBe(route);
    expect(toLineName(transportation)).toBe(number);
  });
});

describe('the headsign', () => {
  it.each<[name: string | undefined, statuses: string[], headsign: string | null]>([
    ['Leppington via Granville', ['MONITORED'], 'Leppington via Granville'],
    ['Leppington Station, Leppington', ['EXTRA_STOPS', 'MONITORED'], 'Leppington Station'],
    ['Circular Quay, Sydney', ['EXTRA_TRIP', 'MONITORED'], 'Circular Quay'],
    ['Circular Quay, Sydney', ['EXTRA_STOP'], 'Circular Quay'],
    ['Circular Quay , Sydney', ['EXTRA_TRIP'], 'Circular Quay'],
    ['Central Station, Sydney', ['EXTRA_TRIP'], 'Central Station'],
    ['Randwick Light Rail, Randwick', [], 'Randwick Light Rail'],
    ['Walsh Bay Arts Precinct, Hickson Rd, Dawes Point', ['EXTRA_TRIP'], 'Walsh Bay Arts Precinct, Hickson Rd'],
    ["St Mary's Cathedral, St Marys Rd, Sydney", ['EXTRA_TRIP'], "St Mary's Cathedral, St Marys Rd"],
    ['Liverpool via Regents Park', ['EXTRA_STOPS'], 'Liverpool via Regents Park'],
    ['  Manly ', [], 'Manly'],
    // The last part is not a known suburb.
    ['Bankstown Central: Appian Way, Stand E', ['EXTRA_TRIP'], 'Bankstown Central: Appian Way, Stand E'],
    ['Circular Quay, Sydney', ['MONITORED'], 'Circular Quay, Sydney'],
    // Without its suburb, this street could be anywhere.
    ['Edinburgh Rd at Murray St, Marrickville', ['EXTRA_TRIP'], 'Edinburgh Rd at Murray St, Marrickville'],
    ['Station St, Wentworthville', ['EXTRA_TRIP'], 'Station St, Wentworthville'],
    ['Hospital, Bowral', ['EXTRA_TRIP'], 'Hospital, Bowral'],
    ['', [], null],
    [undefined, ['EXTRA_TRIP'], null],
  ])('the headsign %j of a run with statuses %j reads %j', (name, statuses, headsign) => {
    const transportation = parseTransportation({ destination: { name } }) as Transportation;
    expect(toHeadsign(transportation, statuses)).toBe(headsign);
  });
});

/**
 * The ferries of the harbour. Wharves are facts with their identifiers; berths numbered 9914xxxx and Shark Island have
 * made-up ones. A wharf with one berth names it like the wharf.
 */
import type { SandboxLine, SandboxStop } from '../network.ts';
import { PRIVATE_FERRIES, SYDNEY_FERRIES } from './products.ts';
import { at, bothWays, every, stop, waves } from './rows.ts';

export const HARBOUR_STOPS: readonly SandboxStop[] = [
  stop('209573', '10102027', 'Manly Wharf', 'Manly', -33.799541, 151.284282, [
    at('20951', 'F1', 'Wharf 1', -33.800459, 151.283799),
    at('209525', 'F2', 'Wharf 2', -33.800507, 151.283953),
  ]),
  stop('208899', '10102022', 'Taronga Zoo Wharf', 'Mosman', -33.845888, 151.239747, [
    at('20883', 'F1', 'Taronga Zoo Wharf', -33.845888, 151.239747),
  ]),
  stop('2000441', '10102039', 'Barangaroo Wharf', 'Barangaroo', -33.864784, 151.201056, [
    at('99140441', 'F1A', 'Wharf 1, Side A', -33.86438, 151.20059),
    at('99140442', 'F2A', 'Wharf 2, Side A', -33.86497, 151.20065),
  ]),
  stop('2000260', '10102033', 'Pyrmont Bay Wharf', 'Pyrmont', -33.868482, 151.198818, [
    at('99140260', 'F1', 'Pyrmont Bay Wharf', -33.868482, 151.198818),
  ]),
  stop('20009', null, 'Cockatoo Island Wharf', 'Cockatoo Island', -33.845584, 151.17299, [
    at('99140009', 'F1', 'Cockatoo Island Wharf', -33.845584, 151.17299),
  ]),
  stop(
    '211131',
    null,
    'Huntleys Point Wharf',
    'Huntleys Point',
    -33.841905,
    151.142134,
    [at('99141131', 'F1', 'Huntleys Point Wharf', -33.841905, 151.142134)],
    false,
  ),
  stop('21271', null, 'Sydney Olympic Park Wharf', 'Sydney Olympic Park', -33.822115, 151.079093, [
    at('99141271', 'F1', 'Sydney Olympic Park Wharf', -33.822115, 151.079093),
  ]),
  stop('2150112', '10102032', 'Parramatta Wharf', 'Parramatta', -33.813952, 151.010482, [
    at('99140112', 'F1', 'Parramatta Wharf', -33.813952, 151.010482),
  ]),
  stop('209037', null, 'Cremorne Point Wharf', 'Cremorne Point', -33.84769, 151.23109, [
    at('99149037', 'F1', 'Cremorne Point Wharf', -33.84769, 151.23109),
  ]),
  stop('208877', '10102020', 'Mosman Bay Wharf', 'Mosman', -33.838399, 151.232715, [
    at('99148877', 'F1', 'Mosman Bay Wharf', -33.838399, 151.232715),
  ]),
  stop(
    '202727',
    null,
    'Darling Point Wharf',
    'Darling Point',
    -33.866652,
    151.239587,
    [at('99142727', 'F1', 'Darling Point Wharf', -33.866652, 151.239587)],
    false,
  ),
  stop('202823', '10102003', 'Double Bay Wharf', 'Double Bay', -33.873707, 151.242443, [
    at('99142823', 'F1', 'Double Bay Wharf', -33.873707, 151.242443),
  ]),
  stop(
    '99001051',
    '10102051',
    'Shark Island',
    'Vaucluse',
    -33.85615,
    151.25702,
    [at('99141051', 'F1', 'Shark Island', -33.85615, 151.25702)],
    false,
  ),
];

const OPERATOR = 'Sydney Ferries';
const CRUISES = 'Captain Cook Cruises';
const SHORT = { peak: 20, day: 30, late: 40, weekend: 30 };

export const HARBOUR_LINES: readonly SandboxLine[] = [
  {
    id: 'nsw:090F1',
    route: 'F1',
    number: 'F1 Manly',
    product: SYDNEY_FERRIES,
    operator: OPERATOR,
    description: 'Circular Quay to Manly',
    monitored: true,
    patterns: bothWays(
      ['Manly', 'Circular Quay'],
      [
        waves('05:40', '24:20', { peak: 20, day: 30, late: 40, weekend: 20 }),
        waves('05:15', '23:55', { peak: 20, day: 30, late: 40, weekend: 20 }),
      ],
      [
        ['2000216', '2000216', 0],
        ['20951', '20951', 22],
      ],
    ),
  },
  {
    id: 'nsw:090F2',
    route: 'F2',
    number: 'F2 Taronga Zoo',
    product: SYDNEY_FERRIES,
    operator: OPERATOR,
    description: 'Circular Quay to Taronga Zoo',
    monitored: true,
    patterns: bothWays(
      ['Taronga Zoo', 'Circular Quay'],
      [waves('06:15', '22:35', SHORT), waves('06:32', '22:52', SHORT)],
      [
        ['2000225', '2000225', 0],
        ['20883', '20883', 12],
      ],
    ),
  },
  {
    id: 'nsw:090F3',
    route: 'F3',
    number: 'F3 Parramatta River',
    product: SYDNEY_FERRIES,
    operator: OPERATOR,
    description: 'Circular Quay to Parramatta',
    monitored: true,
    patterns: bothWays(
      ['Parramatta', 'Circular Quay'],
      [
        waves('06:22', '20:52', { peak: 30, day: 60, late: 60, weekend: 45 }),
        waves('06:03', '20:33', { peak: 30, day: 60, late: 60, weekend: 45 }),
      ],
      [
        ['2000229', '2000229', 0],
        ['99140441', '99140441', 8],
        ['99140009', '99140009', 19],
        ['99141131', '99141131', 28],
        ['99141271', '99141271', 50],
        ['99140112', '99140112', 78],
      ],
    ),
  },
  {
    id: 'nsw:090F4',
    route: 'F4',
    number: 'F4 Pyrmont Bay',
    product: SYDNEY_FERRIES,
    operator: OPERATOR,
    description: 'Circular Quay to Pyrmont Bay',
    monitored: true,
    patterns: bothWays(
      ['Pyrmont Bay', 'Circular Quay'],
      [waves('06:36', '22:16', SHORT), waves('06:20', '22:40', SHORT)],
      [
        ['2000229', '2000229', 0],
        ['99140442', '99140442', 9],
        ['99140260', '99140260', 13],
      ],
    ),
  },
  {
    id: 'nsw:090F6',
    route: 'F6',
    number: 'F6 Mosman Bay',
    product: SYDNEY_FERRIES,
    operator: OPERATOR,
    description: 'Circular Quay to Mosman Bay',
    monitored: true,
    patterns: bothWays(
      ['Mosman Bay', 'Circular Quay'],
      [waves('06:05', '24:05', SHORT), waves('06:30', '23:50', SHORT)],
      [
        ['2000223', '2000223', 0],
        ['99149037', '99149037', 8],
        ['99148877', '99148877', 17],
      ],
    ),
  },
  {
    id: 'nsw:090F7',
    route: 'F7',
    number: 'F7 Double Bay',
    product: SYDNEY_FERRIES,
    operator: OPERATOR,
    description: 'Circular Quay to Double Bay',
    monitored: true,
    patterns: bothWays(
      ['Double Bay', 'Circular Quay'],
      [
        waves('07:10', '19:10', { peak: 30, day: 60, late: 60, weekend: 60 }),
        waves('07:30', '19:30', { peak: 30, day: 60, late: 60, weekend: 60 }),
      ],
      [
        ['2000215', '2000215', 0],
        ['99142727', '99142727', 10],
        ['99142823', '99142823', 14],
      ],
    ),
  },
  {
    id: 'nsw:05MFF',
    route: 'MFF',
    number: 'MFF Manly Fast Ferry',
    product: PRIVATE_FERRIES,
    operator: 'Manly Fast Ferries',
    description: 'Circular Quay to Manly',
    monitored: true,
    patterns: bothWays(
      ['Manly', 'Circular Quay'],
      [
        waves('06:30', '21:10', { peak: 10, day: 20, late: 30, weekend: 20 }),
        waves('06:05', '20:45', { peak: 10, day: 20, late: 30, weekend: 20 }),
      ],
      [
        ['2000212', '2000212', 0],
        ['209525', '209525', 20],
      ],
    ),
  },
  // The cruises do not report where they are.
  {
    id: 'nsw:04CCT',
    route: 'CCTZ',
    number: 'CCTZ Taronga Zoo Ferry',
    product: PRIVATE_FERRIES,
    operator: CRUISES,
    description: 'City to Taronga Zoo',
    monitored: false,
    patterns: bothWays(
      ['Taronga Zoo', 'Circular Quay'],
      [[every(45, '09:15', '16:45')], [every(45, '09:35', '17:05')]],
      [
        ['2000234', '2000234', 0],
        ['20883', '20883', 15],
      ],
    ),
  },
  {
    id: 'nsw:04CCS',
    route: 'CCSH',
    number: 'CCSH Shark Island Ferry',
    product: PRIVATE_FERRIES,
    operator: CRUISES,
    description: 'City to Shark Island',
    monitored: false,
    patterns: bothWays(
      ['Shark Island', 'Circular Quay'],
      [[every(60, '09:40', '15:40', 'weekends')], [every(60, '10:10', '16:10', 'weekends')]],
      [
        ['2000234', '2000234', 0],
        ['99141051', '99141051', 20],
      ],
    ),
  },
];

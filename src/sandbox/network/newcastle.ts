/**
 * Newcastle and the railway to it. Stations are facts with their numbers and coordinates; their platforms, numbered
 * 9916xxxx, have made-up identifiers. Trams, ferry and buses of the town stand at real places known to some hundred
 * metres.
 */
import type { SandboxLine, SandboxStop } from '../network.ts';
import { HUNTER_BUSES, INTERCITY_TRAINS, NEWCASTLE_FERRIES, NEWCASTLE_LIGHT_RAIL } from './products.ts';
import { at, bothWays, lightRailPlatforms, platforms, stop, street, waves } from './rows.ts';

export const NEWCASTLE_STOPS: readonly SandboxStop[] = [
  stop('225610', null, 'Woy Woy Station', 'Woy Woy', -33.485112, 151.323624, [
    ...platforms(99165611, 'WOY', [1, 2], -33.48507, 151.32358),
  ]),
  stop('225040', null, 'Gosford Station', 'Gosford', -33.423883, 151.341711, [
    ...platforms(99165041, 'GOS', [1, 2], -33.42384, 151.34167),
  ]),
  stop('225910', null, 'Tuggerah Station', 'Tuggerah', -33.308086, 151.420153, [
    ...platforms(99165911, 'TUG', [1, 2], -33.30804, 151.42011),
  ]),
  stop('225920', null, 'Wyong Station', 'Wyong', -33.285479, 151.425256, [
    ...platforms(99165921, 'WYG', [1, 2], -33.28544, 151.42521),
  ]),
  stop('226410', null, 'Morisset Station', 'Morisset', -33.109246, 151.487734, [
    ...platforms(99166411, 'MSS', [1, 2], -33.1092, 151.48769),
  ]),
  stop(
    '228330',
    null,
    'Fassifern Station',
    'Fassifern',
    -32.985788,
    151.581251,
    [...platforms(99168331, 'FAS', [1, 2], -32.98575, 151.58121)],
    false,
  ),
  stop('229210', null, 'Broadmeadow Station', 'Broadmeadow', -32.923017, 151.734686, [
    ...platforms(99169211, 'BMD', [1, 2], -32.92297, 151.73464),
    at('99169213', 'X1', 'Broadmeadow Station', -32.92341, 151.73541),
    at('99169214', 'X2', 'Broadmeadow Station', -32.92352, 151.73498),
  ]),
  stop('230310', null, 'Hamilton Station', 'Hamilton', -32.918713, 151.748872, [
    ...platforms(99163011, 'HAM', [1, 2], -32.91867, 151.74883),
    at('99163013', 'X1', 'Hamilton Station', -32.91892, 151.74921),
    at('99163014', 'X2', 'Hamilton Station', -32.91903, 151.74887),
  ]),
  stop('229310', null, 'Newcastle Interchange', 'Newcastle West', -32.924037, 151.759079, [
    ...platforms(99169311, 'NCI', [1, 2], -32.92399, 151.75904),
    ...lightRailPlatforms(99169313, 'Newcastle Interchange Light Rail', -32.9246, 151.7599),
    at('99169315', 'A', 'Newcastle Interchange, Stand A', -32.92463, 151.7584),
    at('99169316', 'B', 'Newcastle Interchange, Stand B', -32.92472, 151.75872),
  ]),
  stop('99003001', null, 'Honeysuckle Light Rail', 'Newcastle West', -32.9261, 151.7652, [
    ...lightRailPlatforms(99163101, 'Honeysuckle Light Rail', -32.9261, 151.7652),
  ]),
  stop('99003002', null, 'Civic Light Rail', 'Newcastle', -32.9262, 151.7716, [
    ...lightRailPlatforms(99163103, 'Civic Light Rail', -32.9262, 151.7716),
  ]),
  stop('99003003', null, 'Crown Street Light Rail', 'Newcastle', -32.9271, 151.7764, [
    ...lightRailPlatforms(99163105, 'Crown Street Light Rail', -32.9271, 151.7764),
  ]),
  stop('99003004', null, 'Queens Wharf Light Rail', 'Newcastle', -32.9268, 151.781, [
    ...lightRailPlatforms(99163107, 'Queens Wharf Light Rail', -32.9268, 151.781),
  ]),
  stop('99003005', null, 'Newcastle Beach Light Rail', 'Newcastle', -32.9274, 151.7862, [
    ...lightRailPlatforms(99163109, 'Newcastle Beach Light Rail', -32.9274, 151.7862),
  ]),
  stop('99003006', null, 'Queens Wharf', 'Newcastle', -32.9257, 151.7821, [
    at('99163111', 'F1', 'Queens Wharf', -32.9257, 151.7821),
  ]),
  stop('99003007', null, 'Stockton Wharf', 'Stockton', -32.9192, 151.783, [
    at('99163112', 'F1', 'Stockton Wharf', -32.9192, 151.783),
  ]),
  street('G99003008', null, 'John Hunter Hospital, Kookaburra Cct', 'New Lambton Heights', [
    ['99163113', -32.9222, 151.6931],
    ['99163114', -32.9224, 151.6934],
  ]),
  street('G99003009', null, 'University of Newcastle, University Dr', 'Callaghan', [['99163115', -32.8923, 151.7055]]),
  street('G99003010', null, 'Charlestown Square, Pearson St', 'Charlestown', [['99163116', -32.9648, 151.6947]]),
];

export const NEWCASTLE_LINES: readonly SandboxLine[] = [
  {
    id: 'nsw:02CCN',
    route: 'CCN',
    number: 'Central Coast & Newcastle Line',
    product: INTERCITY_TRAINS,
    operator: 'NSW Trains',
    description: 'Central to Newcastle via Strathfield or Gordon',
    monitored: true,
    patterns: [
      ...bothWays(
        ['Newcastle Interchange via Strathfield', 'Central via Strathfield'],
        [
          waves('05:15', '23:15', { peak: 30, day: 60, late: 60, weekend: 60 }),
          waves('03:52', '21:52', { peak: 30, day: 60, late: 60, weekend: 60 }),
        ],
        [
          ['2000330', '2000331', 0],
          ['99113513', '99113514', 12],
          ['99112111', '99112113', 26],
          ['99117723', '99117724', 37],
          ['99165611', '99165612', 72],
          ['99165041', '99165042', 82],
          ['99165911', '99165912', 97],
          ['99165921', '99165922', 101],
          ['99166411', '99166412', 122],
          ['99168331', '99168332', 140],
          ['99169211', '99169212', 158],
          ['99163011', '99163012', 161],
          ['99169311', '99169312', 164],
        ],
      ),
      ...bothWays(
        ['Wyong via Strathfield', 'Central via Strathfield'],
        [
          waves('04:45', '22:45', { peak: 30, day: 60, late: 60, weekend: 60 }),
          waves('04:20', '22:20', { peak: 30, day: 60, late: 60, weekend: 60 }),
        ],
        [
          ['2000330', '2000331', 0],
          ['99113513', '99113514', 12],
          ['99112111', '99112113', 26],
          ['99117723', '99117724', 37],
          ['99165611', '99165612', 72],
          ['99165041', '99165042', 82],
          ['99165911', '99165912', 97],
          ['99165921', '99165922', 101],
        ],
      ),
    ],
  },
  {
    id: 'nsw:810NL',
    route: 'NLR',
    number: 'NLR Newcastle Light Rail',
    product: NEWCASTLE_LIGHT_RAIL,
    operator: 'Newcastle Transport',
    description: 'Newcastle Interchange to Newcastle Beach',
    monitored: true,
    patterns: bothWays(
      ['Newcastle Beach', 'Newcastle Interchange'],
      [
        waves('05:05', '24:20', { peak: 8, day: 10, late: 15, weekend: 15 }),
        waves('05:00', '24:15', { peak: 8, day: 10, late: 15, weekend: 15 }),
      ],
      [
        ['99169313', '99169314', 0],
        ['99163101', '99163102', 2.5],
        ['99163103', '99163104', 5],
        ['99163105', '99163106', 7.5],
        ['99163107', '99163108', 9.5],
        ['99163109', '99163110', 12],
      ],
    ),
  },
  {
    id: 'nsw:820ST',
    route: 'STKN',
    number: 'STKN Stockton Ferry',
    product: NEWCASTLE_FERRIES,
    operator: 'Newcastle Transport',
    description: 'Newcastle to Stockton',
    monitored: true,
    patterns: bothWays(
      ['Stockton', 'Queens Wharf'],
      [
        waves('05:15', '23:00', { peak: 15, day: 20, late: 30, weekend: 30 }),
        waves('05:25', '23:10', { peak: 15, day: 20, late: 30, weekend: 30 }),
      ],
      [
        ['99163111', '99163111', 0],
        ['99163112', '99163112', 4],
      ],
    ),
  },
  {
    id: 'nsw:60011',
    route: '11',
    number: '11',
    product: HUNTER_BUSES,
    operator: 'Newcastle Transport',
    description: 'Newcastle to Charlestown via University & John Hunter Hospital',
    monitored: true,
    patterns: bothWays(
      ['Charlestown', 'Newcastle'],
      [
        waves('05:30', '23:30', { peak: 15, day: 15, late: 30, weekend: 30 }),
        waves('05:18', '23:18', { peak: 15, day: 15, late: 30, weekend: 30 }),
      ],
      [
        ['99169315', '99169316', 0],
        ['99163013', '99163014', 4],
        ['99169213', '99169214', 9],
        ['99163115', '99163115', 21],
        ['99163113', '99163114', 33],
        ['99163116', '99163116', 46],
      ],
    ),
  },
];

/**
 * The trams. Stops and, in the inner city, their tracks are facts; tracks numbered 9913xxxx have made-up identifiers.
 */
import type { SandboxLine, SandboxStop } from '../network.ts';
import { SYDNEY_LIGHT_RAIL } from './products.ts';
import { at, bothWays, lightRailPlatforms, stop, waves } from './rows.ts';

const PADDYS = "Paddy's Markets Light Rail";

export const SYDNEY_LIGHT_RAIL_STOPS: readonly SandboxStop[] = [
  // L2 and L3
  stop('2000177', null, 'Bridge Street Light Rail', 'Sydney', -33.86411, 151.20745, [
    ...lightRailPlatforms(99130177, 'Bridge Street Light Rail', -33.86413, 151.20744),
  ]),
  stop('2000169', null, 'Chinatown Light Rail', 'Sydney', -33.87859, 151.20558, [
    at('2000443', 'LR1', 'Chinatown Light Rail', -33.878595, 151.20558),
    at('2000444', 'LR2', 'Chinatown Light Rail', -33.878587, 151.205547),
  ]),
  stop('2000168', null, 'Haymarket Light Rail', 'Haymarket', -33.88143, 151.20537, [
    at('2000445', 'LR1', 'Haymarket Light Rail', -33.881431, 151.205363),
    at('2000446', 'LR2', 'Haymarket Light Rail', -33.881469, 151.2053),
  ]),
  stop('201029', '10101607', 'Surry Hills Light Rail', 'Surry Hills', -33.888134, 151.211958, [
    at('2010108', 'LR1', 'Surry Hills Light Rail', -33.888073, 151.211901),
    at('2010109', 'LR2', 'Surry Hills Light Rail', -33.888128, 151.211861),
  ]),
  stop('202195', null, 'Moore Park Light Rail', 'Moore Park', -33.89376, 151.22182, [
    ...lightRailPlatforms(99132195, 'Moore Park Light Rail', -33.89375, 151.2218),
  ]),
  stop('202158', null, 'Royal Randwick Light Rail', 'Randwick', -33.90517, 151.22886, [
    ...lightRailPlatforms(99132158, 'Royal Randwick Light Rail', -33.90516, 151.22885),
  ]),
  stop('2031157', null, 'Wansey Road Light Rail', 'Randwick', -33.91052, 151.23523, [
    ...lightRailPlatforms(99131157, 'Wansey Road Light Rail', -33.91051, 151.23522),
  ]),
  stop('2031156', null, 'UNSW High Street Light Rail', 'Randwick', -33.91634, 151.23555, [
    ...lightRailPlatforms(99131155, 'UNSW High Street Light Rail', -33.91633, 151.23554),
  ]),
  stop('2031167', '10101612', 'Randwick Light Rail', 'Randwick', -33.91712, 151.24054, [
    ...lightRailPlatforms(99131167, 'Randwick Light Rail', -33.91711, 151.24053),
  ]),
  stop('203362', null, 'ES Marks Light Rail', 'Kensington', -33.90583, 151.22394, [
    ...lightRailPlatforms(99133362, 'ES Marks Light Rail', -33.90582, 151.22393),
  ]),
  stop('203361', null, 'Kensington Light Rail', 'Kensington', -33.90937, 151.22337, [
    ...lightRailPlatforms(99133364, 'Kensington Light Rail', -33.90936, 151.22336),
  ]),
  stop('203360', null, 'UNSW Anzac Parade Light Rail', 'Kensington', -33.91665, 151.22593, [
    ...lightRailPlatforms(99133366, 'UNSW Anzac Parade Light Rail', -33.91664, 151.22592),
  ]),
  stop('203295', null, 'Kingsford Light Rail', 'Kingsford', -33.92188, 151.2269, [
    ...lightRailPlatforms(99133295, 'Kingsford Light Rail', -33.92187, 151.22689),
    at('99133297', 'X1', 'Kingsford Light Rail', -33.92222, 151.22731),
    at('99133298', 'X2', 'Kingsford Light Rail', -33.92232, 151.22705),
  ]),
  stop('203294', '10101617', 'Juniors Kingsford Light Rail', 'Kingsford', -33.92498, 151.22927, [
    ...lightRailPlatforms(99133293, 'Juniors Kingsford Light Rail', -33.92497, 151.22926),
  ]),
  // L1
  stop('2000200', null, 'Capitol Square Light Rail', 'Haymarket', -33.87976, 151.20565, [
    at('2000255', 'L1', 'Capitol Square Light Rail', -33.87977, 151.205713),
    at('2000256', 'L2', 'Capitol Square Light Rail', -33.879812, 151.205553),
  ]),
  stop('2000202', null, PADDYS, 'Haymarket', -33.87931, 151.20273, [
    at('2000253', 'L1', PADDYS, -33.879276, 151.202772),
    at('2000254', 'L2', PADDYS, -33.879317, 151.202623),
  ]),
  stop('2000203', null, 'Exhibition Centre Light Rail', 'Sydney', -33.87721, 151.19965, [
    at('2000264', 'L1', 'Exhibition Centre Light Rail', -33.877174, 151.199677),
    at('2000265', 'L2', 'Exhibition Centre Light Rail', -33.877214, 151.199571),
  ]),
  stop('2000262', null, 'Convention Centre Light Rail', 'Sydney', -33.87263, 151.19812, [
    ...lightRailPlatforms(99130262, 'Convention Centre Light Rail', -33.87264, 151.19811, 'L'),
  ]),
  stop('200946', '10101638', 'Pyrmont Bay Light Rail', 'Pyrmont', -33.86918, 151.19768, [
    ...lightRailPlatforms(99130946, 'Pyrmont Bay Light Rail', -33.86919, 151.19767, 'L'),
  ]),
  stop('200947', null, 'The Star Light Rail', 'Pyrmont', -33.8674, 151.19511, [
    ...lightRailPlatforms(99130948, 'The Star Light Rail', -33.86741, 151.1951, 'L'),
  ]),
  stop('200948', null, 'John Street Square Light Rail', 'Pyrmont', -33.86738, 151.19205, [
    ...lightRailPlatforms(99130950, 'John Street Square Light Rail', -33.86739, 151.19204, 'L'),
  ]),
  stop('200952', null, 'Bank Street Light Rail', 'Pyrmont', -33.87088, 151.19232, [
    ...lightRailPlatforms(99130952, 'Bank Street Light Rail', -33.87089, 151.19231, 'L'),
  ]),
  stop('203755', null, 'Glebe Light Rail', 'Glebe', -33.87719, 151.18736, [
    ...lightRailPlatforms(99133755, 'Glebe Light Rail', -33.8772, 151.18735, 'L'),
  ]),
  stop('204089', null, 'Lilyfield Light Rail', 'Lilyfield', -33.87417, 151.16485, [
    ...lightRailPlatforms(99134089, 'Lilyfield Light Rail', -33.87418, 151.16484, 'L'),
  ]),
  stop('204950', null, 'Lewisham West Light Rail', 'Lewisham', -33.89399, 151.14324, [
    ...lightRailPlatforms(99134950, 'Lewisham West Light Rail', -33.894, 151.14323, 'L'),
  ]),
  stop('220363', null, 'Dulwich Hill Light Rail', 'Dulwich Hill', -33.91033, 151.14011, [
    ...lightRailPlatforms(99130363, 'Dulwich Hill Light Rail', -33.91034, 151.1401, 'L'),
  ]),
];

const OPERATOR = 'Sydney Light Rail';
const SOUTH_EAST = { peak: 8, day: 8, late: 12, weekend: 10 };

export const SYDNEY_LIGHT_RAIL_LINES: readonly SandboxLine[] = [
  {
    id: 'nsw:780L1',
    route: 'L1',
    number: 'L1 Dulwich Hill Line',
    product: SYDNEY_LIGHT_RAIL,
    operator: 'Transdev Sydney',
    description: 'Central to Dulwich Hill',
    monitored: true,
    patterns: bothWays(
      ['Dulwich Hill', 'Central'],
      [
        waves('05:06', '24:36', { peak: 8, day: 10, late: 15, weekend: 10 }),
        waves('04:58', '24:28', { peak: 8, day: 10, late: 15, weekend: 10 }),
      ],
      [
        ['2000257', '2000257', 0],
        ['2000255', '2000256', 2],
        ['2000253', '2000254', 4],
        ['2000264', '2000265', 6],
        ['99130262', '99130263', 8],
        ['99130946', '99130947', 10],
        ['99130948', '99130949', 11.5],
        ['99130950', '99130951', 13],
        ['99130952', '99130953', 15],
        ['99133755', '99133756', 18],
        ['99134089', '99134090', 23],
        ['99134950', '99134951', 33],
        ['99130363', '99130364', 39],
      ],
    ),
  },
  {
    id: 'nsw:780L2',
    route: 'L2',
    number: 'L2 Randwick Line',
    product: SYDNEY_LIGHT_RAIL,
    operator: OPERATOR,
    description: 'Circular Quay to Randwick',
    monitored: true,
    patterns: bothWays(
      ['Randwick', 'Circular Quay'],
      [waves('05:00', '24:50', SOUTH_EAST), waves('04:51', '24:41', SOUTH_EAST)],
      [
        ['2000450', '2000449', 0],
        ['99130177', '99130178', 2],
        ['99010085', '99010086', 3.5],
        ['99010171', '2000457', 6],
        ['2000458', '2000459', 7.5],
        ['2000443', '2000444', 10],
        ['2000445', '2000446', 12],
        ['2000447', '2000448', 14.5],
        ['2010108', '2010109', 17],
        ['99132195', '99132196', 20],
        ['99132158', '99132159', 24],
        ['99131157', '99131158', 27],
        ['99131155', '99131156', 30],
        ['99131167', '99131168', 32],
      ],
    ),
  },
  {
    id: 'nsw:780L3',
    route: 'L3',
    number: 'L3 Kingsford Line',
    product: SYDNEY_LIGHT_RAIL,
    operator: OPERATOR,
    description: 'Circular Quay to Juniors Kingsford',
    monitored: true,
    patterns: bothWays(
      ['Juniors Kingsford', 'Circular Quay'],
      [waves('05:04', '24:54', SOUTH_EAST), waves('04:55', '24:45', SOUTH_EAST)],
      [
        ['2000450', '2000449', 0],
        ['99130177', '99130178', 2],
        ['99010085', '99010086', 3.5],
        ['99010171', '2000457', 6],
        ['2000458', '2000459', 7.5],
        ['2000443', '2000444', 10],
        ['2000445', '2000446', 12],
        ['2000447', '2000448', 14.5],
        ['2010108', '2010109', 17],
        ['99132195', '99132196', 20],
        ['99133362', '99133363', 24],
        ['99133364', '99133365', 25.5],
        ['99133366', '99133367', 28],
        ['99133295', '99133296', 30.5],
        ['99133293', '99133294', 32.5],
      ],
    ),
  },
];

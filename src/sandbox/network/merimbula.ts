/**
 * An island: a town bus on the far south coast which meets nothing else of the network, so that no journey leads there
 * from anywhere. The places are real, known to some hundred metres; numbers and the line are made up.
 */
import type { SandboxLine, SandboxStop } from '../network.ts';
import { SOUTH_EAST_BUSES } from './products.ts';
import { bothWays, street, waves } from './rows.ts';

export const MERIMBULA_STOPS: readonly SandboxStop[] = [
  street(
    'G99006001',
    null,
    'Tura Beach Shopping Centre, Tura Beach Dr',
    'Tura Beach',
    [['99186001', -36.8676, 149.9217]],
    false,
  ),
  street('G99006002', null, 'Merimbula, Market St', 'Merimbula', [
    ['99186002', -36.8893, 149.9106],
    ['99186003', -36.8895, 149.9109],
  ]),
  street(
    'G99006003',
    null,
    'Pambula, Quondola St',
    'Pambula',
    [
      ['99186004', -36.9293, 149.8752],
      ['99186005', -36.9295, 149.8755],
    ],
    false,
  ),
  street('G99006004', null, 'Eden, Imlay St', 'Eden', [['99186006', -37.0628, 149.9043]]),
];

export const MERIMBULA_LINES: readonly SandboxLine[] = [
  {
    id: 'nsw:99891',
    route: '891',
    number: '891',
    product: SOUTH_EAST_BUSES,
    operator: 'Sapphire Coast Buslines',
    description: 'Tura Beach to Eden via Merimbula & Pambula',
    monitored: true,
    patterns: bothWays(
      ['Eden', 'Tura Beach'],
      [
        waves('07:15', '18:15', { peak: 60, day: 120, late: 60, weekend: 180 }),
        waves('06:25', '17:25', { peak: 60, day: 120, late: 60, weekend: 180 }),
      ],
      [
        ['99186001', '99186001', 0],
        ['99186002', '99186003', 8],
        ['99186004', '99186005', 17],
        ['99186006', '99186006', 36],
      ],
    ),
  },
];

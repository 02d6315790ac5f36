/**
 * School buses: weekday mornings and afternoons only, and nothing else calls at the schools. The schools are real, known
 * to some hundred metres; numbers of stops, points and runs are made up.
 */
import type { SandboxLine, SandboxStop } from '../network.ts';
import { SCHOOL_BUSES } from './products.ts';
import { once, oneWay, street } from './rows.ts';

export const SCHOOL_STOPS: readonly SandboxStop[] = [
  street('G99005001', null, 'Epping Boys High School, Vimiera Rd', 'Marsfield', [['99185001', -33.769512, 151.099974]]),
  street('G99005002', null, 'Sydney Boys High School, Cleveland St', 'Moore Park', [['99185002', -33.893, 151.2182]]),
];

export const SCHOOL_LINES: readonly SandboxLine[] = [
  {
    id: 'nsw:80S12',
    route: null,
    number: 'S120',
    product: SCHOOL_BUSES,
    operator: 'Transdev John Holland Buses',
    description: 'Central to Sydney Boys High School',
    monitored: false,
    patterns: [
      oneWay(
        'Sydney Boys High School',
        [once('07:55', 'weekdays'), once('08:10', 'weekdays'), once('08:25', 'weekdays')],
        [
          ['201080', 0],
          ['201081', 2],
          ['201046', 6],
          ['201047', 7],
          ['99185002', 12],
        ],
      ),
      oneWay(
        'Central Station',
        [once('15:15', 'weekdays'), once('15:25', 'weekdays'), once('15:40', 'weekdays')],
        [
          ['99185002', 0],
          ['201636', 5],
          ['201638', 6],
          ['201616', 8.5],
          ['201016', 11],
        ],
      ),
    ],
  },
  {
    id: 'nsw:80630',
    route: null,
    number: '6300',
    product: SCHOOL_BUSES,
    operator: 'Busways North West',
    description: 'Epping to Epping Boys High School',
    monitored: false,
    patterns: [
      oneWay(
        'Epping Boys High School',
        [once('08:05', 'weekdays'), once('08:20', 'weekdays')],
        [
          ['99112117', 0],
          ['99185001', 9],
        ],
      ),
      oneWay(
        'Epping Station',
        [once('15:10', 'weekdays'), once('15:25', 'weekdays')],
        [
          ['99185001', 0],
          ['99112118', 9],
        ],
      ),
    ],
  },
];

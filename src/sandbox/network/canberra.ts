/**
 * Canberra and the coach to it. Only Goulburn and Canberra stations have their true numbers; every other stop of the ACT
 * stands at a real place known to some hundred metres, numbered 9900xxxx, its points 9917xxxx. Line names R1 to R8 are
 * those of Canberra, their ways and times are simplified.
 */
import type { SandboxLine, SandboxStop } from '../network.ts';
import { CANBERRA_BUSES, CANBERRA_LIGHT_RAIL, REGIONAL_COACHES } from './products.ts';
import { at, bothWays, type Gaps, lightRailPlatforms, once, stop, street, waves } from './rows.ts';

export const CANBERRA_STOPS: readonly SandboxStop[] = [
  stop('258010', null, 'Goulburn Station', 'Goulburn', -34.75846, 149.71927, [
    at('99175801', 'X1', 'Goulburn Station', -34.75821, 149.71902),
  ]),
  stop('99004001', null, 'Jolimont Centre', 'Canberra City (ACT)', -35.2772, 149.1289, [
    at('99174001', 'C2', 'Jolimont Centre, Coach Bay 2', -35.2772, 149.1289),
    at('99174002', 'C4', 'Jolimont Centre, Coach Bay 4', -35.2774, 149.1288),
  ]),
  stop('26041', null, 'Canberra Station', 'Kingston (ACT)', -35.31934, 149.14929, [
    at('99174003', 'X1', 'Canberra Station', -35.31921, 149.14902),
    at('99174004', 'X2', 'Canberra Station', -35.3191, 149.14878),
  ]),
  stop('99004002', null, 'City Interchange', 'Canberra City (ACT)', -35.2781, 149.1306, [
    at('99174005', '1', 'City Interchange, Alinga St, Platform 1', -35.2779, 149.1301),
    at('99174006', '4', 'City Interchange, East Row, Platform 4', -35.2786, 149.1311),
    at('99174007', '7', 'City Interchange, Mort St, Platform 7', -35.2777, 149.1316),
    at('99174008', '9', 'City Interchange, Mort St, Platform 9', -35.2774, 149.1317),
  ]),
  stop('99004003', null, 'Alinga Street Light Rail', 'Canberra City (ACT)', -35.2779, 149.1294, [
    at('99174009', 'LR1', 'Alinga Street Light Rail', -35.2779, 149.1294),
  ]),
  stop('99004004', null, 'Dickson Interchange', 'Dickson (ACT)', -35.2503, 149.1337, [
    ...lightRailPlatforms(99174010, 'Dickson Light Rail', -35.2503, 149.1337),
  ]),
  stop('99004005', null, 'Gungahlin Place', 'Gungahlin (ACT)', -35.1853, 149.1351, [
    at('99174012', 'LR1', 'Gungahlin Place Light Rail', -35.1857, 149.1357),
    at('99174013', '2', 'Gungahlin Place, Platform 2', -35.1852, 149.1349),
  ]),
  stop('99004006', null, 'Belconnen Interchange', 'Belconnen (ACT)', -35.2396, 149.0604, [
    at('99174014', '1', 'Belconnen Interchange, Cohen St, Platform 1', -35.2395, 149.0602),
    at('99174015', '3', 'Belconnen Interchange, Cohen St, Platform 3', -35.2399, 149.0606),
  ]),
  stop('99004007', null, 'Woden Interchange', 'Phillip (ACT)', -35.3443, 149.0869, [
    at('99174016', '2', 'Woden Interchange, Platform 2', -35.3442, 149.0868),
    at('99174017', '5', 'Woden Interchange, Platform 5', -35.3446, 149.0871),
  ]),
  stop('99004008', null, 'Tuggeranong Interchange', 'Greenway (ACT)', -35.4152, 149.0662, [
    at('99174018', '1', 'Tuggeranong Interchange, Platform 1', -35.4152, 149.0662),
  ]),
  stop('99004009', null, 'Canberra Airport', 'Pialligo (ACT)', -35.3053, 149.19, [
    at('99174019', 'X1', 'Canberra Airport', -35.3053, 149.19),
  ]),
  street('G99004010', null, 'Canberra Hospital, Yamba Dr', 'Garran (ACT)', [
    ['99174020', -35.3461, 149.0993],
    ['99174021', -35.3465, 149.0997],
  ]),
  street('G99004011', null, 'Ainslie Ave after Cooyong St', 'Braddon (ACT)', [
    ['99174022', -35.2784, 149.1362],
    ['99174023', -35.2786, 149.1366],
  ]),
  street('G99004012', null, 'Northbourne Ave at Macarthur Ave', "O'Connor (ACT)", [['99174024', -35.2598, 149.1321]]),
  street('G99004013', null, 'Kings Ave at National Cct', 'Barton (ACT)', [
    ['99174025', -35.307, 149.1331],
    ['99174026', -35.3072, 149.1334],
  ]),
  street('G99004014', null, 'Australian War Memorial, Limestone Ave', 'Campbell (ACT)', [
    ['99174027', -35.2813, 149.1462],
    ['99174028', -35.2815, 149.1465],
  ]),
  street('G99004015', null, 'Manuka, Canberra Ave', 'Griffith (ACT)', [
    ['99174029', -35.3196, 149.1352],
    ['99174030', -35.3198, 149.1356],
  ]),
  street('G99004016', null, 'University of Canberra, College St', 'Bruce (ACT)', [
    ['99174031', -35.2406, 149.0845],
    ['99174032', -35.2408, 149.0849],
  ]),
];

const OPERATOR = 'Transport Canberra';
const RAPID: Gaps = { peak: 10, day: 15, late: 20, weekend: 30 };

export const CANBERRA_LINES: readonly SandboxLine[] = [
  // Coaches have no short name and do not report where they are.
  {
    id: 'nsw:50165',
    route: null,
    number: '165',
    product: REGIONAL_COACHES,
    operator: 'NSW Trains',
    description: 'Sydney to Canberra via Goulburn',
    monitored: false,
    patterns: bothWays(
      ['Canberra Station, Kingston (ACT)', 'Central Station, Sydney'],
      [
        [once('07:05'), once('10:05'), once('12:05'), once('15:05'), once('18:20')],
        [once('06:20'), once('09:15'), once('12:15'), once('15:15'), once('17:15')],
      ],
      [
        ['2000240', '2000316', 0],
        ['99175801', '99175801', 140],
        ['99174001', '99174002', 208],
        ['99174003', '99174004', 222],
      ],
    ),
  },
  {
    id: 'nsw:92R01',
    route: 'R1',
    number: 'R1 Gungahlin Place to Alinga Street',
    product: CANBERRA_LIGHT_RAIL,
    operator: 'Canberra Metro',
    description: 'Gungahlin Place to Alinga Street',
    monitored: true,
    patterns: bothWays(
      ['Alinga Street', 'Gungahlin Place'],
      [
        waves('05:30', '24:10', { peak: 6, day: 10, late: 15, weekend: 15 }),
        waves('06:00', '24:30', { peak: 6, day: 10, late: 15, weekend: 15 }),
      ],
      [
        ['99174012', '99174012', 0],
        ['99174011', '99174010', 15],
        ['99174009', '99174009', 24],
      ],
    ),
  },
  {
    id: 'nsw:91R02',
    route: 'R2',
    number: 'R2',
    product: CANBERRA_BUSES,
    operator: OPERATOR,
    description: 'Belconnen to Canberra Station via City & Barton',
    monitored: true,
    patterns: bothWays(
      ['Canberra Station via City', 'Belconnen'],
      [waves('05:55', '23:10', RAPID), waves('05:50', '23:05', RAPID)],
      [
        ['99174014', '99174015', 0],
        ['99174031', '99174032', 5],
        ['99174006', '99174005', 17],
        ['99174025', '99174026', 26],
        ['99174029', '99174030', 30],
        ['99174003', '99174004', 35],
      ],
    ),
  },
  {
    id: 'nsw:91R03',
    route: 'R3',
    number: 'R3',
    product: CANBERRA_BUSES,
    operator: OPERATOR,
    description: 'Belconnen to Canberra Airport via City',
    monitored: true,
    patterns: bothWays(
      ['Canberra Airport via City', 'Belconnen'],
      [
        waves('06:05', '22:05', { peak: 15, day: 20, late: 30, weekend: 30 }),
        waves('06:15', '22:35', { peak: 15, day: 20, late: 30, weekend: 30 }),
      ],
      [
        ['99174014', '99174015', 0],
        ['99174031', '99174032', 5],
        ['99174007', '99174005', 18],
        ['99174027', '99174028', 25],
        ['99174019', '99174019', 34],
      ],
    ),
  },
  {
    id: 'nsw:91R04',
    route: 'R4',
    number: 'R4',
    product: CANBERRA_BUSES,
    operator: OPERATOR,
    description: 'Belconnen to Tuggeranong via City & Woden',
    monitored: true,
    patterns: bothWays(
      ['Tuggeranong', 'Belconnen'],
      [
        waves('05:40', '23:40', { peak: 6, day: 10, late: 15, weekend: 15 }),
        waves('05:34', '23:34', { peak: 6, day: 10, late: 15, weekend: 15 }),
      ],
      [
        ['99174014', '99174015', 0],
        ['99174006', '99174005', 16],
        ['99174016', '99174017', 31],
        ['99174018', '99174018', 47],
      ],
    ),
  },
  {
    id: 'nsw:91R06',
    route: 'R6',
    number: 'R6',
    product: CANBERRA_BUSES,
    operator: OPERATOR,
    description: 'City to Woden via Barton & Canberra Hospital',
    monitored: true,
    patterns: bothWays(
      ['Woden via Canberra Hospital', 'City'],
      [waves('06:00', '22:50', RAPID), waves('05:52', '22:42', RAPID)],
      [
        ['99174006', '99174008', 0],
        ['99174025', '99174026', 9],
        ['99174029', '99174030', 13],
        ['99174020', '99174021', 25],
        ['99174016', '99174017', 30],
      ],
    ),
  },
  {
    id: 'nsw:91R08',
    route: 'R8',
    number: 'R8',
    product: CANBERRA_BUSES,
    operator: OPERATOR,
    description: 'Belconnen to Gungahlin',
    monitored: true,
    patterns: bothWays(
      ['Gungahlin', 'Belconnen'],
      [waves('06:02', '22:32', RAPID), waves('06:10', '22:40', RAPID)],
      [
        ['99174014', '99174015', 0],
        ['99174031', '99174032', 5],
        ['99174013', '99174013', 22],
      ],
    ),
  },
  {
    id: 'nsw:91018',
    route: '18',
    number: '18',
    product: CANBERRA_BUSES,
    operator: OPERATOR,
    description: 'City to Gungahlin via Braddon & Dickson',
    monitored: true,
    patterns: bothWays(
      ['Gungahlin', 'City'],
      [
        waves('06:20', '21:50', { peak: 30, day: 30, late: 60, weekend: 60 }),
        waves('06:14', '21:44', { peak: 30, day: 30, late: 60, weekend: 60 }),
      ],
      [
        ['99174008', '99174007', 0],
        ['99174022', '99174023', 3],
        ['99174024', '99174024', 10],
        ['99174013', '99174013', 29],
      ],
    ),
  },
];

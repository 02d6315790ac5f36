/**
 * The metro. Stations and the platforms of one direction are facts; platforms numbered 9912xxxx have made-up
 * identifiers. Chatswood, Epping, Central and Sydenham stand in the tables of the railway.
 */
import type { SandboxLine, SandboxStop } from '../network.ts';
import { SYDNEY_METRO } from './products.ts';
import { at, bothWays, stop, waves } from './rows.ts';

export const SYDNEY_METRO_STOPS: readonly SandboxStop[] = [
  stop('2155384', '10101500', 'Tallawong Station', 'Tallawong', -33.691631, 150.906006, [
    at('99122691', 'TLA1', 'Platform 1', -33.691609, 150.905615),
    at('2155269', 'TLA2', 'Platform 2', -33.691705, 150.905653),
  ]),
  stop('2155383', '10101501', 'Rouse Hill Station', 'Rouse Hill', -33.691812, 150.924168, [
    at('2155267', 'ROU1', 'Platform 1', -33.691959, 150.924357),
    at('99122672', 'ROU2', 'Platform 2', -33.691897, 150.924436),
  ]),
  stop('2155382', '10101502', 'Kellyville Station', 'Kellyville', -33.713374, 150.935231, [
    at('2155265', 'KLV1', 'Platform 1', -33.713488, 150.935344),
    at('99122652', 'KLV2', 'Platform 2', -33.713442, 150.935437),
  ]),
  stop('2153478', '10101503', 'Bella Vista Station', 'Bella Vista', -33.730566, 150.94402, [
    at('2153402', 'BEV1', 'Platform 1', -33.730698, 150.944123),
    at('99123402', 'BEV2', 'Platform 2', -33.730652, 150.944216),
  ]),
  stop('2153477', '10101504', 'Norwest Station', 'Norwest', -33.734617, 150.963522, [
    at('2153404', 'NWZ1', 'Platform 1', -33.734282, 150.963851),
    at('99123404', 'NWZ2', 'Platform 2', -33.734213, 150.963777),
  ]),
  stop('2154392', '10101505', 'Hills Showground Station', 'Castle Hill', -33.727912, 150.987025, [
    at('2154264', 'HIS1', 'Platform 1', -33.727755, 150.987427),
    at('99124264', 'HIS2', 'Platform 2', -33.727667, 150.987397),
  ]),
  stop('2154391', '10101506', 'Castle Hill Station', 'Castle Hill', -33.731626, 151.007288, [
    at('2154262', 'CSH1', 'Platform 1', -33.731469, 151.00768),
    at('99124262', 'CSH2', 'Platform 2', -33.731382, 151.007652),
    at('99124263', 'A', 'Castle Hill Station, Old Castle Hill Rd, Stand A', -33.73201, 151.00677),
    at('99124265', 'B', 'Castle Hill Station, Old Castle Hill Rd, Stand B', -33.73215, 151.00702),
  ]),
  stop('2126158', '10101507', 'Cherrybrook Station', 'Cherrybrook', -33.736659, 151.031994, [
    at('2126159', 'CEB1', 'Platform 1', -33.736728, 151.032084),
    at('99126160', 'CEB2', 'Platform 2', -33.736657, 151.032149),
  ]),
  stop('211310', '10101508', 'Macquarie University Station', 'Macquarie Park', -33.777282, 151.118267, [
    at('2113351', 'MCU1', 'Platform 1', -33.777596, 151.118314),
    at('99123352', 'MCU2', 'Platform 2', -33.777539, 151.118398),
    at('99123353', 'C', 'Macquarie University Station, Herring Rd, Stand C', -33.77657, 151.11813),
    at('99123354', 'D', 'Macquarie University Station, Herring Rd, Stand D', -33.77632, 151.1184),
  ]),
  stop('211340', '10101509', 'Macquarie Park Station', 'Macquarie Park', -33.78508, 151.128374, [
    at('2113341', 'MQP1', 'Platform 1', -33.784982, 151.128337),
    at('99123342', 'MQP2', 'Platform 2', -33.784925, 151.128421),
  ]),
  stop('211320', '10101510', 'North Ryde Station', 'North Ryde', -33.794218, 151.137987, [
    at('2113361', 'NRQ1', 'Platform 1', -33.794171, 151.13806),
    at('99123362', 'NRQ2', 'Platform 2', -33.794151, 151.138165),
  ]),
  stop('206516', '10101511', 'Crows Nest Station', 'Crows Nest', -33.82562, 151.199137, [
    at('99125163', 'CRO1', 'Platform 1', -33.82579, 151.199381),
    at('2065164', 'CRO2', 'Platform 2', -33.825849, 151.199299),
  ]),
  stop('206044', '10101512', 'Victoria Cross Station', 'North Sydney', -33.837727, 151.207385, [
    at('99120113', 'VIC1', 'Platform 1', -33.836226, 151.207481),
    at('2060114', 'VIC2', 'Platform 2', -33.836205, 151.207375),
  ]),
  stop('200046', '10101513', 'Barangaroo Station', 'Barangaroo', -33.859577, 151.202615, [
    at('99120460', 'BAO1', 'Platform 1', -33.859303, 151.202656),
    at('2000461', 'BAO2', 'Platform 2', -33.859309, 151.202548),
  ]),
  stop('200030', '10101106', 'Martin Place Station', 'Sydney', -33.867648, 151.210583, [
    at('99110361', 'MPL1', 'Platform 1', -33.867848, 151.211826),
    at('2000362', 'MPL2', 'Platform 2', -33.867803, 151.211822),
    at('99120463', 'MPL3', 'Platform 3', -33.867097, 151.210088),
    at('2000462', 'MPL4', 'Platform 4', -33.867083, 151.209982),
    at('99120464', 'A', 'Martin Place Station, Elizabeth St, Stand A', -33.86774, 151.21093),
    at('99120465', 'C', 'Martin Place Station, Castlereagh St, Stand C', -33.86769, 151.20957),
  ]),
  stop('200066', '10101514', 'Gadigal Station', 'Sydney', -33.873081, 151.208722, [
    at('99120466', 'GDL1', 'Platform 1', -33.873822, 151.208229),
    at('2000465', 'GDL2', 'Platform 2', -33.873814, 151.208121),
  ]),
  stop('201721', null, 'Waterloo Station', 'Waterloo', -33.897691, 151.200293, [
    at('99121721', 'WAO1', 'Platform 1', -33.897682, 151.200334),
    at('99121722', 'WAO2', 'Platform 2', -33.897698, 151.200227),
  ]),
];

export const SYDNEY_METRO_LINES: readonly SandboxLine[] = [
  {
    id: 'nsw:030M1',
    route: 'M1',
    number: 'M1 Metro North West & Bankstown Line',
    product: SYDNEY_METRO,
    operator: 'Sydney Metro',
    description: 'Tallawong to Sydenham',
    monitored: true,
    patterns: bothWays(
      ['Sydenham', 'Tallawong'],
      [
        waves('04:30', '24:40', { peak: 5, day: 5, late: 10, weekend: 10 }),
        waves('04:35', '24:35', { peak: 5, day: 5, late: 10, weekend: 10 }),
      ],
      [
        ['2155269', '99122691', 0],
        ['2155267', '99122672', 2.5],
        ['2155265', '99122652', 5.3],
        ['2153402', '99123402', 7.8],
        ['2153404', '99123404', 10.4],
        ['2154264', '99124264', 13.1],
        ['2154262', '99124262', 15.6],
        ['2126159', '99126160', 18.4],
        ['2121225', '99112116', 24.2],
        ['2113351', '99123352', 27.9],
        ['2113341', '99123342', 29.9],
        ['2113361', '99123362', 32],
        ['2067142', '2067143', 37.5],
        ['99125163', '2065164', 40.7],
        ['99120113', '2060114', 42.8],
        ['99120460', '2000461', 45.8],
        ['99120463', '2000462', 48],
        ['99120466', '2000465', 49.9],
        ['2000467', '2000466', 51.9],
        ['99121721', '99121722', 54.3],
        ['99114471', '99114472', 59.5],
      ],
    ),
  },
];

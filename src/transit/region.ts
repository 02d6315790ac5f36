import type { Mode } from './mode.ts';

/** Facts that hold only for New South Wales and the ACT. */

/** The time zone of all timetables. */
export const SYDNEY = 'Australia/Sydney';

/** A map area, in degrees. */
export interface Bounds {
  south: number;
  west: number;
  north: number;
  east: number;
}

/** Australia, roughly. */
export const AUSTRALIA: Bounds = { west: 110, east: 160, south: -45, north: -9 };
/** New South Wales with the ACT, roughly. */
export const COVERED: Bounds = { west: 140.9, east: 153.7, south: -37.6, north: -28.1 };
/** Local buses and trams of Canberra are in no timetable of Transport for NSW. */
export const CANBERRA: Bounds = { south: -35.93, west: 148.76, north: -35.12, east: 149.2 };
export const BUILT_UP_CANBERRA: Bounds = { south: -35.49, west: 148.97, north: -35.13, east: 149.23 };
/** The local modes of Canberra. Coaches and trains to Canberra are in the timetable. */
export const CANBERRA_MODES: readonly Mode[] = ['bus', 'schoolbus', 'lightrail'];

/**
 * A stop ID: digits, or for a street stop `G` and the number of one of its poles. TrainLink's stops in Victoria are "V22180" and,
 * for a platform, "22180P1".
 */
export const STOP_ID = /^([GgVv]?\d{1,12}|\d{1,9}[Pp]\d{1,2})$/;

/** The number of a street stop, shared with one of its poles; any other ID unchanged. */
export function withoutG(stopId: string): string {
  return stopId.replace(/^G/, '');
}

/** TrainLink's trains are also named by their number: "31", "623". */
export const REGIONAL_TRAIN = { name: /^\d{2,3}$/, colour: 'E56E0F' };

/** Lines with one colour; their short route names are separated by blanks. */
function sameColour(colour: string, routes: string): Record<string, string> {
  return Object.fromEntries(routes.split(' ').map((route) => [route, colour]));
}

/** Upstream's own line colours, by short route name. All other routes have the colour of their mode. */
export const COLOURS_OF_LINES: Partial<Record<Mode, Readonly<Record<string, string>>>> = {
  train: {
    T1: 'F99D1C',
    T2: '0098CD',
    T3: 'F37021',
    T4: '005AA3',
    T5: 'C4258F',
    T6: 'F6891F',
    T7: '6F818E',
    T8: '00954C',
    T9: 'D11F2F',
    BMT: 'F99D1C',
    CCN: 'D11F2F',
    HUN: '833134',
    SCO: '005AA3',
    SHL: '00954C',
    ...sameColour(REGIONAL_TRAIN.colour, 'NRC NRW STH WST'),
  },
  metro: { M1: '168388' },
  lightrail: {
    L1: 'BE1622',
    L2: 'DD1E25',
    L3: '781140',
    L4: 'BB2043',
    LX: 'EE343F',
    NLR: 'EE343F',
  },
  ferry: {
    F1: '00774B',
    F2: '144734',
    F3: '648C3C',
    F4: 'BFD730',
    F5: '286142',
    F6: '00AB51',
    F7: '00B189',
    F8: '55622B',
    F9: '65B32E',
    F10: '469B3B',
    ...sameColour('5AB031', 'BRKL BUNC CCLC CCSH CCTZ CCWB CCWM CHCP CRF EMPB MFF PLMB STKN Stkn WAGE'),
  },
};

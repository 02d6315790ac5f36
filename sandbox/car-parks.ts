import { DateTime } from 'luxon';
import { seedOf } from './trait.ts';

/** A car park of the sandbox. Its spaces are real or made up, its readings always made up. */
interface SandboxCarPark {
  name: string;
  /** The number of its stop. */
  tsn: string;
  suburb: string;
  street: string;
  lat: number;
  lng: number;
  spots: number;
  /** How it differs from ordinary car parks, if it does. */
  oddity?: 'overflows' | 'stale' | 'closed' | 'gone' | 'by zones';
}

/** The last ones each have something wrong. */
const CAR_PARKS: Readonly<Record<string, SandboxCarPark>> = {
  486: {
    name: 'Ashfield',
    tsn: '213110',
    suburb: 'Ashfield',
    street: 'Brown Street',
    lat: -33.8881,
    lng: 151.1266,
    spots: 216,
  },
  6: {
    name: 'Gordon Henry St (north)',
    tsn: '207210',
    suburb: 'Gordon',
    street: 'Henry Street',
    lat: -33.7571,
    lng: 151.1547,
    spots: 213,
  },
  9: {
    name: 'Revesby',
    tsn: '221210',
    suburb: 'Revesby',
    street: 'Blamey Street',
    lat: -33.9518,
    lng: 151.0141,
    spots: 934,
    oddity: 'by zones',
  },
  14: {
    name: 'West Ryde',
    tsn: '211420',
    suburb: 'West Ryde',
    street: 'Ryedale Road',
    lat: -33.8067,
    lng: 151.0896,
    spots: 151,
  },
  15: {
    name: 'Sutherland East Parade',
    tsn: '223210',
    suburb: 'Sutherland',
    street: 'East Parade',
    lat: -34.0311,
    lng: 151.0578,
    spots: 373,
  },
  19: {
    name: 'Campbelltown Farrow Rd (north)',
    tsn: '256020',
    suburb: 'Campbelltown',
    street: 'Farrow Road',
    lat: -34.0629,
    lng: 150.8132,
    spots: 68,
  },
  20: {
    name: 'Campbelltown Hurley St',
    tsn: '256020',
    suburb: 'Campbelltown',
    street: 'Hurley Street',
    lat: -34.0651,
    lng: 150.8146,
    spots: 118,
  },
  25: {
    name: 'Hornsby',
    tsn: '207720',
    suburb: 'Hornsby',
    street: 'Jersey Street',
    lat: -33.7021,
    lng: 151.0981,
    spots: 145,
  },
  901: {
    name: 'Chatswood',
    tsn: '206710',
    suburb: 'Chatswood',
    street: 'Railway Street',
    lat: -33.7968,
    lng: 151.1801,
    spots: 120,
    oddity: 'overflows',
  },
  902: {
    name: 'Epping',
    tsn: '212110',
    suburb: 'Epping',
    street: 'Beecroft Road',
    lat: -33.7733,
    lng: 151.0814,
    spots: 80,
    oddity: 'stale',
  },
  903: {
    name: 'Strathfield',
    tsn: '213510',
    suburb: 'Strathfield',
    street: 'Everton Road',
    lat: -33.8711,
    lng: 151.0949,
    spots: 90,
    oddity: 'closed',
  },
  904: {
    name: 'Homebush',
    tsn: '214010',
    suburb: 'Homebush',
    street: 'Loftus Crescent',
    lat: -33.8662,
    lng: 151.0868,
    spots: 60,
    oddity: 'gone',
  },
};

const ZONE = 'Australia/Sydney';
const EPOCH_2000_SECONDS = 946_684_800;
/** A car park reports every two minutes. */
const REPORT_SECONDS = 120;
const STALE_SECONDS = 2 * 3600;
/** The share of taken spaces over a day, by the hour in Sydney. */
const TAKEN_BY_HOUR = [4, 4, 4, 4, 6, 18, 45, 78, 92, 95, 95, 94, 93, 92, 88, 76, 58, 38, 24, 16, 12, 9, 6, 5];

/** The response for one car park, or for the list of all if `id` is null. Null for an unknown car park. */
export function carParkResponse(id: string | null, nowSeconds: number): object | null {
  if (id === null) {
    return Object.fromEntries(Object.entries(CAR_PARKS).map(([id, { name }]) => [id, `Park&Ride - ${name}`]));
  }
  const carPark = Object.hasOwn(CAR_PARKS, id) ? CAR_PARKS[id] : undefined;
  if (!carPark || carPark.oddity === 'gone') return null;
  const { name, tsn, suburb, street, lat, lng, oddity } = carPark;
  // Car parks do not report at the same second.
  const shift = (seedOf(id) >>> 0) % REPORT_SECONDS;
  const reportedAt = nowSeconds - ((nowSeconds + shift) % REPORT_SECONDS) - (oddity === 'stale' ? STALE_SECONDS : 0);
  const spots = oddity === 'closed' ? 0 : carPark.spots;
  const taken = takenAt(carPark, spots, reportedAt);
  const count = (total: number | null, loop: number | null) => ({
    loop: loop === null ? null : String(loop),
    total: total === null ? null : String(total),
    monthlies: null,
    open_gate: null,
    transients: null,
  });
  const zone = (zoneId: number, zoneName: string, spaces: number, loop: number) => ({
    spots: String(spaces),
    zone_id: String(zoneId),
    occupancy: count(null, loop),
    zone_name: zoneName,
    parent_zone_id: '0',
  });
  const half = Math.floor(taken / 2);
  return {
    tsn,
    time: String(reportedAt - EPOCH_2000_SECONDS),
    spots: String(spots),
    zones:
      oddity === 'by zones'
        ? [zone(1, 'Level 1', spots >> 1, half), zone(2, 'Level 2', spots - (spots >> 1), taken - half)]
        : [zone(1, 'MainArea', spots, taken)],
    ParkID: '1',
    location: { suburb, address: street, latitude: lat.toFixed(6), longitude: lng.toFixed(6) },
    occupancy: count(oddity === 'by zones' ? null : taken, null),
    MessageDate: DateTime.fromSeconds(reportedAt, { zone: ZONE }).toFormat("yyyy-MM-dd'T'HH:mm:ss"),
    facility_id: id,
    facility_name: `Park&Ride - ${name}`,
    tfnsw_facility_id: `${tsn}TPR001`,
  };
}

/** Follows the curve of the day. Weekends are emptier. */
function takenAt({ name, oddity }: SandboxCarPark, spots: number, seconds: number): number {
  if (oddity === 'closed') return 0;
  if (oddity === 'overflows') return Math.round(spots * 1.04);
  const local = DateTime.fromSeconds(seconds, { zone: ZONE });
  const [before, after] = [TAKEN_BY_HOUR[local.hour] ?? 0, TAKEN_BY_HOUR[(local.hour + 1) % 24] ?? 0];
  const share = (before + ((after - before) * local.minute) / 60) / 100;
  const ofCarPark = 0.9 + ((seedOf(name) >>> 0) % 15) / 100;
  return Math.round(spots * Math.min(1, share * ofCarPark * (local.weekday > 5 ? 0.4 : 1)));
}

import type { Mode } from '../transit/mode.ts';
import { findWallClockBefore, type WallClock } from '../transit/time.ts';
import { toExcludedClasses } from './product-class.ts';

/** Departures of one stop; `at` null means now. */
export interface DepartureMonitorQuestion {
  stopId: string;
  modes: readonly Mode[];
  at: WallClock | null;
  /** A later page of a board for now: its answer has to be as fresh as that of the first. */
  isForNow?: boolean;
}

/** Stops and platforms within a radius. */
export interface CoordQuestion {
  lat: number;
  lng: number;
  radiusMetres: number;
}

/** Places by name. */
export interface StopFinderQuestion {
  text: string;
}

/** Journeys between two stops; `at` null means now. */
export interface TripQuestion {
  from: string;
  to: string;
  at: WallClock | null;
  isArrival: boolean;
}

/** One request of the authority: endpoint and query, ready to send. */
export interface EfaRequest {
  endpoint: 'departure_mon' | 'coord' | 'stop_finder' | 'trip';
  query: Readonly<Record<string, string>>;
}

const RAPID_JSON = { outputFormat: 'rapidJSON', coordOutputFormat: 'EPSG:4326' };
const JOURNEYS_ASKED = '6';
const LOOK_BACK_MINUTES = 10;

/**
 * Upstream lists departures by their planned time, so that a late vehicle would vanish while it is still awaited:
 * "now" asks from some minutes ago on.
 */
export function toDepartureMonitorRequest({ stopId, modes, at }: DepartureMonitorQuestion, now: Date): EfaRequest {
  return {
    endpoint: 'departure_mon',
    query: {
      ...RAPID_JSON,
      mode: 'direct',
      type_dm: 'stop',
      name_dm: stopId,
      departureMonitorMacro: 'true',
      TfNSWDM: 'true',
      depArrMacro: 'dep',
      ...toDateAndTime(at ?? findWallClockBefore(now, LOOK_BACK_MINUTES)),
      ...toExclusion(modes),
    },
  };
}

/**
 * Platforms (`BUS_POINT`, which is every mode's) tell the distance to where one boards; stops (`STOP`) tell the modes.
 * Longitude goes first in questions, latitude first in answers.
 */
export function toCoordRequest({ lat, lng, radiusMetres }: CoordQuestion): EfaRequest {
  return {
    endpoint: 'coord',
    query: {
      ...RAPID_JSON,
      coord: `${toDegrees(lng)}:${toDegrees(lat)}:EPSG:4326`,
      inclFilter: '1',
      type_1: 'BUS_POINT',
      radius_1: String(radiusMetres),
      type_2: 'STOP',
      radius_2: String(radiusMetres),
    },
  };
}

/** Type "any": type "stop" answers free text with a list without coordinates, or with nothing. */
export function toStopFinderRequest({ text }: StopFinderQuestion): EfaRequest {
  return { endpoint: 'stop_finder', query: { ...RAPID_JSON, type_sf: 'any', name_sf: text, TfNSWSF: 'true' } };
}

export function toTripRequest({ from, to, at, isArrival }: TripQuestion): EfaRequest {
  return {
    endpoint: 'trip',
    query: {
      ...RAPID_JSON,
      type_origin: 'any',
      name_origin: from,
      type_destination: 'any',
      name_destination: to,
      depArrMacro: isArrival ? 'arr' : 'dep',
      ...toDateAndTime(at),
      calcNumberOfTrips: JOURNEYS_ASKED,
      TfNSWTR: 'true',
    },
  };
}

/** Plain decimals to a tenth of a metre, never with an exponent. */
function toDegrees(value: number): string {
  return value.toFixed(6).replace(/\.?0+$/, '');
}

/** Without them upstream takes its own present. */
function toDateAndTime(at: WallClock | null): Record<string, string> {
  return at ? { itdDate: at.date, itdTime: at.time } : {};
}

/** Never `excludedMeans` alone: trains would silently disappear. Without it, the exclusions are ignored. */
function toExclusion(modes: readonly Mode[]): Record<string, string> {
  const excluded = toExcludedClasses(modes);
  if (excluded.length === 0) return {};
  return {
    excludedMeans: 'checkbox',
    ...Object.fromEntries(excluded.map((productClass) => [`exclMOT_${productClass}`, '1'])),
  };
}

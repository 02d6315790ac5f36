import type { Mode } from '../transit/mode.ts';
import type { Place } from '../transit/place.ts';
import type { WallClock } from '../transit/time.ts';
import { toExcludedClasses } from './product-class.ts';

/** Departures of one stop; `at` null means now. */
export interface DepartureMonitorRequest {
  stopId: string;
  modes: readonly Mode[];
  at: WallClock | null;
  /** True for a later page of a board for now, whose answer has to be as fresh as that of the first page. */
  isForNow?: boolean;
}

/** Stops and platforms within a radius. */
export interface CoordRequest {
  lat: number;
  lng: number;
  radiusMetres: number;
}

/** Places by name. */
export interface StopFinderRequest {
  text: string;
}

/** Journeys between two places; `at` null means now. */
export interface TripRequest {
  from: Place;
  to: Place;
  at: WallClock | null;
  isArrival: boolean;
  /** All unless given. */
  modes?: readonly Mode[];
  /** True when a wheelchair has to get on and off everywhere. */
  isAccessible?: boolean;
}

/** The parameters of a request to the authority that depend on the question. */
export type EfaQuery = Readonly<Record<string, string>>;

const JOURNEYS_ASKED = '6';
/** Four decimals make a grid of about ten metres, so that callers near each other share one answer. */
const POSITION_DECIMALS = 4;
const STREET_STOP = /^g\d+$/;

/** Without a time the authority lists what has not left yet by its own clock, late vehicles included. */
export function toDepartureMonitorQuery({ stopId, modes, at }: DepartureMonitorRequest): EfaQuery {
  return { name_dm: stopId.toUpperCase(), ...toDateAndTime(at), ...toExclusion(modes) };
}

/** Longitude goes first in questions, latitude first in answers. */
export function toCoordQuery({ lat, lng, radiusMetres }: CoordRequest): EfaQuery {
  return {
    coord: toCoord(lat, lng),
    radius_1: String(radiusMetres),
    radius_2: String(radiusMetres),
  };
}

/** Names in lower case, so that equal questions are one; identifiers as the authority writes them. */
export function toStopFinderQuery({ text }: StopFinderRequest): EfaQuery {
  const name = text.trim().replace(/\s+/g, ' ').toLowerCase();
  return { name_sf: STREET_STOP.test(name) ? name.toUpperCase() : name };
}

export function toTripQuery({ from, to, at, isArrival, modes, isAccessible }: TripRequest): EfaQuery {
  return {
    ...toEnd('origin', from),
    ...toEnd('destination', to),
    depArrMacro: isArrival ? 'arr' : 'dep',
    ...toDateAndTime(at),
    calcNumberOfTrips: JOURNEYS_ASKED,
    ...(modes && toExclusion(modes)),
    ...(isAccessible && { wheelchair: 'on' }),
  };
}

function toEnd(end: 'origin' | 'destination', place: Place): Record<string, string> {
  if (typeof place === 'string') return { [`name_${end}`]: place.toUpperCase() };
  return { [`type_${end}`]: 'coord', [`name_${end}`]: toCoord(...place) };
}

function toCoord(lat: number, lng: number): string {
  return `${toDegrees(lng)}:${toDegrees(lat)}:EPSG:4326`;
}

/** A plain decimal without an exponent. Adding zero turns -0 into 0. */
function toDegrees(value: number): string {
  return String(Number(value.toFixed(POSITION_DECIMALS)) + 0);
}

/** Without date and time the authority takes its own present time. */
function toDateAndTime(at: WallClock | null): Record<string, string> {
  return at ? { itdDate: at.date, itdTime: at.time } : {};
}

/** `excludedMeans` alone would make trains disappear; exclusions without it are ignored. So both are sent, or none. */
function toExclusion(modes: readonly Mode[]): Record<string, string> {
  const excluded = toExcludedClasses(modes);
  if (excluded.length === 0) return {};
  return {
    excludedMeans: 'checkbox',
    ...Object.fromEntries(excluded.map((productClass) => [`exclMOT_${productClass}`, '1'])),
  };
}

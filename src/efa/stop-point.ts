import { OCCUPANCIES, type Occupancy } from '../transit/departure.ts';
import type { Mode } from '../transit/mode.ts';
import { type Position, positionSchema } from '../transit/place.ts';
import { isPlatformLabel, labelParts } from '../transit/platform-label.ts';
import { toMode } from './product-class.ts';
import { parseTimes } from './realtime.ts';
import {
  parseFlag,
  parseIdentifier,
  parseList,
  parseName,
  parseNumber,
  parseNumbers,
  parseObject,
  parseRawText,
  parseStrings,
} from './response/field.ts';

/** Upstream nests platform, stop and locality. Longer chains of parents are cut off. */
const MAX_PARENTS = 10;

/** A stop, a platform, a locality or another place. */
export interface StopPoint {
  id: string | undefined;
  name: string | undefined;
  disassembledName: string | undefined;
  type: string | undefined;
  coord: unknown;
  matchQuality: number | undefined;
  isBest: boolean | undefined;
  /** Product classes of the vehicles that stop here. A response has either this list or `productClasses`. */
  modes: readonly number[];
  productClasses: readonly number[];
  properties: ReturnType<typeof parseStopPointProperties>;
  parent: StopPoint | undefined;
}

/** A stop point with its arrival and departure: an end of a leg, or a call. */
export type TimedStopPoint = NonNullable<ReturnType<typeof parseTimedStopPoint>>;

export function parseStopPoint(value: unknown, parents = MAX_PARENTS): StopPoint | undefined {
  const place = parseObject(value);
  return (
    place && {
      id: parseIdentifier(place.id),
      name: parseName(place.name),
      disassembledName: parseName(place.disassembledName),
      type: parseRawText(place.type),
      coord: place.coord,
      matchQuality: parseNumber(place.matchQuality),
      isBest: parseFlag(place.isBest),
      modes: parseNumbers(place.modes),
      productClasses: parseNumbers(place.productClasses),
      properties: parseStopPointProperties(place.properties),
      parent: parents > 0 ? parseStopPoint(place.parent, parents - 1) : undefined,
    }
  );
}

export function parseTimedStopPoint(value: unknown) {
  const place = parseObject(value);
  const point = parseStopPoint(place);
  return (
    place && point && { ...point, arrival: parseTimes(place, 'arrival'), departure: parseTimes(place, 'departure') }
  );
}

function parseStopPointProperties(value: unknown) {
  const properties = parseObject(value);
  return (
    properties && {
      stopId: parseIdentifier(properties.stopId),
      platform: parseName(properties.platform),
      platformName: parseName(properties.platformName),
      occupancy: parseRawText(properties.occupancy),
      /** The carriages to board, such as "first 4"; "any" if it does not matter. */
      TravelInCarsMessage: parseName(properties.TravelInCarsMessage),
      WheelchairAccess: parseFlag(properties.WheelchairAccess),
      mainLocality: parseName(properties.mainLocality),
      realtimeStatus: parseStrings(properties.realtimeStatus),
      distance: parseNumber(properties.distance),
      STOP_GLOBAL_ID: parseIdentifier(properties.STOP_GLOBAL_ID),
      STOP_NAME_WITH_PLACE: parseName(properties.STOP_NAME_WITH_PLACE),
    }
  );
}

/** Upstream's internal codes that contain a platform number: "THL6", "CE26", "SD02"; not "LR1" or "X1". */
const RAIL_CODE = /^(?!LR|BUS)[A-Z]{2,4}0?(\d{1,2})$/;
const STAND_CODE = /^[A-WYZ]$/;
/** A platform code within a station's name: "Town Hall Station, THL6". */
const CODE_IN_NAME = /^[A-Z]{2,4}\d{1,2}$/;

/**
 * The label that a rider looks for, or null if there is none; never an internal code. `mode` is the vehicle's mode, null for a
 * walk; `stopName` is the stop's name in the response.
 */
export function toPlatform(point: StopPoint, mode: Mode | null, stopName: string | null): string | null {
  const { platform: code = '', platformName } = point.properties ?? {};
  for (const name of [platformName, point.disassembledName, point.name, point.parent?.name]) {
    const label = labelParts(name ?? '').join(', ');
    if (label !== '') return label;
  }
  if (mode === 'lightrail') return toLightRailPlace(point, stopName ?? '');

  const [, number] = RAIL_CODE.exec(code) ?? [];
  if (number && (mode === 'train' || mode === 'metro' || mode === null)) return `Platform ${number}`;
  // Servers before 10.6 give only a stand's code. At a wharf, a single letter is a side instead.
  const isStand = mode === null ? callsOnlyOnLand(point) : mode === 'bus' || mode === 'schoolbus';
  return platformName === undefined && isStand && STAND_CODE.test(code) ? `Stand ${code}` : null;
}

/** The stop's name without platform and suburb; null if upstream gives no usable name. */
export function toStopName(point: StopPoint): string | null {
  const { platform: code, platformName } = point.properties ?? {};
  const candidates = [point.disassembledName, point.name].map((name) => withoutLocality(point, name));
  for (const candidate of candidates) {
    const parts = (candidate ?? '').split(', ');
    const firstLabel = parts.findIndex(
      (part, index) =>
        isPlatformLabel(part) || part === code || (index > 0 && (part === platformName || CODE_IN_NAME.test(part))),
    );
    const name = (firstLabel === -1 ? parts : parts.slice(0, firstLabel)).join(', ').trim();
    if (isRealName(name)) return name;
  }
  return point.parent && !isLocality(point.parent) ? toStopName(point.parent) : null;
}

/** The stop's name with its suburb, if upstream gives a usable one; else without. */
export function toNameWithPlace(point: StopPoint): string | null {
  const name = point.properties?.STOP_NAME_WITH_PLACE?.trim() ?? '';
  return isRealName(name) ? name : toStopName(point);
}

export function toOccupancy(text: string | undefined): Occupancy | null {
  return OCCUPANCIES.find((occupancy) => occupancy === text) ?? null;
}

/** `[lat, lng]` of the point, else of its stop. */
export function toPosition(point: StopPoint): Position | null {
  const ownPosition = toOwnPosition(point);
  if (ownPosition) return ownPosition;
  return point.parent && !isLocality(point.parent) ? toPosition(point.parent) : null;
}

export function toOwnPosition({ coord }: StopPoint): Position | null {
  return positionSchema.safeParse(coord).data ?? null;
}

/**
 * The ID of the exact point; else of its stop, else upstream's internal number. A place without any ID (an address at the end
 * of a walk) is identified by its position, in the form that upstream accepts.
 */
export function toStopId(point: StopPoint): string | null {
  if (point.id) return point.id;
  if (point.parent?.id && !isLocality(point.parent)) return point.parent.id;
  if (point.properties?.stopId) return point.properties.stopId;
  const position = toPosition(point);
  return position && `coord:${position[1]}:${position[0]}:EPSG:4326`;
}

/** All IDs of the point and of its stops. */
export function listIds(point: StopPoint): string[] {
  const { stopId, STOP_GLOBAL_ID } = point.properties ?? {};
  const parents = point.parent && !isLocality(point.parent) ? listIds(point.parent) : [];
  return [point.id, stopId, STOP_GLOBAL_ID, ...parents].filter((id) => id !== undefined);
}

export function toLocality(point: StopPoint): string | null {
  if (point.properties?.mainLocality) return point.properties.mainLocality;
  for (let place = point.parent; place; place = place.parent) {
    if (isLocality(place) && place.name) return place.name;
  }
  return null;
}

/** `[lat, lng]` pairs of a geometry; invalid elements are dropped. */
export function mapPath(coords: unknown): Position[] {
  if (!Array.isArray(coords)) return [];
  return coords.filter(isPosition);
}

/** Equivalent to `positionSchema`, but many times faster: a large response has tens of thousands of points. */
function isPosition(pair: unknown): pair is Position {
  if (!Array.isArray(pair) || pair.length !== 2) return false;
  const [lat, lng] = pair;
  return typeof lat === 'number' && typeof lng === 'number' && Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
}

/** Modes of the vehicles that stop here, as far as upstream lists them. */
export function listModes(point: StopPoint): Mode[] {
  return [...point.modes, ...point.productClasses].flatMap((productClass) => toMode(productClass) ?? []);
}

/** Modes of the vehicles at a board's location, which lists its stops with their modes. */
export function listStopModes(location: unknown): Mode[] {
  return parseList(parseObject(location)?.assignedStops, parseStopPoint).flatMap(listModes);
}

/**
 * Light rail at a station stops in a street with its own name ("Central Chalmers Street Light Rail"), which riders must know.
 * Null if the stop has that name itself.
 */
function toLightRailPlace(point: StopPoint, stopName: string): string | null {
  const { platform: code, platformName } = point.properties ?? {};
  const name = (platformName ?? toStopName(point) ?? '').trim();
  const place = name.startsWith(`${stopName}, `) ? name.slice(stopName.length + 2) : name;
  const isStop = [place, `${place} Light Rail`].some((name) => `${stopName}, `.startsWith(`${name}, `));
  return isRealName(place) && place !== code && !isStop ? place : null;
}

export function withoutLocality(point: StopPoint, name: string | undefined): string | undefined {
  const locality = toLocality(point);
  return locality && name?.endsWith(`, ${locality}`) ? name.slice(0, -locality.length - 2) : name;
}

function isLocality(place: StopPoint): boolean {
  return place.type === 'locality' || place.type === 'suburb';
}

export function isRealName(name: string): boolean {
  return name !== '' && name !== '???' && !name.startsWith('undefined');
}

function callsOnlyOnLand(point: StopPoint): boolean {
  const modes = listModes(point);
  return modes.includes('bus') && !modes.includes('ferry');
}

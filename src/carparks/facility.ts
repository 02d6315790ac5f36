import { DateTime } from 'luxon';
import { z } from 'zod';
import {
  type JsonObject,
  parseIdentifier,
  parseList,
  parseName,
  parseNumber,
  parseObject,
} from '../efa/response/field.ts';
import { SYDNEY } from '../transit/region.ts';

/** Upstream's description of a car park, without its reading. */
export const facilitySchema = z.object({
  name: z.string(),
  suburb: z.string(),
  address: z.string(),
  lat: z.number().nullable(),
  lng: z.number().nullable(),
  /** Upstream's number of the stop that it belongs to. */
  stopId: z.string().nullable(),
  capacity: z.int().nullable(),
});
export type Facility = z.infer<typeof facilitySchema>;

/** A response about one car park. */
export interface FacilityReport {
  facility: Facility;
  reading: Reading | null;
}

/** How many spaces were taken when a car park reported. */
export const readingSchema = z.object({
  /** When the car park reported, in milliseconds since 1970. */
  at: z.number(),
  /** Number of taken spaces as counted, which may be below 0 or above the capacity. */
  taken: z.int(),
});
export type Reading = z.infer<typeof readingSchema>;

/** Further rows are ignored. Upstream has fewer. */
const MAX_FACILITIES = 500;
const MAX_ZONES = 50;
/** The prefix of every name. */
const COMMON_NAME = /^park\s*&\s*ride\s*-\s*/i;
/** Upstream also lists car parks that have been split and no longer report. */
const OF_THE_PAST = /historical only/i;
const ID = /^[\w-]{1,20}$/;
/** Upstream counts seconds from here. */
const EPOCH_2000_MS = Date.UTC(2000, 0, 1);
const MAX_SECONDS = 1e10;

/** The name of each listed car park by its ID, without those that no longer report. Null if the response is not a list of car parks. */
export function parseFacilityList(json: unknown): Map<string, string> | null {
  const rows = Array.isArray(json)
    ? parseList(json, parseObject, MAX_FACILITIES).map((row) => [row.facility_id, row.facility_name] as const)
    : Object.entries(parseObject(json) ?? {}).slice(0, MAX_FACILITIES);
  const named = rows.flatMap(([idText, nameText]) => {
    const [id, name] = [parseIdentifier(idText)?.trim() ?? '', parseName(nameText)];
    return ID.test(id) && name && typeof nameText === 'string' ? [[id, name] as const] : [];
  });
  if (named.length === 0) return null;
  return new Map(named.filter(([, name]) => !OF_THE_PAST.test(name)).map(([id, name]) => [id, withoutPrefix(name)]));
}

/** Null if the response is not about car park `id`. */
export function parseReport(id: string, json: unknown): FacilityReport | null {
  const record = parseObject(json);
  if (!record || parseIdentifier(record.facility_id)?.trim() !== id) return null;
  const location = parseObject(record.location) ?? {};
  const [lat, lng] = [parseNumber(location.latitude), parseNumber(location.longitude)];
  const isPlaced = lat !== undefined && lng !== undefined && Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && lat !== 0;
  const capacity = parseCount(record.spots);
  const [at, taken] = [parseReportedAt(record), parseTaken(record)];
  return {
    facility: {
      name: withoutPrefix(parseName(record.facility_name) ?? ''),
      suburb: parseName(location.suburb) ?? '',
      address: parseName(location.address) ?? '',
      lat: isPlaced ? lat : null,
      lng: isPlaced ? lng : null,
      stopId: parseIdentifier(record.tsn)?.trim() || null,
      capacity: capacity === null || capacity < 0 ? null : capacity,
    },
    reading: at === null || taken === null ? null : { at, taken },
  };
}

function withoutPrefix(name: string): string {
  return name.replace(COMMON_NAME, '').trim();
}

/** Number of taken spaces: the car park's own count, else the sum of its zones; null if a zone has no count either. */
function parseTaken({ occupancy, zones }: JsonObject): number | null {
  const ownCount = parseCounted(occupancy);
  if (ownCount !== null) return ownCount;
  const listed = parseList(zones, parseObject, MAX_ZONES);
  const ids = new Set(listed.map(({ zone_id: id }) => parseIdentifier(id)));
  // A zone inside another one is part of its count.
  const outermost = listed.filter(({ parent_zone_id: parent }) => !ids.has(parseIdentifier(parent)));
  const counts = outermost.map((zone) => parseCounted(zone.occupancy));
  if (counts.length === 0 || counts.includes(null)) return null;
  return counts.reduce((sum: number, count) => sum + (count ?? 0), 0);
}

function parseCounted(value: unknown): number | null {
  const { total, loop } = parseObject(value) ?? {};
  return parseCount(total) ?? parseCount(loop);
}

function parseCount(value: unknown): number | null {
  const count = parseNumber(value);
  return count === undefined ? null : Math.round(count);
}

/** `MessageDate` is Sydney local time. `time`, seconds since 2000, says which hour is meant when clocks go back. */
function parseReportedAt({ MessageDate: dateText, time }: JsonObject): number | null {
  const local = DateTime.fromISO(parseIdentifier(dateText)?.trim().replace(' ', 'T') ?? '', { zone: SYDNEY });
  if (!local.isValid) return null;
  const seconds = Number(time);
  const counted = seconds > 0 && seconds < MAX_SECONDS ? EPOCH_2000_MS + seconds * 1000 : Number.NaN;
  const isCounted = local.getPossibleOffsets().some((pass) => Math.abs(pass.toMillis() - counted) < 1000);
  return isCounted ? counted : local.toMillis();
}

import { z } from 'zod';
import type { CarParkSource } from '../../carparks/car-parks.ts';
import { CAR_PARKS_ADDED, stopCarParksField, withCarParks } from '../../carparks/response.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { routeOf } from '../../routes.ts';
import { freshnessOfList, type StopLine, type StopRegister, shortageOf } from '../../stops/register.ts';
import { requestLines } from '../../stops/request-lines.ts';
import { nameWithSuburb, type StopRecord } from '../../stops/table.ts';
import { includeParameter } from '../../transit/additional-fields.ts';
import { colorsOf, lineColorFields } from '../../transit/line-colour.ts';
import { nullableLineIdField } from '../../transit/line-id.ts';
import { MODES, modeSchema } from '../../transit/mode.ts';
import { describe } from '../../transit/parameter.ts';
import {
  latitudeOrNull,
  latitudeSchema,
  longitudeOrNull,
  longitudeSchema,
  stopIdParameter,
} from '../../transit/place.ts';
import { field, flagOrNull, list, record, text } from '../../transit/schema.ts';
import { defineOperation, type FindContext } from '../operation.ts';
import { listedStopSchema, toListedStop } from './operation.ts';

/** The platforms of the largest stations lie within this distance of the station's centre. */
const PLATFORMS_METRES = 1500;
/** If lines could not be found, they are looked up again after this time. */
const INCOMPLETE_FRESH_MS = MINUTE_MS;

const wheelchairField = flagOrNull('Whether a wheelchair can board there, according to the timetable; null if unknown');

const platformSchema = record('StopPlatform', 'A platform, stand or wharf of a stop.', {
  stop_id: text('ID of the platform', '200060101'),
  name: text('Its name', 'Central Station, Platform 16'),
  lat: latitudeSchema,
  lng: longitudeSchema,
  modes: list(modeSchema, 'The modes that stop there, as far as they are known'),
  wheelchair_accessible: wheelchairField,
});

const lineSchema = record('StopLine', 'A line that leaves a stop.', {
  line_id: nullableLineIdField,
  route: text('Short route name', 'T1'),
  mode: modeSchema,
  ...lineColorFields,
  headsigns: list(z.string(), 'Headsigns of the line at this stop', ['Berowra via Gordon']),
});

const stopResponse = record('Stop', 'A stop with its platforms and lines.', {
  ...listedStopSchema.omit({ lat: true, lng: true }).shape,
  lat: latitudeOrNull,
  lng: longitudeOrNull,
  wheelchair_accessible: wheelchairField,
  parent: z
    .strictObject({
      stop_id: text('Stop ID', '200060'),
      name: text('Stop name with its suburb', 'Central Station, Sydney'),
    })
    .nullable()
    .meta({ description: 'The stop that a platform belongs to; null if there is none or it is unknown' }),
  platforms: list(platformSchema, 'Sorted by name; empty if none is known'),
  lines: field(
    z.array(lineSchema).nullable(),
    'Lines that leave here within a week, sorted by mode and name; null if currently unknown',
  ),
  carparks: stopCarParksField,
});

const exampleBody: z.infer<typeof stopResponse> = {
  stop_id: '200070',
  name: 'Town Hall Station, Sydney',
  suburb: 'Sydney',
  modes: ['train', 'lightrail'],
  parent_stop_id: null,
  lat: -33.873844,
  lng: 151.206956,
  wheelchair_accessible: true,
  parent: null,
  platforms: [
    {
      stop_id: '2000391',
      name: 'Town Hall Station, Platform 1',
      lat: -33.873539,
      lng: 151.20693,
      modes: ['train'],
      wheelchair_accessible: true,
    },
  ],
  lines: [
    {
      line_id: 'train_T1',
      route: 'T1',
      mode: 'train',
      color: 'F99D1C',
      text_color: '000000',
      headsigns: ['Berowra via Gordon', 'Emu Plains'],
    },
  ],
};

/** `GET /v1/stops/{stop_id}` */
export const createStopOperation = ({
  stops,
  carParks = null,
}: {
  stops: StopRegister;
  carParks?: CarParkSource | null;
}) =>
  defineOperation({
    ...routeOf('getStop'),
    tag: 'Stops',
    summary: 'A stop',
    description:
      'Name, position, platforms and lines of one stop or platform. Fresh for a day: cache it, and revalidate it with its `ETag`. For stops that the timetable lacks, such as those in Canberra, only the lines of the next departures are listed.',
    query: z.object({
      stop_id: describe(stopIdParameter, 'ID of the stop or platform.', '200070'),
      include: includeParameter({ carparks: CAR_PARKS_ADDED }),
    }),
    body: stopResponse,
    example: { query: 'stop_id=200070', body: exampleBody },
    tool: {
      description:
        'Details of one stop: name, position, platforms, wheelchair access, and the lines that leave there with their headsigns. For times use getDepartures.',
    },

    async handle({ stop_id: stopId, include }, context) {
      const result = await fetchStop(stopId, stops, context);
      if (!include?.includes('carparks')) return result;
      const sources = { carParks, stops, now: context.now };
      const { stops: listed, ...found } = await withCarParks([result.body], result.freshness, sources);
      return { ...result, ...found, body: listed[0] ?? result.body };
    },
  });

async function fetchStop(stopId: string, stops: StopRegister, { queryUpstream, now }: FindContext) {
  const stop = stops.get(stopId);
  const freshness = freshnessOfList(stops, now());
  const planned = stops.linesOf(stopId, now());
  if (planned) return { body: toBody({ stopId, name: stopId, stop }, stops, planned), freshness };
  const { name, lines, error } = await requestLines(stopId, { queryUpstream, now });
  // Nothing is known about a stop that is not listed, so the error is the only correct response.
  if (error && !stop) throw error;
  const retryAt = now() + INCOMPLETE_FRESH_MS;
  return {
    body: toBody({ stopId, name, stop }, stops, lines),
    freshness: error
      ? { ...freshness, freshUntil: retryAt, staleUntil: retryAt, shortage: shortageOf(error) }
      : { ...freshness, source: 'upstream' as const },
  };
}

/** `name` is upstream's name for a stop that the register lacks. */
function toBody(
  { stopId, name, stop }: { stopId: string; name: string; stop: StopRecord | null },
  stops: StopRegister,
  lines: readonly StopLine[] | null,
): z.infer<typeof stopResponse> {
  const parent = stop?.parent_id ? stops.get(stop.parent_id) : null;
  const nearbyStops = stop ? stops.near(stop.lat, stop.lng, PLATFORMS_METRES) : [];
  const platforms = nearbyStops
    .map((nearby) => nearby.stop)
    .filter((stopRecord) => stopRecord.parent_id === stopId && stopRecord.is_platform);
  const unknown = { stop_id: stopId, name, suburb: '', modes: [], parent_stop_id: null, lat: null, lng: null };
  return {
    ...(stop ? toListedStop(stop) : unknown),
    wheelchair_accessible: stop?.wheelchair ?? null,
    parent: parent && { stop_id: parent.stop_id, name: nameWithSuburb(parent) },
    platforms: platforms.map(toPlatform).sort((a, b) => inOrder(a.name, b.name)),
    lines:
      lines &&
      [...lines]
        .sort((a, b) => MODES.indexOf(a.mode) - MODES.indexOf(b.mode) || inOrder(a.route, b.route))
        .map(({ lineId, mode, route, headsigns }) => ({
          line_id: lineId,
          route,
          mode,
          ...colorsOf(mode, route),
          headsigns: [...headsigns].sort(inOrder),
        })),
  };
}

function toPlatform({ stop_id, name, lat, lng, modes, wheelchair }: StopRecord): z.infer<typeof platformSchema> {
  return { stop_id, name, lat, lng, modes: [...modes], wheelchair_accessible: wheelchair ?? null };
}

/** Sorts "Platform 2" before "Platform 10". */
function inOrder(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

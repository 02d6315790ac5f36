import { z } from 'zod';
import { nextTurn } from '../../core/event-loop-turn.ts';
import { routeOf } from '../../routes.ts';
import { freshnessOfList, type StopRegister } from '../../stops/register.ts';
import { nameWithSuburb, type StopRecord } from '../../stops/table.ts';
import { collectionTypeField, featureSchemaOf, formatParameter, toFeatureCollection } from '../../transit/geojson.ts';
import { MODES, type Mode, modeSchema, modesParameter } from '../../transit/mode.ts';
import {
  countUpTo,
  limitParameter,
  onlyWith,
  optional,
  type ProblemDetails,
  totalField,
  withDefault,
} from '../../transit/parameter.ts';
import {
  boundsParameter,
  isWithin,
  latitudeSchema,
  longitudeSchema,
  middleOf,
  outsideNotice,
  positionParameter,
} from '../../transit/place.ts';
import { field, list, record, text, textOrNull } from '../../transit/schema.ts';
import { defineOperation } from '../operation.ts';

export const listedStopSchema = record('ListedStop', 'A stop of the stored list.', {
  stop_id: text('Stop ID', '200060'),
  name: text('Stop name, with its suburb if known', 'Central Station, Sydney'),
  suburb: text('Suburb or locality; empty if unknown', 'Sydney'),
  lat: latitudeSchema,
  lng: longitudeSchema,
  modes: list(modeSchema, 'The modes that stop there, as far as they are known'),
  parent_stop_id: textOrNull('The stop that a platform belongs to; null if there is none or it is unknown', null),
});

export function toListedStop(stop: StopRecord): z.infer<typeof listedStopSchema> {
  const { stop_id, suburb, lat, lng, modes, parent_id } = stop;
  return { stop_id, name: nameWithSuburb(stop), suburb, lat, lng, modes: [...modes], parent_stop_id: parent_id };
}

/** Maximum size of the window in degrees: about 28 by 23 kilometres. */
const MAX_DEGREES = 0.25;
const RADIUS_METRES = 500;
const MAX_RADIUS_METRES = 5000;

const stopListQuery = z
  .object({
    bbox: optional(
      boundsParameter(MAX_DEGREES, '/v1/stops.ndjson has all stops.'),
      `The map area as \`south,west,north,east\`, at most ${MAX_DEGREES} degrees each way. Give \`bbox\` or \`near\`; with both, only stops within both are listed.`,
      '-33.88,151.2,-33.86,151.22',
    ),
    near: optional(
      positionParameter,
      'A position as `lat,lng`. Lists the stops within `radius`, nearest first.',
      '-33.8731,151.2069',
    ),
    radius: optional(
      countUpTo(MAX_RADIUS_METRES),
      `Radius in metres around \`near\`. Default: half a kilometre. Values above ${MAX_RADIUS_METRES} count as ${MAX_RADIUS_METRES}.`,
      RADIUS_METRES,
    ),
    modes: withDefault(modesParameter, 'all'),
    limit: limitParameter(1000, '200', 'stops'),
    format: formatParameter(),
  })
  .refine(({ bbox, near }) => bbox !== undefined || near !== undefined, {
    path: ['bbox'],
    message: 'Give one of: `bbox` or `near`.',
    params: { isSentence: true } satisfies ProblemDetails,
  })
  .refine(...onlyWith('radius', 'near'));

/** After this many stops, which take a few milliseconds, other requests get their turn. */
const STOPS_PER_TURN = 500;
/** If a window has more stops than are listed, the stops that belong on a map of the whole city come first. */
const GREATER_FIRST: readonly Mode[] = ['train', 'metro', 'lightrail', 'ferry', 'coach', 'bus', 'schoolbus'];

const featureSchema = featureSchemaOf(
  listedStopSchema.omit({ lat: true, lng: true }).meta({ description: 'The other fields of the stop' }),
  text('Stop ID', '200060'),
  'stop',
).meta({ id: 'StopFeature', description: 'A stop as GeoJSON.' });

const stopListResponse = record('StopList', 'The stops of an area.', {
  stops: field(z.array(listedStopSchema).optional(), 'The stops; not with `format=geojson`'),
  type: collectionTypeField,
  features: field(z.array(featureSchema).optional(), 'The stops; only with `format=geojson`'),
  total: totalField('stops in the area', 87),
});

const exampleBody: z.infer<typeof stopListResponse> = {
  stops: [
    {
      stop_id: '200070',
      name: 'Town Hall Station, Sydney',
      suburb: 'Sydney',
      lat: -33.873844,
      lng: 151.206956,
      modes: ['train', 'lightrail'],
      parent_stop_id: null,
    },
  ],
  total: 87,
};

/** `GET /v1/stops` */
export const createStopListOperation = ({ stops }: { stops: StopRegister }) =>
  defineOperation({
    ...routeOf('listStops'),
    tag: 'Stops',
    summary: 'Stops in an area',
    description:
      'Stops in a map area or near a position, from a stored list: fast, and fresh for a day. Stops of trains, metro, light rail and ferries come first; near a position, the nearest. Platforms are left out. A listed stop may no longer be served; [nearby](/docs/reference/nearby) leaves those out.\n\n`/v1/stops.ndjson` has all stops for apps that work offline. It costs 100 requests.',
    query: stopListQuery,
    body: stopListResponse,
    example: { query: 'bbox=-33.88,151.2,-33.86,151.22&limit=1', body: exampleBody },
    tool: {
      description:
        'Stops in an area, for a map or a count. The list may include stops that are no longer served; to find stops that are, use getNearbyStops.',
      defaults: { limit: '50' },
    },

    async handle(query, { now }) {
      const matches = await listStops(query, stops);
      const listedStops = matches.slice(0, query.limit).map(toListedStop);
      const content =
        query.format === 'geojson' ? toFeatureCollection(listedStops, (stop) => stop.stop_id) : { stops: listedStops };
      const [lat, lng] = query.near ?? (query.bbox ? middleOf(query.bbox) : [0, 0]);
      const outside = matches.length === 0 ? outsideNotice(lat, lng) : null;
      return {
        body: { ...content, total: matches.length },
        freshness: freshnessOfList(stops, now()),
        ...(outside && { notices: [{ text: outside }] }),
      };
    },
  });

async function listStops(
  { bbox, near, radius = RADIUS_METRES, modes }: z.infer<typeof stopListQuery>,
  register: StopRegister,
): Promise<StopRecord[]> {
  const nearbyStops = near && register.near(...near, radius).map(({ stop }) => stop);
  const within = bbox && (nearbyStops?.filter(({ lat, lng }) => isWithin(bbox, lat, lng)) ?? register.inBox(bbox));
  const matches: { stop: StopRecord; rank: number }[] = [];
  let read = 0;
  for (const stop of within ?? nearbyStops ?? []) {
    if (++read % STOPS_PER_TURN === 0) await nextTurn();
    const isPart = stop.parent_id !== null && register.get(stop.parent_id) !== null;
    const isWanted = modes.length === MODES.length || stop.modes.some((mode) => modes.includes(mode));
    if (isWanted && !isPart) matches.push({ stop, rank: near ? read : rankOf(stop) });
  }
  return matches.sort((a, b) => a.rank - b.rank || (a.stop.stop_id < b.stop.stop_id ? -1 : 1)).map(({ stop }) => stop);
}

/** Stops without known modes come last. */
function rankOf({ modes }: StopRecord): number {
  const rank = GREATER_FIRST.findIndex((mode) => modes.includes(mode));
  return rank === -1 ? GREATER_FIRST.length : rank;
}

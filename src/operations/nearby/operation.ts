import { z } from 'zod';
import type { CarParkSource } from '../../carparks/car-parks.ts';
import { CAR_PARKS_ADDED, stopCarParksField, withCarParks } from '../../carparks/response.ts';
import { withTimeLimit } from '../../core/clock.ts';
import { routeOf } from '../../routes.ts';
import { groupKnownStops, mapNearbyStops, type NearbyStop } from '../../stops/around.ts';
import {
  freshnessInPlaceOf,
  freshnessOfList,
  NO_STORED_STOP_NOTICE,
  STORED_STOPS_NOTICE,
  type StopRegister,
} from '../../stops/register.ts';
import { StopChecks } from '../../stops/served-stops.ts';
import { includeParameter } from '../../transit/additional-fields.ts';
import { type Freshness, freshnessOf } from '../../transit/freshness.ts';
import type { LeftOutCounts } from '../../transit/left-out.ts';
import { type Mode, modeSchema, modesParameter, nameModes, sortModes } from '../../transit/mode.ts';
import { countUpTo, decimalBetween, describe, limitParameter, withDefault } from '../../transit/parameter.ts';
import {
  areSwapped,
  boundsAround,
  isWithin,
  latitudeOrNull,
  latitudeSchema,
  longitudeOrNull,
  longitudeSchema,
  outsideNotice,
  SWAPPED,
} from '../../transit/place.ts';
import { type Bounds, CANBERRA } from '../../transit/region.ts';
import { count, field, list, part, record, text } from '../../transit/schema.ts';
import { defineOperation, type FindContext, type IsRehearsal, type Notice } from '../operation.ts';

export const nearbyQuery = z
  .object({
    lat: describe(decimalBetween(-90, 90), 'Latitude, EPSG:4326.', -33.8731),
    lng: describe(decimalBetween(-180, 180), 'Longitude, EPSG:4326.', 151.2069),
    radius: withDefault(countUpTo(2000), '500', 'Radius in metres. Values above 2000 count as 2000.'),
    limit: limitParameter(50, '10', 'stops, nearest first'),
    modes: withDefault(modesParameter, 'bus'),
    include: includeParameter({ ids: '`children` to each stop.', carparks: CAR_PARKS_ADDED }),
  })
  .refine(({ lat, lng }) => !areSwapped(Number(lat), Number(lng)), { ...SWAPPED, when: () => true });

type NearbyQuery = z.infer<typeof nearbyQuery>;

export function toNearbyRequest({ lat, lng, radius }: NearbyQuery) {
  return { kind: 'coord', lat, lng, radiusMetres: radius } as const;
}

const nearbyStopSchema = record('NearbyStop', 'A stop near a place.', {
  stop_id: text('Stop ID', '200060'),
  name: text('Stop name with its suburb', 'Central Station, Sydney'),
  distance_metres: count('Distance from the requested location to the nearest platform in metres', 240),
  lat: latitudeOrNull,
  lng: longitudeOrNull,
  modes: list(modeSchema, 'The modes that stop there'),
  routes: field(z.array(z.string()).max(0), 'Reserved, always empty'),
  children: field(
    z.array(z.string()).optional(),
    'Platforms within the radius, nearest first. Only with `include=ids`',
    ['2000466', '2000467'],
  ),
  carparks: stopCarParksField,
});

export const nearbyResponse = record('NearbyStops', 'Stops near a place that are served.', {
  location: part('The requested location', { lat: latitudeSchema, lng: longitudeSchema }),
  stops: list(nearbyStopSchema, 'Sorted by distance, nearest first'),
});

const CHECKS_WITHIN_MS = 5000;
/** How long a response with unchecked stops is fresh. */
const UNCERTAIN_MS = 30_000;
/** The area searched in the register is larger by this factor, because the register measures distances on a sphere. */
const ON_A_SPHERE = 1.01;

const exampleBody: z.infer<typeof nearbyResponse> = {
  location: { lat: -33.8731, lng: 151.2069 },
  stops: [
    {
      stop_id: '200070',
      name: 'Town Hall Station, Sydney',
      distance_metres: 51,
      lat: -33.873844,
      lng: 151.206956,
      modes: ['train', 'lightrail', 'bus'],
      routes: [],
    },
    {
      stop_id: '2000171',
      name: 'QVB, Sydney',
      distance_metres: 132,
      lat: -33.871692,
      lng: 151.206656,
      modes: ['lightrail', 'bus'],
      routes: [],
    },
  ],
};

/** `GET /v1/nearby` */
export const createNearbyOperation = ({
  stops: register,
  carParks = null,
  isRehearsal = () => false,
}: {
  stops: StopRegister;
  carParks?: CarParkSource | null;
  isRehearsal?: IsRehearsal;
}) => {
  const checks = new StopChecks();
  return defineOperation({
    ...routeOf('getNearbyStops'),
    tag: 'Stops',
    summary: 'Stops near a place',
    description:
      'Stops near a coordinate, nearest first. Returns only bus stops unless `modes` is set. Stops that are no longer served are left out.',
    query: nearbyQuery,
    body: nearbyResponse,
    example: { query: 'lat=-33.8731&lng=151.2069&radius=300&modes=all', body: exampleBody },
    tool: {
      description:
        'Stops near a position, nearest first, with their distance in metres and the modes that stop there. Stops that are no longer served are left out. Pass a `stop_id` to the other tools.',
      defaults: { modes: 'all' },
    },

    async handle(query, context) {
      const isRehearsed = isRehearsal(toNearbyRequest(query));
      const planned = isRehearsed ? null : findPlanned(query, register, context.now());
      const { stops, modesAround, isReplacement, freshness, leftOut } =
        planned ?? (await fetchFromPlanner(query, { ...context, register, checks, isRehearsed }));
      const listed = query.include?.includes('ids') ? stops : stops.map(withoutChildren);
      const location = { lat: query.lat, lng: query.lng };
      const storedNotice = stops.length > 0 ? STORED_STOPS_NOTICE : NO_STORED_STOP_NOTICE;
      const general = [
        ...(isReplacement ? [storedNotice] : []),
        ...(stops.length > 0 ? [] : whyEmpty(query, modesAround())),
      ];
      if (!query.include?.includes('carparks')) {
        return { notices: general, body: { location, stops: listed }, freshness, leftOut };
      }
      const sources = { carParks, stops: register, now: context.now };
      const { stops: complete, notices, ...validity } = await withCarParks(listed, freshness, sources);
      return { notices: [...general, ...notices], body: { location, stops: complete }, leftOut, ...validity };
    },
  });
};

interface FoundStops {
  stops: NearbyStop[];
  /** The modes of all stops within the radius. */
  modesAround: () => Mode[];
  /** Whether the register replaces a response of the trip planner. */
  isReplacement: boolean;
  freshness: Freshness;
  leftOut: LeftOutCounts;
}

/**
 * Finds the stops in the timetable that a wanted mode leaves from within a week. Makes no upstream call. Null if the timetable
 * has none.
 */
function findPlanned(query: NearbyQuery, register: StopRegister, now: number): FoundStops | null {
  const { lat, lng, radius, modes: wanted, limit } = query;
  const isKnown = !isWithin(CANBERRA, lat, lng) && knowsSurroundings(query, (bounds) => register.plannedInBox(bounds));
  if (!isKnown) return null;
  const stopsInBox = register.plannedInBox(boundsAround([lat, lng], radius * ON_A_SPHERE));
  const candidates = groupKnownStops(stopsInBox, query, register);
  const modesOf = (stop: NearbyStop) => register.modesOf(stop.stop_id, now) ?? stop.modes;
  const stops: NearbyStop[] = [];
  for (const stop of candidates) {
    const modes = modesOf(stop);
    if (modes.some((mode) => wanted.includes(mode)) && stops.push({ ...stop, modes: sortModes(modes) }) === limit)
      break;
  }
  return {
    stops,
    modesAround: () => candidates.flatMap(modesOf),
    isReplacement: false,
    freshness: freshnessOfList(register, now),
    leftOut: {},
  };
}

interface PlannerSearch {
  queryUpstream: FindContext['queryUpstream'];
  now: () => number;
  register: StopRegister;
  checks: StopChecks;
  isRehearsed: boolean;
}

/** Fetches the trip planner's stops and checks that they are served. Uses the register while the trip planner is unavailable. */
async function fetchFromPlanner(query: NearbyQuery, options: PlannerSearch): Promise<FoundStops> {
  const { checks, now } = options;
  const { listed, candidates, isReplacement, leftOut } = await listStops(query, options);
  // During a shortage no call is spent on checks. The register then lists poles, which are checked as parts of their stops.
  const mayCall = listed.shortage === null;
  const { stops, knownUntil, hasCalled } = await withTimeLimit(CHECKS_WITHIN_MS, (signal) =>
    checks.listServed(candidates, query, {
      // Checks have a lower priority than calls that responses depend on.
      queryUpstream: (request) => options.queryUpstream(request, { priority: 'background', signal }),
      mayCall,
      now: now(),
    }),
  );
  const certainUntil = knownUntil === 0 ? now() + UNCERTAIN_MS : knownUntil;
  return {
    stops,
    modesAround: () => candidates.flatMap(({ modes }) => modes),
    isReplacement,
    // Fresh only while both the list of stops and the checks are.
    freshness: {
      ...listed,
      freshUntil: Math.min(listed.freshUntil, certainUntil),
      ...(hasCalled && { source: 'upstream' as const }),
    },
    leftOut,
  };
}

function whyEmpty({ lat, lng, modes, radius }: NearbyQuery, modesAround: readonly Mode[]): Notice[] {
  const outside = outsideNotice(lat, lng);
  if (outside) return [{ text: outside }];
  const otherModes = sortModes(modesAround).filter((mode) => !modes.includes(mode));
  const theyStop = `${nameModes(otherModes)} ${otherModes.length === 1 ? 'stops' : 'stop'} within ${radius} metres: modes=all.`;
  const byModes = { text: `By default only bus stops are listed. ${theyStop}`, defaultOf: 'modes' };
  const byRadius = {
    text: `The default radius is ${radius} metres. The maximum is radius=2000.`,
    defaultOf: 'radius',
  };
  return otherModes.length > 0 ? [byModes, byRadius] : [byRadius];
}

/** If the register has fewer stops around a place in Canberra, it may lack others there. */
const MIN_STOPS_IN_CANBERRA = 3;
/** How far around the place the register must have stops, to replace the trip planner: about two kilometres. */
const AROUND_DEGREES = 0.02;

/**
 * Lists stops from the trip planner, or from the register if the trip planner fails. Throws the failure if the register has so
 * few stops around the place that it may lack others.
 */
async function listStops(
  query: NearbyQuery,
  { queryUpstream, now, register, isRehearsed }: PlannerSearch,
): Promise<{ candidates: NearbyStop[]; isReplacement: boolean; listed: Freshness; leftOut: LeftOutCounts }> {
  const { lat, lng, radius } = query;
  try {
    const response = await queryUpstream(toNearbyRequest(query));
    const { stops, leftOut } = await mapNearbyStops(response.payload, query, register);
    return { candidates: stops, isReplacement: false, leftOut, listed: freshnessOf(response) };
  } catch (error) {
    if (isRehearsed || !knowsSurroundings(query, (bounds) => register.inBox(bounds))) throw error;
    const nearbyStops = register.inBox(boundsAround([lat, lng], radius * ON_A_SPHERE));
    return {
      candidates: groupKnownStops(nearbyStops, query, register),
      isReplacement: true,
      listed: freshnessInPlaceOf(error, register, now()),
      leftOut: {},
    };
  }
}

function knowsSurroundings({ lat, lng }: NearbyQuery, stopsIn: (bounds: Bounds) => Iterable<unknown>): boolean {
  const minStops = isWithin(CANBERRA, lat, lng) ? MIN_STOPS_IN_CANBERRA : 1;
  const [south, north] = [lat - AROUND_DEGREES, lat + AROUND_DEGREES];
  const stopsAround = Iterator.from(stopsIn({ south, north, west: lng - AROUND_DEGREES, east: lng + AROUND_DEGREES }));
  return stopsAround.take(minStops).toArray().length === minStops;
}

function withoutChildren({ children: _, ...stop }: NearbyStop): NearbyStop {
  return stop;
}

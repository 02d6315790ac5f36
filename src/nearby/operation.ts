import { z } from 'zod';
import { withTimeLimit } from '../clock.ts';
import type { Ask } from '../efa/ask.ts';
import type { UpstreamRequest } from '../efa/request.ts';
import { defineOperation, type FindContext, type Notice } from '../operation.ts';
import { freshnessInPlaceOf, type StopRegister } from '../stops/register.ts';
import { includeParameter } from '../transit/additional-fields.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { modesParameter, nameModes, sortModes } from '../transit/mode.ts';
import { countUpTo, decimalBetween, describe, withDefault } from '../transit/parameter.ts';
import { areSwapped, outsideNotice, SWAPPED } from '../transit/place.ts';
import type { CheckQueue } from './check-queue.ts';
import { discOf } from './disc.ts';
import { findLiveStops, limitCalls } from './live-stops.ts';
import { listKnownStops, mapNearbyStops, type NearbyStop, nearbyResponse } from './map.ts';
import { checkStop, type Verdicts } from './verdict.ts';

export const nearbyQuery = z
  .object({
    lat: describe(decimalBetween(-90, 90), 'Latitude, EPSG:4326.', -33.8731),
    lng: describe(decimalBetween(-180, 180), 'Longitude, EPSG:4326.', 151.2069),
    radius: describe(withDefault(countUpTo(2000), '500'), 'Radius in metres. More is taken as 2000.'),
    limit: describe(withDefault(countUpTo(50), '10'), 'How many stops, the nearest first. More is taken as 50.'),
    modes: withDefault(modesParameter, 'bus'),
    include: includeParameter({ ids: '`children` to each stop.' }),
  })
  .refine(({ lat, lng }) => !areSwapped(Number(lat), Number(lng)), { ...SWAPPED, when: () => true });

type NearbyQuery = z.infer<typeof nearbyQuery>;

/** The request for the disc that holds the circle; `isExact` asks for the circle itself. */
export function toNearbyRequest({ lat, lng, radius }: NearbyQuery, { isExact = false } = {}) {
  return { kind: 'coord', ...(isExact ? { lat, lng, radiusMetres: radius } : discOf({ lat, lng, radius })) } as const;
}

/** How many calls one request may cost while its caller waits, retries included. */
const MAX_CALLS = 10;
/** The list of stops takes a call and perhaps a retry. Checks are not retried. */
const CALLS_FOR_LIST = 2;
/** Checks take no longer than this. Stops that are not known by then are shown unchecked. */
const CHECKS_WITHIN_MS = 5000;
/** For how long a response with unchecked stops is fresh. */
const UNCERTAIN_MS = 30_000;

const exampleBody: z.infer<typeof nearbyResponse> = {
  location: { lat: -33.8731, lng: 151.2069 },
  stops: [
    {
      stop_id: '200070',
      name: 'Town Hall Station, Sydney',
      distance_metres: 51,
      lat: -33.873552,
      lng: 151.206801,
      modes: ['train', 'lightrail', 'bus'],
      routes: [],
    },
    {
      stop_id: '2000171',
      name: 'QVB, Sydney',
      distance_metres: 132,
      lat: -33.871969,
      lng: 151.206475,
      modes: ['lightrail', 'bus'],
      routes: [],
    },
  ],
};

/** `GET /v1/nearby` */
export const createNearbyOperation = ({
  verdicts,
  checkQueue,
  stops: register,
  isRehearsal = () => false,
}: {
  verdicts: Verdicts;
  checkQueue: Pick<CheckQueue, 'add'>;
  stops: StopRegister;
  /** Whether the sandbox rehearses a failure at that place, which nothing may hide. */
  isRehearsal?: (request: UpstreamRequest) => boolean;
}) =>
  defineOperation({
    id: 'getNearbyStops',
    path: '/v1/nearby',
    tag: 'Stops',
    summary: 'Stops around a place',
    description:
      'Stops around a coordinate, the nearest first. Stops of buses only unless `modes` says otherwise. Stops at which nothing departs any more are left out.',
    query: nearbyQuery,
    body: nearbyResponse,
    errors: [],
    example: { query: 'lat=-33.8731&lng=151.2069&radius=300&modes=all', body: exampleBody },
    tool: {
      description:
        'Stops around a position, the nearest first, with their distance in metres and the modes that stop there. Stops that are out of use are left out. The `stop_id` of a stop is what the other tools take.',
      defaults: { modes: 'all' },
    },

    async find(query, { ask, accounts, now }) {
      const location = { lat: query.lat, lng: query.lng };
      const { stops, listed, leftOut } = await listStops(query, { ask, register, now, isRehearsal });
      await verdicts.load(stops.map(({ stop_id }) => stop_id));
      // In a shortage no call is spent on checks, and the register lists poles, which are checked as parts of their stops.
      const callsForChecks = listed.shortage ? 0 : MAX_CALLS - (listed.source === 'cache' ? 0 : CALLS_FOR_LIST);
      const limited = limitCalls(ask, callsForChecks);
      const live = await withTimeLimit(CHECKS_WITHIN_MS, (signal) => {
        // Checks give way to calls that responses depend on.
        const check: Ask = (request) => limited.ask(request, { priority: 'background', signal });
        return findLiveStops(stops, query, {
          find: (stopId) => verdicts.find(stopId),
          check: (stopId) => checkStop(check, verdicts, stopId, now()),
          mayCheck: () => limited.callsLeft() > 0,
        });
      });
      if (!listed.shortage) checkQueue.add(live.unchecked, accounts);
      const hasChecked = limited.callsLeft() < callsForChecks;
      return {
        notices: live.stops.length > 0 ? [] : whyEmpty(query, stops),
        body: { location, stops: query.include?.includes('ids') ? live.stops : live.stops.map(withoutChildren) },
        // Fresh for as long as both the list of stops and the verdicts on them are.
        freshness: {
          ...listed,
          freshUntil: Math.min(
            listed.freshUntil,
            live.unchecked.length === 0 ? live.knownUntil : now().getTime() + UNCERTAIN_MS,
          ),
          ...(hasChecked && { source: 'upstream' as const }),
        },
        leftOut,
      };
    },
  });

/** `listed` are all stops that upstream lists around the place. */
function whyEmpty({ lat, lng, modes, radius }: NearbyQuery, listed: readonly NearbyStop[]): Notice[] {
  const outside = outsideNotice(lat, lng);
  if (outside) return [{ text: outside }];
  const others = sortModes(listed.flatMap((stop) => stop.modes)).filter((mode) => !modes.includes(mode));
  const theyStop = `${nameModes(others)} ${others.length === 1 ? 'stops' : 'stop'} within ${radius} metres: modes=all.`;
  const byModes = { text: `Only stops of buses were asked for, by default. ${theyStop}`, defaultOf: 'modes' };
  const byRadius = {
    text: `The radius is ${radius} metres, by default: radius=2000 is the widest.`,
    defaultOf: 'radius',
  };
  return others.length > 0 ? [byModes, byRadius] : [byRadius];
}

/** The register has stops of the state everywhere. Canberra's local buses it may not have: there a few stops say nothing. */
const CANBERRA = { south: -35.93, west: 148.76, north: -35.12, east: 149.2, leastStops: 3 };
/** About two kilometres. */
const AROUND_DEGREES = 0.02;

/** From upstream's disc; where there is none, from the register, unless it knows too little there to say that nothing stops. */
async function listStops(
  query: NearbyQuery,
  options: Pick<FindContext, 'ask' | 'now'> & {
    register: StopRegister;
    isRehearsal: (request: UpstreamRequest) => boolean;
  },
) {
  const { ask, register, now } = options;
  const circle = toNearbyRequest(query, { isExact: true });
  const isRehearsed = options.isRehearsal(circle);
  const isKnown = knowsSurroundings(query, register);
  try {
    // A disc serves all phones of its cell; where nothing could stand in for it, it goes before most other calls.
    const response = await ask(isRehearsed ? circle : toNearbyRequest(query), isKnown ? {} : { purpose: 'timetable' });
    return { ...(await mapNearbyStops(response.payload, query, register)), listed: freshnessOf(response) };
  } catch (error) {
    if (isRehearsed || !isKnown) throw error;
    const listed = freshnessInPlaceOf(error, register, now());
    return { stops: listKnownStops(query, register), listed, leftOut: {} };
  }
}

function knowsSurroundings({ lat, lng }: { lat: number; lng: number }, register: StopRegister): boolean {
  const { south, west, north, east, leastStops } = CANBERRA;
  const isInCanberra = lat > south && lat < north && lng > west && lng < east;
  const around = register.inBox(lat - AROUND_DEGREES, lng - AROUND_DEGREES, lat + AROUND_DEGREES, lng + AROUND_DEGREES);
  const least = isInCanberra ? leastStops : 1;
  return around.take(least).toArray().length === least;
}

function withoutChildren({ children: _, ...stop }: NearbyStop): NearbyStop {
  return stop;
}

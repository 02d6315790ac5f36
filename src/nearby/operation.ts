import type { z } from 'zod';
import type { Ask } from '../efa/ask.ts';
import { defineOperation, type Notice } from '../operation.ts';
import { withTimeLimit } from '../time-limit.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { nameModes, sortModes } from '../transit/mode.ts';
import { outsideNotice } from '../transit/place.ts';
import type { CheckQueue } from './check-queue.ts';
import { findLiveStops, limitCalls } from './live-stops.ts';
import { mapNearbyStops, type NearbyStop, nearbyResponse } from './map.ts';
import { type NearbyQuery, nearbyQuery, toNearbyRequest } from './query.ts';
import { checkStop, type Verdicts } from './verdict.ts';

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
}: {
  verdicts: Verdicts;
  checkQueue: Pick<CheckQueue, 'add'>;
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
      const response = await ask(toNearbyRequest(query));
      const listed = freshnessOf(response);
      const { stops, leftOut } = await mapNearbyStops(response.payload, location);
      await verdicts.load(stops.map(({ stop_id }) => stop_id));
      const callsForChecks = MAX_CALLS - (listed.source === 'cache' ? 0 : CALLS_FOR_LIST);
      const limited = limitCalls(ask, callsForChecks);
      const live = await withTimeLimit(CHECKS_WITHIN_MS, (signal) => {
        // Checks give way to requests that answers depend on.
        const check: Ask = (request) => limited.ask(request, { priority: 'background', signal });
        return findLiveStops(stops, query, {
          find: (stopId) => verdicts.find(stopId),
          check: (stopId) => checkStop(check, verdicts, stopId, now()),
          mayCheck: () => limited.callsLeft() > 0,
        });
      });
      checkQueue.add(live.unchecked, accounts);
      const hasChecked = limited.callsLeft() < callsForChecks;
      return {
        notices: live.stops.length > 0 ? [] : whyEmpty(query, stops),
        body: { location, stops: query.include === 'ids' ? live.stops : live.stops.map(withoutChildren) },
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

function withoutChildren({ children: _, ...stop }: NearbyStop): NearbyStop {
  return stop;
}

import type { z } from 'zod';
import type { UpstreamRequest } from '../efa/request.ts';
import { upstreamTimeout } from '../errors/messages.ts';
import { defineOperation } from '../operation.ts';
import { freshnessInPlaceOf } from '../stops/freshness.ts';
import type { NameSearch } from '../stops/name-search.ts';
import type { StopRegister } from '../stops/register.ts';
import { within } from '../time-limit.ts';
import { freshnessOf } from '../transit/freshness.ts';
import { mapSearchResults, stopSearchResponse, toSearchResult } from './map.ts';
import { stopSearchQuery, toStopSearchRequest } from './query.ts';

/** With fewer stops of the authority's, those with similar names are added. */
const FEW = 3;
/** The stops known without asking stand in when the authority takes longer. */
const PATIENCE_MS = 3000;
const FROM_REGISTER = {
  text: 'The transport authority could not be asked: these are stops of the list that the service keeps.',
};

const exampleBody: z.infer<typeof stopSearchResponse> = {
  query: 'town hall',
  results: [
    {
      stop_id: '200070',
      name: 'Town Hall Station, Sydney',
      suburb: 'Sydney',
      lat: -33.873844,
      lng: 151.206956,
      modes: ['train', 'lightrail'],
    },
  ],
};

/** `GET /v1/stops/search` */
export const createStopSearchOperation = ({
  stops,
  names,
  isRehearsal = () => false,
}: {
  stops: StopRegister;
  names: NameSearch;
  /** Whether the sandbox rehearses a failure by that text, which nothing may hide. */
  isRehearsal?: (request: UpstreamRequest) => boolean;
}) =>
  defineOperation({
    id: 'searchStops',
    path: '/v1/stops/search',
    tag: 'Stops',
    summary: 'Stops by name',
    description:
      'Stops whose name matches, the best match first. Only real stops: no streets, suburbs or points of interest. Where the authority has fewer than three, stops with similar names follow: typos, missing blanks and abbreviations are forgiven.',
    query: stopSearchQuery,
    body: stopSearchResponse,
    errors: [],
    example: { query: 'q=town%20hall', body: exampleBody },
    tool: {
      description:
        'Stops whose name matches a text, the best match first, typos forgiven; its `stop_id` is what the other tools take. It finds stations, wharves and bus stops, no addresses, suburbs or sights: search for the name of a stop, or use getNearbyStops with a position.',
    },

    async find(query, { ask, now }) {
      const { q, limit, near } = query;
      const request = toStopSearchRequest(query);
      const similar = (isLoose: boolean) => names.find({ text: q, limit, near, isLoose }, now());
      const asked = ask(request);
      let response: Awaited<typeof asked>;
      try {
        response = await within(PATIENCE_MS, asked, () => upstreamTimeout(PATIENCE_MS));
      } catch (error) {
        const freshness = freshnessInPlaceOf(error, stops, now());
        const known = isRehearsal(request) ? [] : await similar(true);
        if (known.length > 0) {
          return { body: { query: q, results: known.map(toSearchResult) }, freshness, notices: [FROM_REGISTER] };
        }
        response = await asked;
      }
      const { results, leftOut } = await mapSearchResults(response.payload, stops, near);
      const shown = results.slice(0, limit);
      if (shown.length < Math.min(FEW, limit)) {
        const known = await similar(shown.length === 0);
        const others = known.filter(({ stop_id }) => !shown.some((one) => one.stop_id === stop_id));
        shown.push(...others.slice(0, limit - shown.length).map(toSearchResult));
      }
      return { body: { query: q, results: shown }, freshness: freshnessOf(response), leftOut };
    },
  });

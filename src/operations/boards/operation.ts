import { z } from 'zod';
import { ApiError, ERROR_TABLE, type ErrorCode, errorBody } from '../../errors/api-error.ts';
import { unknownStop, upstreamTimeout } from '../../errors/messages.ts';
import { PRICES, routeOf } from '../../routes.ts';
import { oldestOf } from '../../transit/freshness.ts';
import { countUpTo, describe, onlyWith, optional, type ProblemDetails } from '../../transit/parameter.ts';
import {
  latitudeOrNull,
  longitudeOrNull,
  positionParameter,
  stopIdParameter,
  stopListParameter,
} from '../../transit/place.ts';
import { field, list, part, record, text } from '../../transit/schema.ts';
import { leadParameter } from '../../transit/time.ts';
import { departuresResponse } from '../departures/departure.ts';
import type { departuresOperation } from '../departures/operation.ts';
import type { createNearbyOperation } from '../nearby/operation.ts';
import { defineOperation, type FindContext, type Notice, type OperationResult } from '../operation.ts';

const MAX_STOPS = 20;
/** How many stops around a position are listed, and how far away, unless the caller says so. */
const STOPS_AROUND = 5;
const MAX_STOPS_AROUND = 10;
const RADIUS_METRES = 500;
const MAX_RADIUS_METRES = 2000;

const LEAD_HINT = 'A stop may have a `lead` of 0 to 60 minutes, as in 200070@7.';

/** Each stop is text such as `200070` or `200070@7`; the part after `@` is its `lead`. */
const stopsParameter = describe(
  stopListParameter(MAX_STOPS, {
    isEntry: isStop,
    hintFor: (malformed) => (malformed.some((entry) => entry.includes('@')) ? LEAD_HINT : undefined),
  }),
  `Up to ${MAX_STOPS} stop IDs separated by commas. A repeated stop is returned and charged once. A stop can have its own \`lead\`: \`200070@7,200020@3\`.`,
).meta({ examples: [['200070', '200020']] });

function isStop(entry: string): boolean {
  const at = entry.indexOf('@');
  const isLead = at === -1 || leadParameter.safeParse(entry.slice(at + 1)).success;
  return stopIdParameter.safeParse(at === -1 ? entry : entry.slice(0, at)).success && isLead;
}

function parseEntry(entry: string): { stop: string; lead?: number } {
  const [stop = entry, lead] = entry.split('@').map((part) => part.trim());
  return lead === undefined ? { stop } : { stop, lead: Number(lead) };
}

const aroundParameters = {
  near: optional(
    positionParameter,
    'A position as `lat,lng`, instead of `stops`: the departures of the nearest stops of `modes`, nearest stop first.',
    '-33.8731,151.2069',
  ),
  radius: optional(
    countUpTo(MAX_RADIUS_METRES),
    `Radius in metres around \`near\`. Default: as in \`/v1/nearby\`. Values above ${MAX_RADIUS_METRES} count as ${MAX_RADIUS_METRES}.`,
    RADIUS_METRES,
  ),
  max_stops: optional(
    countUpTo(MAX_STOPS_AROUND),
    `Maximum number of stops around \`near\`. Default ${STOPS_AROUND}. Values above ${MAX_STOPS_AROUND} count as ${MAX_STOPS_AROUND}.`,
    STOPS_AROUND,
  ),
};

/**
 * Replaces `stop` with `stops` or `near`; the other parameters apply to every stop. There is no cursor: each stop would need its
 * own, and twenty do not fit into a header.
 */
function boardsQuery(oneStop: (typeof departuresOperation)['query']) {
  const { stop: _stop, cursor: _cursor, ...others } = oneStop.shape;
  return z
    .object({ stops: optional(stopsParameter), ...aroundParameters, ...others })
    .refine(({ stops, near }) => (stops === undefined) !== (near === undefined), {
      path: ['stops'],
      message: 'Give one of: `stops` or `near`.',
      params: { isSentence: true } satisfies ProblemDetails,
    })
    .refine(...onlyWith('radius', 'near'))
    .refine(...onlyWith('max_stops', 'near'));
}
type BoardsQuery = z.output<ReturnType<typeof boardsQuery>>;

const ONLY_AROUND = 'Only with `near`';
/** Where the stop of a board is. */
const placeFields = {
  distance_metres: field(
    z.int().min(0).optional(),
    `Distance from \`near\` to the nearest platform in metres. ${ONLY_AROUND}`,
    51,
  ),
  lat: field(latitudeOrNull.optional(), `Latitude of the stop in degrees; null if unknown. ${ONLY_AROUND}`),
  lng: field(longitudeOrNull.optional(), `Longitude of the stop in degrees; null if unknown. ${ONLY_AROUND}`),
};

const boardSchema = departuresResponse
  .extend(placeFields)
  .meta({ id: 'Board', description: 'Departures of one of several stops.' });

/** The board of a stop with a temporary failure is requested again after this time. */
const RETRY_MS = 1000;

const failureSchema = record('BoardFailure', 'A stop whose departures are unavailable.', {
  stop_id: text('The requested stop ID', '200020'),
  error: part('The error that a request for this stop alone would return', {
    code: field(z.enum(Object.keys(ERROR_TABLE) as [ErrorCode]), 'For programs'),
    message: text('For people'),
    docs: field(z.string().meta({ format: 'uri' }), 'Documentation of this code: cause, fix and when to retry'),
  }),
  ...placeFields,
});

interface Failure {
  stopId: string;
  error: ApiError;
}

type FoundBoard = OperationResult<z.infer<typeof departuresResponse>>;

/** A stop to list, and where it is if the caller gave a position. */
interface Listed {
  stop: string;
  lead?: number;
  place?: Pick<z.infer<typeof boardSchema>, 'distance_metres' | 'lat' | 'lng'>;
}

/**
 * `GET /v1/boards`. `oneStop` is the operation for a single `stop`, `nearby` the one for the stops around a position; `docsUrl`
 * is the base URL of the error pages.
 */
export const createBoardsOperation = ({
  oneStop,
  nearby,
  docsUrl,
}: {
  oneStop: typeof departuresOperation;
  nearby: ReturnType<typeof createNearbyOperation>;
  docsUrl: string;
}) => {
  /** The stops to list, and the result of the search if there are none. */
  async function listStops(
    query: BoardsQuery,
    run: FindContext['run'],
  ): Promise<{ listed: Listed[]; around?: OperationResult }> {
    if (query.near === undefined) return { listed: (query.stops ?? []).map(parseEntry) };
    const [lat, lng] = query.near;
    const { radius = RADIUS_METRES, max_stops: limit = STOPS_AROUND, modes } = query;
    const around = await run(nearby, { lat, lng, radius, limit, modes });
    const listed = around.body.stops.map(({ stop_id: stop, distance_metres, ...place }) => ({
      stop,
      place: { distance_metres, lat: place.lat, lng: place.lng },
    }));
    return { listed, around };
  }

  return defineOperation({
    ...routeOf('getBoards'),
    tag: 'Stops',
    summary: 'Departures of several stops, or around a position',
    description: `The departures of up to ${MAX_STOPS} stops, in the requested order, or with \`near\` of the stops around a position, nearest first. The other parameters apply to each stop. \`stops\` costs one request per stop, \`near\` ${PRICES.around} requests in all.\n\nA stop that fails has an error in its place, like the second one in the example. The whole request fails only if all stops do. If fewer requests are left for the day than the price, the response is 429 and nothing is charged. To page through a board, request its stop on \`${oneStop.path}\`.`,
    query: boardsQuery(oneStop.query),
    body: record('Boards', 'Departures of several stops.', {
      boards: list(
        z.union([boardSchema, failureSchema]),
        'One entry per stop; empty if there is no stop around `near`',
      ),
    }),
    example: {
      query: 'stops=200070,200020&modes=all&limit=5',
      body: {
        boards: [oneStop.example.body, { stop_id: '200020', ...errorBody(upstreamTimeout(8000), docsUrl) }],
      },
    },
    tool: {
      description: `The next departures of several stops: those in \`stops\`, up to ${MAX_STOPS} and in that order, or the nearest ones around the position \`near\` with their distance. The other parameters apply to each stop. \`stops\` costs one request per stop, \`near\` ${PRICES.around} in all. A stop that fails has an \`error\` in its place.`,
      defaults: { ...oneStop.tool.defaults, limit: '5' },
    },

    async handle(query, { run, now }) {
      const { stops: _stops, near, radius: _radius, max_stops: _maxStops, ...parameters } = query;
      const { listed, around } = await listStops(query, run);
      if (around && listed.length === 0) return { ...around, body: { boards: [] } };
      const outcomes = await Promise.all(
        listed.map(({ stop, lead = parameters.lead }) =>
          // The parameters in the order of a request for this stop alone, so that both share a cached response.
          run(oneStop, { stop, ...parameters, lead }).catch((error) => toFailure(stop, error)),
        ),
      );
      const failures = outcomes.filter(isFailure);
      const [first, ...others] = outcomes.filter((outcome): outcome is FoundBoard => !isFailure(outcome));
      if (!first) throw refusalOf(failures);
      const found = [first, ...others];

      const boards = outcomes.map((outcome, index) => ({
        ...(isFailure(outcome) ? { stop_id: outcome.stopId, ...errorBody(outcome.error, docsUrl) } : outcome.body),
        ...listed[index]?.place,
      }));
      const freshness = oldestOf(first.freshness, ...others.map((board) => board.freshness));
      const changesAt = Math.min(...found.map((board) => board.changesAt ?? Number.POSITIVE_INFINITY));
      const result = {
        body: { boards },
        freshness,
        changesAt,
        boards: found.flatMap((board) => board.boards ?? []),
        notices: joinNotices(outcomes, listed),
      };
      const transient = countTransient(failures);
      if (transient === 0) return result;
      const retryAt = now() + RETRY_MS;
      return {
        ...result,
        freshness: { ...freshness, freshUntil: Math.min(freshness.freshUntil, retryAt) },
        changesAt: Math.min(changesAt, retryAt),
        failedParts: near ? Math.floor((PRICES.around * transient) / listed.length) : transient,
      };
    },
  });
};

function toFailure(stopId: string, error: unknown): Failure {
  if (error instanceof ApiError) return { stopId, error };
  throw error;
}

function isFailure(outcome: OperationResult | Failure): outcome is Failure {
  return 'error' in outcome;
}

/** Lists each notice once, with the stops it applies to. */
function joinNotices(outcomes: readonly (OperationResult | Failure)[], listed: readonly Listed[]): Notice[] {
  const all = outcomes.flatMap((outcome, index) =>
    isFailure(outcome) ? [] : (outcome.notices ?? []).map((notice) => ({ stop: listed[index]?.stop, notice })),
  );
  const byText = Map.groupBy(all, ({ notice }) => notice.text);
  return [...byText.values()].map((group) => {
    const [{ notice }] = group as [(typeof all)[0]];
    return { ...notice, text: `${group.map(({ stop }) => stop).join(', ')}: ${notice.text}` };
  });
}

/** The number of stops that may succeed on a retry. A stop that does not exist will not. */
function countTransient(failures: readonly Failure[]): number {
  return failures.filter(({ error }) => error.statusCode >= 500).length;
}

/** Combines the errors of all stops into one: the most severe, with the message of each stop. */
function refusalOf(failures: readonly Failure[]): ApiError {
  const mostSevereFirst = failures.toSorted((a, b) => b.error.statusCode - a.error.statusCode);
  const [mostSevere] = mostSevereFirst.map(({ error }) => error) as [ApiError];
  const isUnknown = ({ error }: Failure) => error.code === 'STOP_NOT_FOUND';
  const otherFailures = mostSevereFirst.filter((failure) => !isUnknown(failure));
  const unknown = failures.filter(isUnknown).map(({ stopId }) => stopId);
  const byMessage = Map.groupBy(otherFailures, ({ error }) => error.message);
  const messages = [...byMessage].map(([message, group]) =>
    group.length === failures.length ? message : `${group.map(({ stopId }) => stopId).join(', ')}: ${message}`,
  );
  if (unknown.length > 0) messages.push(unknownStop(unknown.join(', ')).message);
  return new ApiError(mostSevere.code, messages.join(' '), {
    cause: mostSevere.cause,
    headers: { ...mostSevere.headers },
    failedParts: countTransient(failures),
  });
}

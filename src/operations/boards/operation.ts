import { z } from 'zod';
import { ApiError, ERROR_TABLE, type ErrorCode, errorBody } from '../../errors/api-error.ts';
import { unknownStop, upstreamTimeout } from '../../errors/messages.ts';
import { oldestOf } from '../../transit/freshness.ts';
import { describe } from '../../transit/parameter.ts';
import { stopIdParameter, stopListParameter } from '../../transit/place.ts';
import { leadParameter } from '../../transit/time.ts';
import { defineOperation, type Notice, type Operation, type OperationResult } from '../operation.ts';

const MAX_STOPS = 20;

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

function readEntry(entry: string): { stop: string; lead?: number } {
  const [stop = entry, lead] = entry.split('@').map((part) => part.trim());
  return lead === undefined ? { stop } : { stop, lead: Number(lead) };
}

/**
 * Replaces `stop` with `stops`; the other parameters apply to every stop. There is no cursor: each stop would need its own, and
 * twenty do not fit into a header.
 */
function boardsQuery(oneStop: z.ZodObject) {
  const { stop: _stop, cursor: _cursor, ...others } = oneStop.shape;
  return z.object({ stops: stopsParameter, ...others });
}

/** The board of a stop with a temporary failure is requested again after this time. */
const RETRY_MS = 1000;

const failureSchema = z
  .strictObject({
    stop_id: z.string().meta({ description: 'The requested stop ID', example: '200020' }),
    error: z
      .strictObject({
        code: z.enum(Object.keys(ERROR_TABLE) as [ErrorCode]).meta({ description: 'For programs' }),
        message: z.string().meta({ description: 'For people' }),
        docs: z
          .string()
          .meta({ format: 'uri', description: 'Documentation of this code: cause, fix and when to retry' }),
      })
      .meta({ description: 'The error that a request for this stop alone would return' }),
  })
  .meta({ id: 'BoardFailure', description: 'A stop whose departures are unavailable.' });

interface Failure {
  stopId: string;
  error: ApiError;
}

/** `GET /v1/boards`. `oneStop` is the operation for a single `stop`; `docsUrl` is the base URL of the error pages. */
export const createBoardsOperation = ({ oneStop, docsUrl }: { oneStop: Operation; docsUrl: string }) =>
  defineOperation({
    id: 'getBoards',
    path: '/v1/boards',
    tag: 'Stops',
    summary: 'Departures of several stops',
    description: `The departures of up to ${MAX_STOPS} stops, in the requested order. The parameters apply to each stop. Costs one request per stop.\n\nA stop that fails has an error in its place, like the second one in the example. The whole request fails only if all stops do. If fewer requests are left for the day than you request stops, the response is 429 and nothing is charged. To page through a board, request its stop on \`${oneStop.path}\`.`,
    query: boardsQuery(oneStop.query),
    body: z
      .strictObject({
        boards: z.array(z.union([oneStop.body, failureSchema])).meta({ description: 'One entry per stop' }),
      })
      .meta({ id: 'Boards', description: 'Departures of several stops.' }),
    errors: oneStop.errors,
    example: {
      query: 'stops=200070,200020&modes=all&limit=5',
      body: {
        boards: [oneStop.example.body, { stop_id: '200020', ...errorBody(upstreamTimeout(8000), docsUrl) }],
      },
    },
    tool: {
      description: `The next departures of several stops, up to ${MAX_STOPS} in one call, in the order of \`stops\`; the other parameters apply to each stop. Costs one request per stop. A stop that fails has an \`error\` in its place.`,
      defaults: { ...oneStop.tool.defaults, limit: '5' },
    },
    cost: ({ stops }) => stops.length,

    async find({ stops, ...parameters }, { run, now }) {
      const outcomes = await Promise.all(
        stops.map((entry) => {
          const { stop, ...lead } = readEntry(entry);
          return run(oneStop, { ...parameters, ...lead, stop }).catch((error) => toFailure(stop, error));
        }),
      );
      const failures = outcomes.filter(isFailure);
      const [first, ...others] = outcomes.filter((outcome): outcome is OperationResult => !isFailure(outcome));
      if (!first) throw refusalOf(failures);

      const boards = outcomes.map((outcome) =>
        isFailure(outcome) ? { stop_id: outcome.stopId, ...errorBody(outcome.error, docsUrl) } : outcome.body,
      );
      const freshness = oldestOf(first.freshness, ...others.map((operationResult) => operationResult.freshness));
      const origins = [first, ...others].flatMap((operationResult) => operationResult.boards ?? []);
      const changesAt = Math.min(
        ...[first, ...others].map((operationResult) => operationResult.changesAt ?? Number.POSITIVE_INFINITY),
      );
      const notices = joinNotices(
        outcomes,
        stops.map((entry) => readEntry(entry).stop),
      );
      const failedParts = countTransient(failures);
      if (failedParts === 0) return { body: { boards }, freshness, changesAt, boards: origins, notices };
      const retryAt = now().getTime() + RETRY_MS;
      const freshUntil = Math.min(freshness.freshUntil, retryAt);
      const asOf = { freshness: { ...freshness, freshUntil }, changesAt: Math.min(changesAt, retryAt) };
      return { body: { boards }, ...asOf, failedParts, boards: origins, notices };
    },
  });

function toFailure(stopId: string, error: unknown): Failure {
  if (error instanceof ApiError) return { stopId, error };
  throw error;
}

function isFailure(outcome: OperationResult | Failure): outcome is Failure {
  return 'error' in outcome;
}

/** Lists each notice once, with the stops it applies to. */
function joinNotices(outcomes: readonly (OperationResult | Failure)[], stops: readonly string[]): Notice[] {
  const all = outcomes.flatMap((outcome, index) =>
    isFailure(outcome) ? [] : (outcome.notices ?? []).map((notice) => ({ stop: stops[index], notice })),
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

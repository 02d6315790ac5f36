import type { z } from 'zod';
import type { Runs } from '../boards/runs.ts';
import type { BoardOrigin, Boards } from '../boards/source.ts';
import type { IdSigner } from '../core/signer.ts';
import type { Turn } from '../core/turn-queue.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import type { UpstreamRequest } from '../efa/request.ts';
import { ERROR_TABLE, type ErrorCode } from '../errors/api-error.ts';
import { invalidParameters, type ParameterProblem, pastDate } from '../errors/messages.ts';
import type { JourneyOrigin } from '../journeys/source.ts';
import type { LineCatalogue } from '../lines/lines.ts';
import type { Freshness } from '../transit/freshness.ts';
import type { LeftOutCounts } from '../transit/left-out.ts';
import { findForeign, findMeant, findOtherWay, type ProblemDetails, withoutBrackets } from '../transit/parameter.ts';
import type { Punctuality } from '../transit/punctuality.ts';
import { dayBefore, toSydneyWallClock, type WallClock } from '../transit/time.ts';

/** What an operation returns: the body, how fresh it is, and what headers, log and charge need. */
export interface OperationResult<Body extends object = object> {
  body: Body;
  freshness: Freshness;
  /** When the body changes although the data does not, in milliseconds since 1970; absent if never. */
  changesAt?: number;
  /** How many of the requests that it is charged for failed. Default: none. */
  failedParts?: number;
  /** Upstream records that could not be shown, by reason. */
  leftOut?: LeftOutCounts;
  /** The source of each board in the body, in order. */
  boards?: readonly BoardOrigin[];
  journeys?: JourneyOrigin;
  /** What the caller should know about the body, such as why a list is empty. */
  notices?: readonly Notice[];
  pages?: Pages;
}

/** The cursors of the pages before and after; absent where there is none. */
export interface Pages {
  prev?: string | undefined;
  next?: string | undefined;
}

/** A sentence for the caller, in ASCII because it is sent as a header. */
export interface Notice {
  text: string;
  /** The parameter with the default that caused it. Callers who set it do not get the notice. */
  defaultOf?: string;
}

/** Whether the sandbox simulates a failure for the request. No fallback may hide such a failure. */
export type IsRehearsal = (request: UpstreamRequest) => boolean;

/** What an operation needs to handle a query for a caller. */
export interface FindContext {
  /** Requests data from upstream for the caller, until the caller's deadline. */
  queryUpstream: QueryUpstream;
  /** The callers waiting for the response, until their deadline; absent for background work. */
  turn?: Turn | undefined;
  /** Boards from the timetable or the departure monitor. */
  boards: Boards;
  /** Running vehicles and the live times of rides. */
  runs: Runs;
  lines: LineCatalogue;
  /** What was recorded of past runs; null or absent if nothing is. */
  punctuality?: Punctuality | null;
  /** In milliseconds since 1970. */
  now: () => number;
  /** Signs identifiers and cursors, and verifies them. */
  ids: IdSigner;
  /** Runs another operation for the same caller. Reads and fills the shared response cache. */
  run<Schema extends z.ZodObject, Body extends object>(
    operation: Operation<Schema, Body>,
    query: z.output<Schema>,
  ): Promise<OperationResult<Body>>;
}

/** What supplies the identifiers of a response: `ids` signs those of runs and journeys, `lines` finds those of lines. */
export type Identifiers = Pick<FindContext, 'ids' | 'lines'>;

/**
 * An operation of the API: its documentation, and how its response is found. It does not depend on HTTP: routes, the text board
 * and the pages all run it through `serve.ts`.
 */
export interface Operation<Query extends z.ZodObject = z.ZodObject, Body extends object = object> {
  /** Unique name in OpenAPI. */
  id: string;
  /** Parts in braces are parameters of `query`: "/v1/stops/{stop_id}". */
  path: string;
  tag: 'Stops' | 'Journeys';
  summary: string;
  description: string;
  query: Query;
  body: z.ZodType<Body>;
  /** Errors of this operation, in addition to the common ones. */
  errors: readonly ErrorCode[];
  /** A working request and its response. All parameters are written as a query, including those of the path. */
  example: { query: string; body: Body };
  /** Set if the operation has a stream, under its path plus `/stream`. */
  stream?: { id: string; summary: string; description: string };
  event?: string | null;
  /** The operation as an MCP tool: its description for a model, and defaults for parameters that the model leaves out. */
  tool: { description: string; defaults?: Readonly<Record<string, string>> };
  /** How many requests of the daily limit it is charged; see `routes.ts`. Default: one. */
  price?(query: z.output<Query>, day: number): number;
  handle(query: z.output<Query>, context: FindContext): Promise<OperationResult<Body>>;
}

const COMMON_ERRORS = [
  'INVALID_PARAMETER',
  'UNAUTHORIZED',
  'TOKEN_EXPIRED',
  'SUSPENDED',
  'ORIGIN_NOT_ALLOWED',
  'OPERATION_NOT_ALLOWED',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'TOO_MANY_REQUESTS',
  'DAILY_LIMIT_EXCEEDED',
  'VISITOR_LIMIT_EXCEEDED',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'UPSTREAM_ERROR',
  'SERVICE_UNAVAILABLE',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
] as const satisfies readonly ErrorCode[];

/** Every error that the operation can return, by status. */
export function errorsOf({ errors }: { errors: readonly ErrorCode[] }): ErrorCode[] {
  return [...COMMON_ERRORS, ...errors].sort((a, b) => ERROR_TABLE[a].status - ERROR_TABLE[b].status);
}

/** The operation without paging, for streams and tools: a stream begins now, and a tool sees no `Link` header. */
export function withoutCursor(operation: Operation): Operation {
  const { cursor, ...others } = operation.query.shape;
  // Cloning keeps the checks that span several parameters.
  return cursor ? { ...operation, query: operation.query.clone({ ...operation.query.def, shape: others }) } : operation;
}

/** Infers the types of an operation from its schemas. */
export function defineOperation<Query extends z.ZodObject, Body extends object>(
  operation: Operation<Query, Body>,
): Operation<Query, Body> {
  return operation;
}

/**
 * Parses the query. Throws `INVALID_PARAMETER`, which names every problem; `calledAs` is the operation's name in that message.
 */
export function parseQuery<Query extends z.ZodObject>(
  { path, query }: Operation<Query>,
  received: Readonly<Record<string, unknown>>,
  calledAs = path,
): z.output<Query> {
  const folded = foldLists(query, received);
  const read = query.safeParse(folded);
  const ownProblems = read.success ? [] : problemsOf(read.error, folded);
  const problems = [...ownProblems, ...listUnknown(Object.keys(query.shape), folded, calledAs)];
  if (read.success && problems.length === 0) return read.data;
  throw invalidParameters(problems);
}

/**
 * Joins lists as client generators send them (`modes=bus&modes=train`, `modes[]=bus`, `modes[0]=bus`) with commas. Other
 * parameters stay as they are.
 */
function foldLists(query: z.ZodObject, received: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const lists = Object.keys(query.shape).filter((name) => query.shape[name]?.meta()?.type === 'array');
  const folded: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(received)) {
    const list = lists.find((list) => list === withoutBrackets(name.toLowerCase()));
    if (list) folded[list] = [folded[list] ?? [], value].flat().join(',');
    else folded[name] = value;
  }
  return folded;
}

/** A notice for each number of the query that is above its maximum. */
export function noticesOfCut({ query }: Operation, received: Readonly<Record<string, unknown>>): readonly Notice[] {
  return Object.entries(query.shape).flatMap(([name, schema]) => {
    const max = schema.meta()?.['x-counts-up-to'];
    const value = received[name];
    if (typeof max !== 'number' || !(Number(value) > max)) return [];
    return [{ text: `\`${name}\` is at most ${max}: that was used in place of ${value}.` }];
  });
}

/** Joins the notices that apply to a caller with this query; undefined if there are none. */
export function noticeTo(
  received: object,
  ofResponse: readonly Notice[] = [],
  ofQuery: readonly Notice[] = [],
): string | undefined {
  if (ofResponse.length + ofQuery.length === 0) return undefined;
  const notices = [...ofResponse, ...ofQuery];
  const set = namesSet(received);
  const applicable = notices.filter(({ defaultOf }) => defaultOf === undefined || !set.includes(defaultOf));
  return applicable.map(({ text }) => text).join(' ') || undefined;
}

/** Applies other defaults than the operation's. An empty parameter counts as absent, as everywhere. */
export function withOwnDefaults(defaults: Readonly<Record<string, string>>, received: object): Record<string, unknown> {
  const set = namesSet(received);
  const missing = Object.entries(defaults).filter(([name]) => !set.includes(name));
  return Object.fromEntries([...missing, ...Object.entries(received).filter(([, value]) => value !== '')]);
}

/** The parameters that have a value, by their names in the API. */
function namesSet(received: object): string[] {
  const pairs = Object.entries(received).filter(([, value]) => value !== '');
  return pairs.map(([name]) => withoutBrackets(name.toLowerCase()));
}

export function problemsOf({ issues }: z.ZodError, received: Readonly<Record<string, unknown>>): ParameterProblem[] {
  return issues.map((issue) => {
    const parameter = String(issue.path[0]);
    const { hint, isComplete, isSentence }: ProblemDetails = (issue.code === 'custom' && issue.params) || {};
    if (isSentence) return { parameter, hint: issue.message };
    return { parameter, value: isComplete ? undefined : received[parameter], allowed: issue.message, hint };
  });
}

/** A message names at most this many unknown parameters. */
const MAX_UNKNOWN = 5;
const MAX_NAME = 50;
/** What trackers and caches add to links. */
const WITHOUT_MEANING = /^(utm_\w*|fbclid|gclid|_|cb|ts|nocache)$/i;

/** Refuses unknown parameters: otherwise a caller could mistake an unfiltered response for a filtered one. */
function listUnknown(
  ownNames: readonly string[],
  received: Readonly<Record<string, unknown>>,
  calledAs: string,
): ParameterProblem[] {
  const unknown = Object.entries(received).filter(
    ([name, value]) => !ownNames.includes(name) && value !== '' && !WITHOUT_MEANING.test(name),
  );
  // Many APIs accept `format=json`, which changes nothing here.
  const isJson = ([name, value]: [string, unknown]) => name.toLowerCase() === 'format' && /^json$/i.test(String(value));
  return unknown
    .filter((one) => !isJson(one))
    .slice(0, MAX_UNKNOWN)
    .map(([name]) => {
      const meant = findMeant(name, ownNames);
      const foreign = findForeign(name);
      const hint = meant
        ? `Did you mean \`${meant}\`?`
        : (findOtherWay(name) ?? (foreign && findOtherWay(foreign)) ?? `${calledAs} takes ${LIST.format(ownNames)}.`);
      const shown = name.slice(0, MAX_NAME).toWellFormed();
      return { parameter: name, hint: `Unknown parameter \`${shown}\`. ${hint}` };
    });
}

const LIST = new Intl.ListFormat('en-AU');

/**
 * The time a query requests; null without `date` and `time`, which means now. With only a time the day is today; with only a
 * date the time is the present time of day. A `time` in ISO 8601 has both. Yesterday is accepted, because callers look up
 * journeys again after midnight. Throws `DATE_OUT_OF_RANGE` for earlier days.
 */
export function requestedWallClock(
  { date, time: timeText }: { date?: string | undefined; time?: string | undefined },
  now: number,
): WallClock | null {
  if (date === undefined && timeText === undefined) return null;
  const [time, day] = timeText?.split('T').reverse() ?? [];
  if (date !== undefined && day !== undefined && day !== date) {
    const allowed = `must be left out if \`time\` includes a day (${day} in Sydney)`;
    throw invalidParameters([{ parameter: 'date', allowed }]);
  }
  const present = toSydneyWallClock(now);
  const requested = { date: day ?? date ?? present.date, time: time ?? present.time };
  const earliest = dayBefore(present.date);
  if (requested.date < earliest) throw pastDate(day === undefined ? 'date' : 'time', requested.date, earliest);
  return requested;
}

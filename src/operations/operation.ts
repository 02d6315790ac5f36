import type { z } from 'zod';
import type { Runs } from '../boards/runs.ts';
import type { BoardOrigin, Boards } from '../boards/source.ts';
import type { IdSigner } from '../core/signer.ts';
import type { Ask } from '../efa/ask.ts';
import { ERROR_TABLE, type ErrorCode } from '../errors/api-error.ts';
import { invalidParameters, type ParameterProblem, pastDate } from '../errors/messages.ts';
import type { JourneyOrigin } from '../journeys/source.ts';
import type { Freshness } from '../transit/freshness.ts';
import type { LeftOutCounts } from '../transit/left-out.ts';
import { findForeign, findMeant, findOtherWay, type ProblemDetails, withoutBrackets } from '../transit/parameter.ts';
import { dayBefore, toSydneyWallClock, type WallClock } from '../transit/time.ts';

/** The result of an operation. */
export interface Finding<Body extends object = object> {
  body: Body;
  freshness: Freshness;
  /** When the body will read differently with the same data, in milliseconds since 1970; absent if never. */
  changesAt?: number;
  /** How many of the requests that it counts as failed; none unless given. */
  failedParts?: number;
  /** Records of upstream that could not be shown. */
  leftOut?: LeftOutCounts;
  /** The sources of the boards in the body, in its order. */
  boards?: readonly BoardOrigin[];
  /** The source of the journeys in the body. */
  journeys?: JourneyOrigin;
  /** Why a list is empty, where the caller may not expect it. */
  notices?: readonly Notice[];
  /** Cursors of what comes before and after. */
  pages?: Pages;
}

export interface Pages {
  prev?: string | undefined;
  next?: string | undefined;
}

/** A sentence for a caller, in plain ASCII because it is sent as a header. */
export interface Notice {
  text: string;
  /** The parameter whose default is the cause: a caller who has set it is not told. */
  defaultOf?: string;
}

/** Whether the sandbox rehearses a failure for that request, which nothing may hide. */
export type IsRehearsal = (request: Parameters<Ask>[0]) => boolean;

/** The surroundings of an operation. */
export interface FindContext {
  /** Asks upstream on behalf of the caller, until the caller's deadline. */
  ask: Ask;
  /** Names of the accounts that wait for the response; absent for the service's own pages. */
  accounts?: ReadonlySet<string>;
  /** Boards, from the feeds or from the departure monitor. */
  boards: Boards;
  /** Finds vehicles on their way, and the live times of rides. */
  runs: Runs;
  now: () => Date;
  /** Signs identifiers and cursors, and knows those that it signed. */
  ids: IdSigner;
  /** Runs another operation for the same caller. Its cached response is shared, and its new one is kept. */
  run<Schema extends z.ZodObject, Body extends object>(
    operation: Operation<Schema, Body>,
    query: z.output<Schema>,
  ): Promise<Finding<Body>>;
}

/**
 * One operation of the API: what the documentation says of it, and how its response is found. It knows neither request nor
 * reply: routes, the text board and the pages all run it through `serve.ts`.
 */
export interface Operation<Query extends z.ZodObject = z.ZodObject, Body extends object = object> {
  /** Name in OpenAPI, unique. */
  id: string;
  /** A part in braces is a parameter of `query`: "/v1/stops/{stop_id}". */
  path: string;
  tag: 'Stops' | 'Journeys';
  summary: string;
  description: string;
  query: Query;
  body: z.ZodType<Body>;
  /** Errors of its own, beside those that every operation can meet. */
  errors: readonly ErrorCode[];
  /** A request that works, its parameters written as a query whether or not they are part of the path, and its response. */
  example: { query: string; body: Body };
  /** Set on an operation that can be followed as a stream of events, under its path and `/stream`; `event` is `board` unless given. */
  stream?: { id: string; summary: string; description: string; event?: string };
  /** The operation as a tool: its description for a model, and parameters that stand in where the model names none. */
  tool: { description: string; defaults?: Readonly<Record<string, string>> };
  /** Says as how many requests of the daily limit a request counts; one unless given. */
  cost?(query: z.output<Query>): number;
  find(query: z.output<Query>, context: FindContext): Promise<Finding<Body>>;
}

/** Errors that every operation can meet. */
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

/** Every error that the operation can respond with, by status. */
export function errorsOf({ errors }: Pick<Operation, 'errors'>): ErrorCode[] {
  return [...COMMON_ERRORS, ...errors].sort((one, other) => ERROR_TABLE[one].status - ERROR_TABLE[other].status);
}

/** The operation without pages, as streams and tools have it: a stream begins now, and a tool gets no `Link` header. */
export function withoutCursor(operation: Operation): Operation {
  const { cursor, ...others } = operation.query.shape;
  // A copy keeps what holds of several parameters together.
  return cursor ? { ...operation, query: operation.query.clone({ ...operation.query.def, shape: others }) } : operation;
}

/** The path under which an operation is followed. */
export function streamPath({ path }: Pick<Operation, 'path'>): string {
  return `${path}/stream`;
}

/** Infers the types of an operation from its schemas. */
export function defineOperation<Query extends z.ZodObject, Body extends object>(
  operation: Operation<Query, Body>,
): Operation<Query, Body> {
  return operation;
}

/** The query as the operation takes it. Throws `INVALID_PARAMETER`, which names every problem; `calledAs` is the operation's name there. */
export function readQuery<Query extends z.ZodObject>(
  { path, query }: Pick<Operation<Query>, 'path' | 'query'>,
  received: Readonly<Record<string, unknown>>,
  calledAs = path,
): z.output<Query> {
  const given = foldLists(query, received);
  const read = query.safeParse(given);
  const ownProblems = read.success ? [] : problemsOf(read.error, given);
  const problems = [...ownProblems, ...listUnknown(Object.keys(query.shape), given, calledAs)];
  if (read.success && problems.length === 0) return read.data;
  throw invalidParameters(problems);
}

/**
 * Lists as generators of clients send them, `modes=bus&modes=train`, `modes[]=bus` and `modes[0]=bus`, written with commas
 * between. Parameters that are no lists stay as they are.
 */
function foldLists(query: z.ZodObject, received: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const lists = Object.keys(query.shape).filter((name) => query.shape[name]?.meta()?.type === 'array');
  const folded: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(received)) {
    const list = lists.find((one) => one === withoutBrackets(name.toLowerCase()));
    if (list) folded[list] = [folded[list] ?? [], value].flat().join(',');
    else folded[name] = value;
  }
  return folded;
}

const MAX_IGNORED = 10;
const MAX_NAME = 50;

/**
 * The parameters that an operation ignores, in the order received, but for those with an empty value: up to ten names with
 * commas between, each as in a URL, so that no name can end the header. Undefined for none.
 */
export function nameIgnored(
  { query }: Pick<Operation, 'query'>,
  received: Readonly<Record<string, unknown>>,
): string | undefined {
  const given = foldLists(query, received);
  const names = Object.keys(given).filter((name) => !Object.hasOwn(query.shape, name) && given[name] !== '');
  const written = names.slice(0, MAX_IGNORED).map((name) => encodeURIComponent(name.slice(0, MAX_NAME).toWellFormed()));
  return written.join(', ') || undefined;
}

/** Tells a caller with this query why a list is empty; undefined where there is nothing to tell. */
export function noticeTo(received: object, notices: readonly Notice[] = []): string | undefined {
  if (notices.length === 0) return undefined;
  const set = namesSet(received);
  const told = notices.filter(({ defaultOf }) => defaultOf === undefined || !set.includes(defaultOf));
  return told.map(({ text }) => text).join(' ') || undefined;
}

/** A query with other defaults than the operation's. A parameter given empty counts as absent, as everywhere. */
export function withOwnDefaults(defaults: Readonly<Record<string, string>>, received: object): Record<string, unknown> {
  const set = namesSet(received);
  const missing = Object.entries(defaults).filter(([name]) => !set.includes(name));
  return Object.fromEntries([...missing, ...Object.entries(received).filter(([, value]) => value !== '')]);
}

/** The parameters that have a value, as they are named in the API. */
function namesSet(received: object): string[] {
  const given = Object.entries(received).filter(([, value]) => value !== '');
  return given.map(([name]) => withoutBrackets(name.toLowerCase()));
}

export function problemsOf({ issues }: z.ZodError, received: Readonly<Record<string, unknown>>): ParameterProblem[] {
  return issues.map((issue) => {
    const parameter = String(issue.path[0]);
    const { hint, isComplete, isSentence }: ProblemDetails = (issue.code === 'custom' && issue.params) || {};
    if (isSentence) return { parameter, hint: issue.message };
    return { parameter, value: isComplete ? undefined : received[parameter], allowed: issue.message, hint };
  });
}

/** How many unknown parameters a message names. */
const MAX_UNKNOWN = 5;

/**
 * Unknown parameters are ignored and named in a header, except those that are meant for one of ours or for something that
 * is done another way: the caller would take an unfiltered response for a filtered one.
 */
function listUnknown(
  own: readonly string[],
  received: Readonly<Record<string, unknown>>,
  calledAs: string,
): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  for (const [name, value] of Object.entries(received)) {
    if (own.includes(name) || value === '') continue;
    // Many APIs take `format=json`, which changes nothing here.
    if (name.toLowerCase() === 'format' && String(value).toLowerCase() === 'json') continue;
    const meant = findMeant(name, own);
    const foreign = findForeign(name);
    const hint = meant
      ? `Did you mean \`${meant}\`?`
      : (findOtherWay(name) ?? (foreign && (findOtherWay(foreign) ?? `${calledAs} takes ${LIST.format(own)}.`)));
    if (hint) problems.push({ parameter: name, hint: `Unknown parameter \`${name}\`. ${hint}` });
    if (problems.length === MAX_UNKNOWN) break;
  }
  return problems;
}

const LIST = new Intl.ListFormat('en-AU');

/**
 * The moment a query asks for; null when it names neither date nor time, which means now. With a time only it is today,
 * with a date only the present time of day; a `time` in ISO 8601 has both. Yesterday is for journeys that are looked at
 * again after midnight; throws `DATE_OUT_OF_RANGE` for earlier days.
 */
export function askedWallClock(
  { date, time: written }: { date?: string | undefined; time?: string | undefined },
  now: Date,
): WallClock | null {
  if (date === undefined && written === undefined) return null;
  const [time, day] = written?.split('T').reverse() ?? [];
  if (date !== undefined && day !== undefined && day !== date) {
    const allowed = `must be left out when \`time\` has a day too (${day} in Sydney)`;
    throw invalidParameters([{ parameter: 'date', allowed }]);
  }
  const present = toSydneyWallClock(now);
  const asked = { date: day ?? date ?? present.date, time: time ?? present.time };
  const earliest = dayBefore(present.date);
  if (asked.date < earliest) throw pastDate(day === undefined ? 'date' : 'time', asked.date, earliest);
  return asked;
}

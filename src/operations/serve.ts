import type { z } from 'zod';
import { Runs } from '../boards/runs.ts';
import { type Boards, monitorBoards } from '../boards/source.ts';
import { untilAborted, withTimeLimit } from '../core/clock.ts';
import { createConcurrencyLimit } from '../core/event-loop-turn.ts';
import type { Log } from '../core/log.ts';
import { ownText } from '../core/own-memory.ts';
import type { IdSigner } from '../core/signer.ts';
import { SingleFlight } from '../core/single-flight.ts';
import { type Ask, type AskOptions, MOST_WAITING, type Priority } from '../efa/ask.ts';
import { upstreamTimeout } from '../errors/messages.ts';
import { isEveryday, type LeftOutCounts } from '../transit/left-out.ts';
import { MODES } from '../transit/mode.ts';
import { createFinishedResponses, type FinishedResponse } from './finished-response.ts';
import type { FindContext, Finding, Operation, Pages } from './operation.ts';

type Query = Readonly<Record<string, unknown>>;

/** The caller that a request is for. */
export interface Requester {
  priority: Priority;
  /** Name of the account; absent for the service's own pages. */
  account?: string;
}

/** The callers that wait for a response, as calls to upstream name them. */
type Callers = Pick<Required<AskOptions>, 'priority' | 'accounts'>;

/** Runs operations and keeps their responses until they are out of date. */
export interface Responses extends Pick<ReturnType<typeof createFinishedResponses>, 'bytesOf'> {
  /** Returns the cached response, null on a miss. `key` is made by `queryKey`. */
  peek(key: string): FinishedResponse | null;
  /** Returns the cached response, on a miss a new one. */
  find<Schema extends z.ZodObject, Body extends object>(
    operation: Operation<Schema, Body>,
    query: z.output<Schema>,
    requester: Requester,
  ): Promise<FinishedResponse<Body>>;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Further accounts that wait for the same response are ignored; they would hardly change its place in the queue. */
const MAX_ACCOUNTS = 32;

/** Keys are equal for equal requests, however their queries were written. */
export function queryKey({ path }: Operation, query: Query): string {
  return ownText(`${path}?${JSON.stringify(query)}`);
}

/** Equal requests at the same time run their operation once. `deadlineMs` is how long a request waits. */
export function createResponses(options: {
  ask: Ask;
  boards?: Boards | undefined;
  runs?: Runs | undefined;
  now: () => Date;
  ids: IdSigner;
  deadlineMs: number;
  /** How many calls to upstream can be made in a second; unlimited unless given. */
  callsPerSecond?: number | undefined;
  log: Log<'warn' | 'debug'>;
  /** Counts the records that an operation left out, by reason. */
  countLeftOut?: (path: string, leftOut: LeftOutCounts) => void;
}): Responses {
  const {
    ask,
    boards = monitorBoards,
    now,
    ids,
    deadlineMs,
    log,
    countLeftOut,
    callsPerSecond = Number.POSITIVE_INFINITY,
  } = options;
  const clock = { now: () => now().getTime() };
  const { runs = new Runs(clock) } = options;
  const finished = createFinishedResponses({ maxBytes: MAX_BYTES, now: () => now().getTime() });
  /** Equal requests of a priority share one run of the operation, and the calls that it costs. */
  const flights = new SingleFlight<FinishedResponse, Set<string>>((accounts, newcomers) => {
    for (const account of newcomers) if (accounts.size < MAX_ACCOUNTS) accounts.add(account);
  }, Date.now);

  async function findAndKeep(operation: Operation, query: Query, key: string, waiting: Callers) {
    // More calls at once would be refused: an account may have only so many waiting, and none waits for more than three
    // seconds. With as many as are served in a second, further such requests fit.
    const limited = createConcurrencyLimit(Math.max(1, Math.min(MOST_WAITING[waiting.priority], callsPerSecond)));
    const contextUntil = (deadline: AbortSignal): FindContext => ({
      ask: askFor(waiting, deadline),
      accounts: waiting.accounts,
      boards,
      runs,
      now,
      ids,
      run: (other, otherQuery) => {
        const found = limited(async () => {
          if (deadline.aborted) throw upstreamTimeout(deadlineMs);
          return toFinding(await find(other, otherQuery, waiting));
        });
        // The other operation goes on after the deadline, because other requests may wait for it.
        return untilAborted(deadline, found, () => upstreamTimeout(deadlineMs));
      },
    });
    const { leftOut, ...finding } = await withTimeLimit(deadlineMs, (deadline) =>
      operation.find(query, contextUntil(deadline)),
    );
    if (leftOut) reportLeftOut(operation.path, leftOut);
    const link = finding.pages && linkHeader(operation, query, finding.pages);
    return finished.keep(key, finding, link);
  }

  function askFor({ priority, accounts }: Callers, deadline: AbortSignal): Ask {
    return (request, { signal, ...more }: AskOptions = {}) =>
      ask(request, { priority, accounts, ...more, signal: signal ? AbortSignal.any([deadline, signal]) : deadline });
  }

  function reportLeftOut(path: string, leftOut: LeftOutCounts): void {
    countLeftOut?.(path, leftOut);
    if (Object.keys(leftOut).length === 0) return;
    log[isEveryday(leftOut) ? 'debug' : 'warn']({ leftOut }, 'records of upstream left out');
  }

  async function find<Schema extends z.ZodObject, Body extends object>(
    operation: Operation<Schema, Body>,
    query: z.output<Schema>,
    waiting: Callers,
  ): Promise<FinishedResponse<Body>> {
    const key = queryKey(operation as Operation, query);
    const { priority, accounts } = waiting;
    const kept = finished.find(key);
    if (kept) return kept as FinishedResponse<Body>;
    const { result, isOurs } = flights.join(`${priority} ${key}`, new Set(accounts), (all) =>
      findAndKeep(operation as Operation, query, key, { priority, accounts: all }),
    );
    return (isOurs ? await result : joined(await result)) as FinishedResponse<Body>;
  }

  return {
    peek: finished.find,
    find(operation, query, { priority, account }) {
      return find(operation, query, { priority, accounts: new Set(account === undefined ? [] : [account]) });
    },
    bytesOf: finished.bytesOf,
  };
}

/** Returns a response as a part of another one. */
function toFinding<Body extends object>(response: FinishedResponse<Body>): Finding<Body> {
  const { body, freshness, validUntil, boards = [], notices = [] } = response;
  return { body: body.content(), freshness, changesAt: validUntil, boards, notices };
}

function joined(response: FinishedResponse): FinishedResponse {
  const { freshness } = response;
  return freshness.source === 'upstream' ? { ...response, freshness: { ...freshness, source: 'joined' } } : response;
}

/** The links of every response: description, documentation, status and the licence of the data. */
export const SERVICE_LINKS = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</docs>; rel="service-doc"; type="text/html"',
  '</status>; rel="status"',
  '<https://creativecommons.org/licenses/by/4.0/>; rel="license"',
].join(', ');

/** The whole `Link` header of a response with further pages. */
function linkHeader(
  { path, query: schema }: Pick<Operation, 'path' | 'query'>,
  query: Query,
  { prev, next }: Pages,
): string | undefined {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const usual = JSON.stringify(schema.shape[name]?.safeParse(undefined).data);
    if (name === 'cursor' || JSON.stringify(value) === usual) continue;
    for (const [part, text] of asWritten(name, value)) parameters.set(part, text);
  }
  const links = Object.entries({ prev, next }).flatMap(([rel, cursor]) =>
    cursor ? `<${path}?${parameters}&cursor=${cursor}>; rel="${rel}"` : [],
  );
  return links.length > 0 ? [SERVICE_LINKS, ...links].join(', ') : undefined;
}

/** A value as a caller would write it. */
function asWritten(name: string, value: unknown): [name: string, text: string][] {
  // Date and time in one are read as ISO 8601 only.
  const [date, time] = name === 'time' ? String(value).split('T') : [];
  if (date && time)
    return [
      ['date', date],
      ['time', time],
    ];
  const isAll = name === 'modes' && Array.isArray(value) && value.length === MODES.length;
  return [[name, isAll ? 'all' : String(value)]];
}

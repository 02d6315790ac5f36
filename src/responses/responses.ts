import type { z } from 'zod';
import { type Ask, type AskOptions, MOST_WAITING, type Priority } from '../efa/ask.ts';
import { isEveryday, type LeftOutCounts } from '../efa/response/record.ts';
import { upstreamTimeout } from '../errors/messages.ts';
import { type Boards, monitorBoards } from '../live/boards/boards.ts';
import type { FindContext, Finding, Operation } from '../operation.ts';
import { ownText } from '../own-memory.ts';
import { startTimeLimit } from '../time-limit.ts';
import { createFinishedResponses, type FinishedResponse, type FinishedResponses } from './finished-response.ts';

type Query = Readonly<Record<string, unknown>>;

/** The caller for whom an answer is found. */
export interface Requester {
  priority: Priority;
  /** Name of the account; absent for the service's own pages. */
  account?: string;
}

/** The callers for whom the authority is asked. */
interface Asker {
  priority: Priority;
  accounts: ReadonlySet<string>;
}

/** A finding that is not finished, and the accounts that wait for it. */
interface Underway {
  found: Promise<FinishedResponse>;
  accounts: Set<string>;
}

/** Responses of operations, found once and kept for as long as they say what is true. */
export interface Responses extends Pick<FinishedResponses, 'bytesOf' | 'shrink'> {
  /** The kept answer, if there is one for this requester; `key` as `queryKey` makes it. */
  peek(key: string, requester: Requester): FinishedResponse | null;
  /** The kept answer, else a new one. */
  find<Schema extends z.ZodObject, Body extends object>(
    operation: Operation<Schema, Body>,
    query: z.output<Schema>,
    requester: Requester,
  ): Promise<FinishedResponse<Body>>;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Further accounts that wait for the same finding are ignored; they would hardly change its place in line. */
const MAX_ACCOUNTS = 32;

/** Equal for queries that ask for the same, however they were written. */
export function queryKey({ path }: Operation, query: Query): string {
  return ownText(`${path}?${JSON.stringify(query)}`);
}

/** Runs operations, each question once at a time. `deadlineMs` is how long a request waits. */
export function createResponses(options: {
  ask: Ask;
  boards?: Boards;
  now: () => Date;
  deadlineMs: number;
  /** How many calls of the authority can be made in a second; unlimited unless given. */
  callsPerSecond?: number;
  log: Record<'warn' | 'debug', (fields: object, message: string) => void>;
  /** Is given the records that an operation left out, by reason. */
  countLeftOut?: (path: string, leftOut: LeftOutCounts) => void;
}): Responses {
  const { ask, boards = monitorBoards, now, deadlineMs, log, countLeftOut } = options;
  const { callsPerSecond = Number.POSITIVE_INFINITY } = options;
  const finished = createFinishedResponses({ maxBytes: MAX_BYTES, now: () => now().getTime() });
  const underWay = new Map<string, Underway>();

  /** One finding at a time for equal requests of a priority. All of them share the calls that it costs. */
  async function findOnce(operation: Operation, query: Query, key: string, { priority, accounts }: Asker) {
    const name = `${priority} ${key}`;
    const shared = underWay.get(name);
    if (shared) {
      for (const account of accounts) if (shared.accounts.size < MAX_ACCOUNTS) shared.accounts.add(account);
      return joined(await shared.found);
    }
    const asker = { priority, accounts: new Set(accounts) };
    const found = findAndKeep(operation, query, key, asker).finally(() => underWay.delete(name));
    underWay.set(name, { found, accounts: asker.accounts });
    return found;
  }

  async function findAndKeep(operation: Operation, query: Query, key: string, asker: Asker) {
    // More questions at once would be refused, because an account may have so many waiting, and because none waits for
    // more than two seconds: with as many as are served in a second, there is room for two such requests more.
    const limited = createConcurrencyLimit(Math.max(1, Math.min(MOST_WAITING[asker.priority], callsPerSecond)));
    const limit = startTimeLimit(deadlineMs);
    const deadline = limit.signal;
    const context: FindContext = {
      ask: askFor(asker, deadline),
      boards,
      now,
      run: (other, otherQuery) => {
        const found = limited(async () => {
          if (deadline.aborted) throw upstreamTimeout(deadlineMs);
          return toFinding(await find(other, otherQuery, asker));
        });
        return until(deadline, found);
      },
    };
    const { leftOut, ...finding } = await operation.find(query, context).finally(limit.clear);
    if (leftOut) reportLeftOut(operation.path, leftOut);
    return finished.keep(key, asker.priority, finding);
  }

  /** The answer of the other operation may come later, for other requests. */
  async function until<Result>(deadline: AbortSignal, result: Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const giveUp = () => reject(upstreamTimeout(deadlineMs));
    deadline.addEventListener('abort', giveUp, { once: true });
    result.then(resolve, reject).finally(() => deadline.removeEventListener('abort', giveUp));
    return promise;
  }

  function askFor({ priority, accounts }: Asker, deadline: AbortSignal): Ask {
    return (request, { signal, ...more }: AskOptions = {}) =>
      ask(request, { priority, accounts, ...more, signal: signal ? AbortSignal.any([deadline, signal]) : deadline });
  }

  function reportLeftOut(path: string, leftOut: LeftOutCounts): void {
    countLeftOut?.(path, leftOut);
    if (Object.keys(leftOut).length === 0) return;
    log[isEveryday(leftOut) ? 'debug' : 'warn']({ leftOut }, 'records of the authority left out');
  }

  async function find<Schema extends z.ZodObject, Body extends object>(
    operation: Operation<Schema, Body>,
    query: z.output<Schema>,
    asker: Asker,
  ): Promise<FinishedResponse<Body>> {
    const key = queryKey(operation as Operation, query);
    const response = finished.find(key, asker.priority) ?? (await findOnce(operation as Operation, query, key, asker));
    return response as FinishedResponse<Body>;
  }

  return {
    peek: (key, { priority }) => finished.find(key, priority),
    find(operation, query, { priority, account }) {
      return find(operation, query, { priority, accounts: new Set(account === undefined ? [] : [account]) });
    },
    bytesOf: finished.bytesOf,
    shrink: finished.shrink,
  };
}

/** The answer as a part of another one. */
function toFinding<Body extends object>(response: FinishedResponse<Body>): Finding<Body> {
  const { body, freshness, validUntil, boards = [] } = response;
  return { body: body.content(), freshness, changesAt: validUntil, boards };
}

function joined(response: FinishedResponse): FinishedResponse {
  const { freshness } = response;
  return freshness.source === 'upstream' ? { ...response, freshness: { ...freshness, source: 'joined' } } : response;
}

/** Runs work, at most so much of it at the same time. The rest waits in order. */
type ConcurrencyLimit = <Result>(work: () => Promise<Result>) => Promise<Result>;

function createConcurrencyLimit(most: number): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The next work takes the place of this one.
      if (next) next();
      else running--;
    }
  };
}

import type { z } from 'zod';
import type { Ask, AskOptions, Priority } from '../efa/ask.ts';
import { isEveryday, type LeftOutCounts } from '../efa/record.ts';
import type { FindContext, Operation } from '../operation.ts';
import { type Counter, countMany } from '../telemetry/instruments.ts';
import { createFinishedAnswers, type FinishedAnswer, type FinishedAnswers } from './finished-answer.ts';

type Query = Readonly<Record<string, unknown>>;

/** On whose behalf an answer is found. */
export interface Requester {
  priority: Priority;
}

/** Answers of operations, found once and kept for as long as they say what is true. */
export interface Answers extends Pick<FinishedAnswers, 'bytesOf'> {
  /** The kept answer, if there is one for this requester; `key` as `queryKey` makes it. */
  peek(key: string, requester: Requester): FinishedAnswer | null;
  /** The kept answer, else a new one. */
  find<Schema extends z.ZodObject, Body extends object>(
    operation: Operation<Schema, Body>,
    query: z.output<Schema>,
    requester: Requester,
  ): Promise<FinishedAnswer<Body>>;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** Equal for queries that ask for the same, however they were written. */
export function queryKey({ path }: Operation, query: Query): string {
  return `${path}?${JSON.stringify(query)}`;
}

/** Runs operations, each question once at a time. `deadlineMs` is how long a request waits. */
export function createAnswers(options: {
  ask: Ask;
  now: () => Date;
  deadlineMs: number;
  log: Record<'warn' | 'debug', (fields: object, message: string) => void>;
  /** Counts by operation and reason. */
  leftOutRecords: Counter;
}): Answers {
  const { ask, now, deadlineMs, log } = options;
  const finished = createFinishedAnswers({ maxBytes: MAX_BYTES, now: () => now().getTime() });
  const underWay = new Map<string, Promise<FinishedAnswer>>();

  /** One finding for equal requests at the same time; the others share the calls that it costs. */
  async function findOnce(operation: Operation, query: Query, key: string, requester: Requester) {
    const name = `${requester.priority} ${key}`;
    const shared = underWay.get(name);
    if (shared) return joined(await shared);
    const found = findAndKeep(operation, query, key, requester).finally(() => underWay.delete(name));
    underWay.set(name, found);
    return found;
  }

  async function findAndKeep(operation: Operation, query: Query, key: string, requester: Requester) {
    const context: FindContext = { ask: askFor(requester, AbortSignal.timeout(deadlineMs)), now };
    const { leftOut, ...finding } = await operation.find(query, context);
    if (leftOut) reportLeftOut(operation.path, leftOut);
    return finished.keep(key, requester.priority, finding);
  }

  function askFor({ priority }: Requester, deadline: AbortSignal): Ask {
    return (question, { signal, ...more }: AskOptions = {}) =>
      ask(question, { priority, ...more, signal: signal ? AbortSignal.any([deadline, signal]) : deadline });
  }

  function reportLeftOut(path: string, leftOut: LeftOutCounts): void {
    countMany(options.leftOutRecords, path, leftOut);
    if (Object.keys(leftOut).length === 0) return;
    log[isEveryday(leftOut) ? 'debug' : 'warn']({ leftOut }, 'records of the authority left out');
  }

  return {
    peek: (key, { priority }) => finished.find(key, priority),
    async find<Schema extends z.ZodObject, Body extends object>(
      operation: Operation<Schema, Body>,
      query: z.output<Schema>,
      requester: Requester,
    ) {
      const key = queryKey(operation as Operation, query);
      const answer =
        finished.find(key, requester.priority) ?? (await findOnce(operation as Operation, query, key, requester));
      return answer as FinishedAnswer<Body>;
    },
    bytesOf: finished.bytesOf,
  };
}

function joined(answer: FinishedAnswer): FinishedAnswer {
  const { freshness } = answer;
  return freshness.source === 'upstream' ? { ...answer, freshness: { ...freshness, source: 'joined' } } : answer;
}

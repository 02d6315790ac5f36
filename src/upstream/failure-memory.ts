import { LRUCache } from 'lru-cache';
import { MINUTE_MS } from '../clock.ts';
import { blameOf } from '../efa/failure.ts';
import type { UpstreamRequest } from '../efa/request.ts';
import type { ApiError } from '../errors/api-error.ts';
import { hashOf } from './question-hash.ts';

/** Remembers which requests failed, so that they are answered with their error and not asked again for a while. */
export interface FailureMemory {
  /** The error with which the request is answered for now. */
  find(key: string): ApiError | null;
  note(kind: UpstreamRequest['kind'], key: string, error: ApiError): void;
  noteSuccess(kind: UpstreamRequest['kind'], key: string): void;
}

/** The pause of a request doubles with each failure. Where upstream is at fault, it stays as it is at first. */
const FIRST_PAUSE_MS = 1000;
/** While it is unclear whether the request is at fault: short, so that responses are fresh soon after an outage. */
const MAX_UNCLEAR_PAUSE_MS = 4000;
/** While the request is at fault. */
const MAX_PAUSE_MS = MINUTE_MS;
/** A request that has not failed for so long begins again with the first pause. */
const FORGET_MS = 3 * MINUTE_MS;
const MAX_FAILURES = 2000;

interface Failure {
  error: ApiError;
  at: number;
  pauseMs: number;
}

export function createFailureMemory({ now }: { now: () => number }): FailureMemory {
  const failures = new LRUCache<string, Failure>({
    max: MAX_FAILURES,
    ttl: FORGET_MS,
    ttlResolution: 0,
    perf: { now },
  });
  const lastSuccess = new Map<UpstreamRequest['kind'], number>();

  function pauseAfter(kind: UpstreamRequest['kind'], before: Failure | undefined, error: ApiError): number {
    const blame = blameOf(error);
    if (!before || blame === 'authority') return FIRST_PAUSE_MS;
    // Other requests of the kind were answered since the failure before: it must be this request.
    const isAtFault = blame === 'question' || (lastSuccess.get(kind) ?? Number.NEGATIVE_INFINITY) > before.at;
    return Math.min(isAtFault ? MAX_PAUSE_MS : MAX_UNCLEAR_PAUSE_MS, 2 * before.pauseMs);
  }

  return {
    find(key) {
      const failure = failures.size > 0 ? failures.get(hashOf(key)) : undefined;
      return failure && failure.at <= now() && now() < failure.at + failure.pauseMs ? failure.error : null;
    },
    note(kind, key, error) {
      const hash = hashOf(key);
      failures.set(hash, { error, at: now(), pauseMs: pauseAfter(kind, failures.get(hash), error) });
    },
    noteSuccess(kind, key) {
      lastSuccess.set(kind, now());
      if (failures.size > 0) failures.delete(hashOf(key));
    },
  };
}

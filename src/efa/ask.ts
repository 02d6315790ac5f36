import type { Freshness } from '../transit/freshness.ts';
import type { PayloadOf, Question } from './question.ts';

/** What the authority answered, and when. */
export interface EfaAnswer<Payload> {
  payload: Payload;
  retrievedAt: Date;
  /** Set by layers that keep answers; absent when the answer came straight from the authority. */
  freshness?: Freshness;
}

/** How urgent a call is, from checks in the background to callers served first. */
export const PRIORITIES = ['background', 'low', 'normal', 'high'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** For the layers that ration calls; the client itself heeds the signal only. */
export interface AskOptions {
  /** `low` unless given. */
  priority?: Priority;
  /** What the call is for; set next to the authority, for the metrics. */
  purpose?: string;
  /** Gives up waiting; a call that others wait for goes on. */
  signal?: AbortSignal;
}

/**
 * The one verb: asks the authority a question. Layers of protection wrap this function and hand the question through
 * unchanged. Rejects with `ApiError` (502, 503, 504) and nothing else.
 */
export type Ask = <Asked extends Question>(
  question: Asked,
  options?: AskOptions,
) => Promise<EfaAnswer<PayloadOf<Asked>>>;

export function isHigher(one: Priority, other: Priority): boolean {
  return PRIORITIES.indexOf(one) > PRIORITIES.indexOf(other);
}

import { type Freshness, freshnessOf } from '../transit/freshness.ts';
import type { PayloadOf, UpstreamRequest } from './request.ts';

/** A response of upstream, and the moment at which it came. */
export interface UpstreamResponse<Payload> {
  payload: Payload;
  retrievedAt: Date;
  /** Set by layers that keep responses; absent when the response came straight from upstream. */
  freshness?: Freshness;
}

/** A response as it came from upstream. `json` is its text in UTF-8, which caches keep. */
export interface ReceivedResponse<Payload> extends UpstreamResponse<Payload> {
  json: Buffer;
}

/** How urgent a call is, the least urgent first: background work, the three priorities of plans, feeds and files. */
export const PRIORITIES = ['background', 'low', 'normal', 'high', 'feed'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Why no request gets calls. `spent`: the day allows no more so far; `refused`: upstream refuses all keys. */
export const SHORTAGES = ['spent', 'refused'] as const;
export type Shortage = (typeof SHORTAGES)[number];

/** How many requests of one account may wait for a call at the same time. */
export const MOST_WAITING: Readonly<Record<Priority, number>> = {
  background: Number.POSITIVE_INFINITY,
  low: 2,
  normal: 8,
  high: 32,
  feed: Number.POSITIVE_INFINITY,
};

/** For the layers that ration calls; the client itself uses the signal only. */
export interface AskOptions {
  /** `low` unless given. */
  priority?: Priority;
  /** Names of the accounts that wait for the response. Accounts may join while the request is on its way. */
  accounts?: ReadonlySet<string>;
  /** Ends the waiting. A call that other requests wait for goes on. */
  signal?: AbortSignal;
}

/**
 * Sends upstream a request. The layers of `upstream/` wrap this function and pass the request on unchanged.
 * Rejects only with `ApiError` (502, 503, 504).
 */
export type Ask = <Asked extends UpstreamRequest>(
  request: Asked,
  options?: AskOptions,
) => Promise<UpstreamResponse<PayloadOf<Asked>>>;

/** `Ask` of the client, next to upstream. */
export type AskAuthority = <Asked extends UpstreamRequest>(
  request: Asked,
  options?: AskOptions,
) => Promise<ReceivedResponse<PayloadOf<Asked>>>;

/**
 * `ask` that tells others of each response that a call brought, in this order; those of the cache they have heard of. What they
 * learn from it is known before the caller goes on.
 */
export function tellOfCalls(
  ask: Ask,
  ...listeners: ((request: UpstreamRequest, response: UpstreamResponse<unknown>) => void | Promise<void>)[]
): Ask {
  return async (request, options) => {
    const response = await ask(request, options);
    if (freshnessOf(response).source === 'upstream') for (const tell of listeners) await tell(request, response);
    return response;
  };
}

export function isHigher(one: Priority, other: Priority): boolean {
  return PRIORITIES.indexOf(one) > PRIORITIES.indexOf(other);
}

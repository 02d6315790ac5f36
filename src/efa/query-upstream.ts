import type { Priority } from '../core/turn-queue.ts';
import { type Freshness, freshnessOf } from '../transit/freshness.ts';
import type { PayloadOf, UpstreamRequest } from './request.ts';

/** An upstream response and when it arrived. */
export interface UpstreamResponse<Payload> {
  payload: Payload;
  /** In milliseconds since 1970. */
  retrievedAt: number;
  /** Set by layers that cache responses; absent if the response came straight from upstream. */
  freshness?: Freshness;
}

/** A response as received. `json` is its UTF-8 text, which caches store. */
export interface ReceivedResponse<Payload> extends UpstreamResponse<Payload> {
  json: Buffer;
}

/** Why requests get no calls. `spent`: the day allows no more for now; `refused`: upstream refuses all keys. */
export const SHORTAGES = ['spent', 'refused'] as const;
export type Shortage = (typeof SHORTAGES)[number];

/** Options for the layers that limit calls; the client itself uses only the signal. */
export interface QueryOptions {
  /** Default `low`. */
  priority?: Priority;
  /** The accounts waiting for the response. Others may join while the request is in flight. */
  accounts?: ReadonlySet<string>;
  /** Ends the wait. A call needed by other requests continues. */
  signal?: AbortSignal;
}

/**
 * Sends a request to upstream. The layers of `upstream/` wrap this function and pass the request on unchanged. Rejects only
 * with `ApiError` (502, 503, 504).
 */
export type QueryUpstream = <Requested extends UpstreamRequest>(
  request: Requested,
  options?: QueryOptions,
) => Promise<UpstreamResponse<PayloadOf<Requested>>>;

/** The client's own `QueryUpstream`, closest to upstream. */
export type CallUpstream = <Requested extends UpstreamRequest>(
  request: Requested,
  options?: QueryOptions,
) => Promise<ReceivedResponse<PayloadOf<Requested>>>;

/**
 * Wraps `queryUpstream` to notify listeners, in order, of each response from a call, but not of cached ones. They finish before
 * the caller continues.
 */
export function notifyOfCalls(
  queryUpstream: QueryUpstream,
  ...listeners: ((request: UpstreamRequest, response: UpstreamResponse<unknown>) => void | Promise<void>)[]
): QueryUpstream {
  return async (request, options) => {
    const response = await queryUpstream(request, options);
    if (freshnessOf(response).source === 'upstream') for (const tell of listeners) await tell(request, response);
    return response;
  };
}

import type { Ask } from '../efa/ask.ts';
import { ApiError } from '../errors/api-error.ts';
import { freshnessOf } from '../transit/freshness.ts';

/** `ask` for a limited number of calls. */
export interface LimitedAsk {
  /** Fails when no call is left. Responses from the cache or from another request's call are not counted. */
  ask: Ask;
  callsLeft(): number;
}

export function limitCalls(ask: Ask, mostCalls: number): LimitedAsk {
  let callsLeft = mostCalls;
  return {
    callsLeft: () => callsLeft,
    async ask(request, options) {
      if (callsLeft <= 0) {
        throw new ApiError('UPSTREAM_UNAVAILABLE', 'This request may not cost more calls of the transport authority.');
      }
      callsLeft--;
      const response = await ask(request, options);
      if (freshnessOf(response).source !== 'upstream') callsLeft++;
      return response;
    },
  };
}

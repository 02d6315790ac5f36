import type { FastifyRequest } from 'fastify';
import { clientNetwork } from '../access/limits/client-network.ts';
import { createTokenBuckets, type Rate } from '../access/limits/token-buckets.ts';
import { tooManyPages } from '../errors/messages.ts';

/** A page with its styles, scripts and pictures is up to thirty requests. */
const PAGE_RATE: Rate = { perSecond: 30, burst: 100 };

/** Throws 429 when the client's network has requested too much without a key: pages, their assets and the description. */
export function createPageLimit(now: () => Date, rate = PAGE_RATE) {
  const buckets = createTokenBuckets(rate, now);
  // One for all, because an error with a stack costs more than the rest of a refusal.
  const refusal = tooManyPages(rate);
  return async ({ ip }: FastifyRequest): Promise<void> => {
    if (!buckets.take(clientNetwork(ip))) throw refusal;
  };
}

import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientNetwork } from '../access/limits/client-network.ts';
import { createTokenBuckets, type Rate } from '../access/limits/token-buckets.ts';
import { tooManyPages } from '../errors/messages.ts';

/** The limit of a client network for requests without a valid key. */
export interface NetworkOptions extends Rate {
  /** How long a refusal beyond the limit is delayed; each hundred delayed refusals add the same time again. */
  holdMs: number;
  /** Maximum number of refusals delayed at the same time. */
  maxHeld: number;
}

/** The limit that the service uses. A page makes up to thirty requests. */
export const NETWORK_LIMIT: NetworkOptions = { perSecond: 30, burst: 100, holdMs: 1000, maxHeld: 1000 };

const HELD_AT_A_TIME = 100;

export type NetworkLimit = ReturnType<typeof createNetworkLimit>;

/**
 * One token bucket per client network. Pages and refusals take one token each. Beyond the limit, pages are refused and refusals
 * are delayed: a client that waits for responses makes one request a second per connection, and a hundred a second in total.
 * Refusals that cannot be delayed are sent at once and the connection is closed.
 */
export function createNetworkLimit(
  limit: NetworkOptions,
  { now, sleep }: { now: () => number; sleep: (ms: number) => Promise<unknown> },
) {
  const buckets = createTokenBuckets(now);
  /** Delayed refusals, one per connection, so that a client cannot send many requests without reading the responses. */
  const held = new Map<Socket, () => void>();
  // Shared, because creating an error with a stack costs more than the rest of a refusal.
  const refusal = tooManyPages(limit);
  const isWithin = (ip: string) => buckets.spend(clientNetwork(ip), limit);

  async function hold(socket: Socket, send: () => void): Promise<void> {
    held.set(socket, send);
    await sleep(limit.holdMs * Math.ceil(held.size / HELD_AT_A_TIME));
    if (held.get(socket) === send) finish(socket, send);
  }

  function finish(socket: Socket, send: () => void): void {
    held.delete(socket);
    if (!socket.destroyed) send();
  }

  return {
    /** For pages, their assets and the API description. Throws 429 beyond the limit. */
    limitPages: async ({ ip }: FastifyRequest): Promise<void> => {
      if (!isWithin(ip)) throw refusal;
    },
    /** Calls `send` for a refusal now or later; never if the client has gone. */
    refuse({ ip, raw: { socket } }: FastifyRequest, reply: FastifyReply, send: () => void): void {
      const isAtOnce = isWithin(ip);
      if (!isAtOnce && held.size < limit.maxHeld && !held.has(socket)) {
        hold(socket, send);
        return;
      }
      if (!isAtOnce) reply.header('connection', 'close');
      send();
    },
    /** Sends all delayed refusals. */
    release(): void {
      for (const [socket, send] of held) finish(socket, send);
    },
  };
}

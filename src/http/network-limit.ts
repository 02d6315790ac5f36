import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientNetwork } from '../access/limits/client-network.ts';
import { createTokenBuckets, type Rate } from '../access/limits/token-buckets.ts';
import { tooManyPages } from '../errors/messages.ts';

/** The limit of one client network for requests without a valid key. */
export interface NetworkOptions extends Rate {
  /** A refusal beyond the limit is held for so long, and as much longer for each further hundred that are held. */
  holdMs: number;
  /** So many are held at the same time. */
  maxHeld: number;
}

/** A page is up to thirty requests. */
export const NETWORK_LIMIT: NetworkOptions = { perSecond: 30, burst: 100, holdMs: 1000, maxHeld: 1000 };

const HELD_AT_A_TIME = 100;

export type NetworkLimit = ReturnType<typeof createNetworkLimit>;

/**
 * One token bucket for each client network. Pages and refusals take a token each. Beyond the limit pages are refused, and refusals
 * are sent late: a client that waits for its response makes one request a second on each connection, and a hundred a second on all of them.
 * What cannot be held is sent at once and the connection closed.
 */
export function createNetworkLimit(
  limit: NetworkOptions,
  { now, sleep }: { now: () => Date; sleep: (ms: number) => Promise<unknown> },
) {
  const buckets = createTokenBuckets(now);
  /** One for each connection, so that a client cannot send any number of requests without reading the responses. */
  const held = new Map<Socket, () => void>();
  // One for all, because an error with a stack costs more than the rest of a refusal.
  const refusal = tooManyPages(limit);
  const isWithin = (ip: string) => buckets.take(clientNetwork(ip), limit);

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
    /** For pages, their assets and the description. Throws 429 beyond the limit. */
    limitPages: async ({ ip }: FastifyRequest): Promise<void> => {
      if (!isWithin(ip)) throw refusal;
    },
    /** Calls `send` with a refusal now or later, or never when the client has gone. */
    refuse({ ip, raw: { socket } }: FastifyRequest, reply: FastifyReply, send: () => void): void {
      const isAtOnce = isWithin(ip);
      if (!isAtOnce && held.size < limit.maxHeld && !held.has(socket)) {
        hold(socket, send);
        return;
      }
      if (!isAtOnce) reply.header('connection', 'close');
      send();
    },
    /** Sends all that are held. */
    release(): void {
      for (const [socket, send] of held) finish(socket, send);
    },
  };
}

import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientNetwork } from '../../access/limits/client-network.ts';
import { createTokenBuckets, type Rate } from '../../access/limits/token-buckets.ts';

export interface RefusalLimits extends Rate {
  /** For so long a refusal beyond the rate is held, and as much longer for each further hundred that are held. */
  holdMs: number;
  /** So many are held at the same time. */
  maxHeld: number;
}

/** `perSecond` and `burst` are for one client network. */
export const REFUSAL_LIMITS: RefusalLimits = { perSecond: 50, burst: 200, holdMs: 1000, maxHeld: 1000 };

const HELD_AT_A_TIME = 100;

/** Refuses requests; a client network that is refused all the time gets its refusals late, and so sends fewer requests. */
export interface HeldRefusals {
  /** Calls `send` now or later, or never when the client has gone. */
  refuse(request: FastifyRequest, reply: FastifyReply, send: () => void): void;
  /** Sends all that are held. */
  release(): void;
}

/**
 * A client that waits for a response before it asks again is slowed down to one request a second and connection, and to
 * a hundred a second over all its connections. What cannot be held is answered at once and the connection closed: each
 * further request then costs the client a new one.
 */
export function createHeldRefusals(options: {
  limits: RefusalLimits;
  now: () => Date;
  sleep: (ms: number) => Promise<unknown>;
}): HeldRefusals {
  const { limits, now, sleep } = options;
  const buckets = createTokenBuckets(limits, now);
  /** One for each connection, so that a client cannot send any number of requests without reading the answers. */
  const held = new Map<Socket, () => void>();

  async function hold(socket: Socket, send: () => void): Promise<void> {
    held.set(socket, send);
    await sleep(limits.holdMs * Math.ceil(held.size / HELD_AT_A_TIME));
    if (held.get(socket) === send) finish(socket, send);
  }

  function finish(socket: Socket, send: () => void): void {
    held.delete(socket);
    if (!socket.destroyed) send();
  }

  return {
    refuse({ ip, raw: { socket } }, reply, send) {
      if (buckets.take(clientNetwork(ip))) return send();
      if (held.size < limits.maxHeld && !held.has(socket)) {
        hold(socket, send);
        return;
      }
      reply.header('connection', 'close');
      send();
    },
    release() {
      for (const [socket, send] of held) finish(socket, send);
    },
  };
}

import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientNetwork } from '../../access/limits/client-network.ts';
import type { TokenBuckets } from '../../access/limits/token-buckets.ts';

export const HELD_REFUSALS = {
  /** For so long a refusal beyond the limit of the network is held, and as much longer for each further hundred that are held. */
  holdMs: 1000,
  /** So many are held at the same time. */
  maxHeld: 1000,
};

const HELD_AT_A_TIME = 100;

/**
 * Refuses requests; a client network that is refused all the time gets its refusals late. A client that waits for a
 * response before it asks again is slowed down to one request a second and connection, and to a hundred a second over all
 * its connections. What cannot be held is answered at once and the connection closed: each further request then costs the
 * client a new one.
 */
export class HeldRefusals {
  readonly #limits: typeof HELD_REFUSALS;
  readonly #sleep: (ms: number) => Promise<unknown>;
  readonly #networks: TokenBuckets;
  /** One for each connection, so that a client cannot send any number of requests without reading the responses. */
  readonly #held = new Map<Socket, () => void>();

  constructor(
    limits: typeof HELD_REFUSALS,
    { networks, sleep }: { networks: TokenBuckets; sleep: (ms: number) => Promise<unknown> },
  ) {
    this.#limits = limits;
    this.#sleep = sleep;
    this.#networks = networks;
  }

  /** Calls `send` now or later, or never when the client has gone. */
  refuse({ ip, raw: { socket } }: FastifyRequest, reply: FastifyReply, send: () => void): void {
    if (this.#networks.take(clientNetwork(ip))) {
      send();
    } else if (this.#held.size < this.#limits.maxHeld && !this.#held.has(socket)) {
      this.#hold(socket, send);
    } else {
      reply.header('connection', 'close');
      send();
    }
  }

  /** Sends all that are held. */
  release(): void {
    for (const [socket, send] of this.#held) this.#finish(socket, send);
  }

  async #hold(socket: Socket, send: () => void): Promise<void> {
    this.#held.set(socket, send);
    await this.#sleep(this.#limits.holdMs * Math.ceil(this.#held.size / HELD_AT_A_TIME));
    if (this.#held.get(socket) === send) this.#finish(socket, send);
  }

  #finish(socket: Socket, send: () => void): void {
    this.#held.delete(socket);
    if (!socket.destroyed) send();
  }
}

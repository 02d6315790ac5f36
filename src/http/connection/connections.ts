import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { clientNetwork } from '../../access/limits/client-network.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { tooManyConnections } from '../../errors/messages.ts';
import { sendError } from '../send-error.ts';
import type { IsProxy } from './trusted-proxies.ts';

/** The open connections of a server, and how far the latest request of each has come. */
export class Connections {
  readonly open = new Set<Socket>();
  readonly #latest = new Map<Socket, ServerResponse>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.open.add(socket);
      socket.once('close', () => {
        this.open.delete(socket);
        this.#latest.delete(socket);
      });
    });
    server.on('request', (request, response) => {
      this.#latest.set(request.socket, response);
    });
    // Node starts the time anew while a client takes some of what is written to it, however slowly.
    server.on('timeout', (socket: Socket) => {
      const isResponseToCome = this.isBeingAnswered(socket) && socket.writableLength === 0;
      if (!isResponseToCome) socket.destroy();
    });
  }

  /** Whether its latest request has arrived whole and is not answered yet. */
  isBeingAnswered(socket: Socket): boolean {
    const response = this.#latest.get(socket);
    return response?.req.complete === true && !response.writableFinished;
  }

  /** Whether a response written to it now is taken for the response to the message that the client is sending. */
  canBeAnswered(socket: Socket): boolean {
    const response = this.#latest.get(socket);
    if (!socket.writable) return false;
    return !response?.headersSent || (response.req.complete && response.writableFinished);
  }
}

export interface ConnectionLimits {
  /** Open connections in all. */
  max: number;
  /** Open connections of one address; of one /64 in IPv6. */
  maxPerAddress: number;
}

const DEFAULT_MAX = 10_000;
const DEFAULT_MAX_PER_ADDRESS = 1000;
/** The share of the file descriptors that connections may take; the rest is for files, upstream and Redis. */
const SHARE_OF_DESCRIPTORS = 0.8;
/** So many connections above `max` are taken to be answered; those beyond are closed unanswered. */
const SPARE_SHARE = 0.1;
/** A connection above a limit may send its request for so long, to be answered 503. */
const REFUSED_MS = 1000;
const QUIET_MS = MINUTE_MS;

/** The limits where they are not configured: as many connections as the process may open files, within reason. */
export function defaultConnectionLimits(
  { max, maxPerAddress }: Partial<ConnectionLimits>,
  descriptors: number,
): ConnectionLimits {
  const all = max ?? Math.min(DEFAULT_MAX, Math.floor(descriptors * SHARE_OF_DESCRIPTORS));
  return { max: all, maxPerAddress: maxPerAddress ?? Math.min(DEFAULT_MAX_PER_ADDRESS, Math.ceil(all / 4)) };
}

/** Bounds the open connections: above a limit the first request of a connection is answered 503 unless it is a probe, and it is closed. */
export const connectionLimits = fp(
  async (
    app: FastifyInstance,
    options: ConnectionLimits & { connections: Connections; isProxy: IsProxy; docsUrl: string },
  ) => {
    const { max, maxPerAddress, connections, isProxy, docsUrl } = options;
    const countOf = new Map<string, number>();
    const refused = new Map<Socket, 'in all' | 'from your address'>();
    let isQuiet = false;
    app.server.maxConnections = max + Math.ceil(max * SPARE_SHARE);

    app.server.on('connection', (socket: Socket) => {
      const network = networkOf(socket);
      if (network !== null && (countOf.get(network) ?? 0) >= maxPerAddress) refuse(socket, 'from your address');
      else if (connections.open.size - refused.size > max) refuse(socket, 'in all');
      else if (network !== null) count(socket, network);
    });
    app.server.on('drop', () => warn('in all'));
    app.addHook('onRequest', (request, reply, done) => {
      const reason = refused.size > 0 && refused.get(request.raw.socket);
      if (!reason) return done();
      reply.header('connection', 'close');
      // A probe asks about the process: restarted, it would have as many connections soon.
      if (request.routeOptions.config.servesUnderPressure) done();
      else sendError(tooManyConnections(reason), request, reply, docsUrl);
    });

    /** Null for a proxy: it brings the connections of many clients. */
    function networkOf({ remoteAddress = '' }: Socket): string | null {
      return isProxy(remoteAddress, 0) ? null : clientNetwork(remoteAddress);
    }

    function count(socket: Socket, network: string): void {
      countOf.set(network, (countOf.get(network) ?? 0) + 1);
      socket.once('close', () => {
        const left = (countOf.get(network) ?? 1) - 1;
        if (left > 0) countOf.set(network, left);
        else countOf.delete(network);
      });
    }

    function refuse(socket: Socket, reason: 'in all' | 'from your address'): void {
      warn(reason);
      refused.set(socket, reason);
      const timer = setTimeout(() => socket.destroy(), REFUSED_MS).unref();
      socket.once('close', () => {
        clearTimeout(timer);
        refused.delete(socket);
      });
    }

    function warn(reason: string): void {
      if (isQuiet) return;
      isQuiet = true;
      setTimeout(() => {
        isQuiet = false;
      }, QUIET_MS).unref();
      app.log.warn({ reason, open: connections.open.size }, 'connections are refused; logged once a minute');
    }
  },
  { name: 'connection-limits' },
);

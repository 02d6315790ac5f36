import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { clientNetwork } from '../../access/limits/client-network.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { tooManyConnections } from '../../errors/messages.ts';
import { sendError } from '../send-error.ts';
import type { IsProxy } from './trusted-proxies.ts';

const LATEST = Symbol('latest response');
/** A connection with the response to its latest request. */
type AnsweredSocket = Socket & { [LATEST]?: ServerResponse };

/** The open connections of a server, and the progress of each one's latest request. */
export class Connections {
  readonly open = new Set<Socket>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.open.add(socket);
      socket.once('close', () => this.open.delete(socket));
    });
    server.on('request', (request, response) => {
      (request.socket as AnsweredSocket)[LATEST] = response;
    });
    // Node restarts its timeout whenever a client reads some of a response, however slowly.
    server.on('timeout', (socket: Socket) => {
      const isAwaitingResponse = this.isBeingAnswered(socket) && socket.writableLength === 0;
      if (!isAwaitingResponse) socket.destroy();
    });
  }

  /** Whether the latest request of the connection has fully arrived and is not yet answered. */
  isBeingAnswered({ [LATEST]: response }: AnsweredSocket): boolean {
    return response?.req.complete === true && !response.writableFinished;
  }

  /** Whether the client would take a response written now as the answer to the message it is sending. */
  canBeAnswered({ [LATEST]: response, writable }: AnsweredSocket): boolean {
    if (!writable) return false;
    return !response?.headersSent || (response.req.complete && response.writableFinished);
  }
}

/** How many connections a server accepts. */
export interface ConnectionLimits {
  /** Open connections in total. */
  max: number;
  /** Open connections per address; per /64 for IPv6. */
  maxPerAddress: number;
}

const DEFAULT_MAX = 10_000;
const DEFAULT_MAX_PER_ADDRESS = 1000;
/** The share of file descriptors for connections; the rest is for files, upstream and Redis. */
const SHARE_OF_DESCRIPTORS = 0.8;
/**
 * Connections above `max`, up to this share of it, are answered with 503. Connections beyond that are closed without a response.
 */
const SPARE_SHARE = 0.1;
/** How long a connection above a limit may take to send its request, to be answered with 503. */
const REFUSED_MS = 1000;
const QUIET_MS = MINUTE_MS;

/** Default limits: a share of the files that the process may open, up to a sensible maximum. */
export function connectionLimitsFor(descriptors: number): ConnectionLimits {
  const max = Math.min(DEFAULT_MAX, Math.floor(descriptors * SHARE_OF_DESCRIPTORS));
  return { max, maxPerAddress: Math.min(DEFAULT_MAX_PER_ADDRESS, Math.ceil(max / 4)) };
}

/**
 * Limits open connections: above a limit, the first request of a connection is answered with 503, unless it is a probe, and the
 * connection is closed.
 */
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
      // Probes are answered even above the limit: a restart would not help, because the process would soon have as many
      // connections again.
      if (request.routeOptions.config.servesUnderPressure) done();
      else sendError(tooManyConnections(reason), request, reply, docsUrl);
    });

    /** Null for a proxy, which carries connections of many clients. */
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
      app.log.warn({ reason, open: connections.open.size }, 'refusing connections; logged once a minute');
    }
  },
  { name: 'connection-limits' },
);

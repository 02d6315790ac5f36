import Fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import type { Build } from './build.ts';
import { refuseConnect, sendClientError } from './connection/client-error.ts';
import { type ConnectionLimits, Connections } from './connection/connections.ts';
import { EndedRequest } from './connection/ended-request.ts';
import { OneWriteResponse } from './connection/one-write-response.ts';
import { proxyTest, type TrustedProxies } from './connection/trusted-proxies.ts';
import type { NetworkOptions } from './network-limit.ts';
import { createRequestId } from './request-log.ts';
import { sendErrorEarly } from './send-error.ts';

/**
 * The default deadline for a whole request. Requests are small: a slower client is broken, or blocks the connection on purpose.
 */
const ARRIVAL_MS = 10_000;
/**
 * A connection is closed after this long without a byte. Streams write every 15 seconds. Load balancers must give up idle
 * connections earlier, and many do after a minute.
 */
const SILENT_MS = 72_000;
/** Limits forms and MCP messages, because every open connection can be sending one. */
const MAX_BODY_BYTES = 16 * 1024;
/** How often Node checks for late requests. */
const DEADLINE_CHECK_MS = 1000;
/** Longer than any request line that Node accepts, so that the operation rejects long parameters with its own message. */
const MAX_PARAMETER_LENGTH = 64 * 1024;

/** How the service listens, logs and closes. */
export interface HttpOptions {
  logger?: FastifyBaseLogger;
  connectionLimits?: ConnectionLimits;
  /** Deadline for a whole request to arrive, headers and body. */
  arrivalMs?: number;
  /** A connection without a byte for this long is closed, unless its response is awaited. */
  silentMs?: number;
  /** Limit per client network for requests without a valid key: pages, assets, the OpenAPI document, refusals. None by default. */
  networkLimit?: NetworkOptions;
  /** Maximum number of successful requests logged per second; all by default. */
  loggedPerSecond?: number;
  /** How long `/readyz` fails before the service closes; 0 by default. */
  drainMs?: number;
  /** Version and commit for `/healthz`. */
  build?: Build;
}

/** Creates the server with its deadlines and its connections, without routes and hooks. */
export function createFastify(
  { docsUrl, trustProxy }: { docsUrl: string; trustProxy: TrustedProxies },
  { logger, arrivalMs = ARRIVAL_MS, silentMs = SILENT_MS }: HttpOptions,
) {
  const app = Fastify({
    ...(logger && { loggerInstance: withoutChildren(logger) }),
    trustProxy: trustProxy !== false && proxyTest(trustProxy),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: createRequestId,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
    return503OnClosing: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: arrivalMs,
    connectionTimeout: silentMs,
    http: {
      requestTimeout: arrivalMs,
      headersTimeout: arrivalMs,
      connectionsCheckingInterval: Math.min(DEADLINE_CHECK_MS, arrivalMs),
      // Node would reject a request without Host with an empty body.
      requireHostHeader: false,
      optimizeEmptyRequests: true,
      IncomingMessage: EndedRequest,
      ServerResponse: OneWriteResponse,
    },
    frameworkErrors: (error, request, reply) => sendErrorEarly(error, request, reply, docsUrl),
    clientErrorHandler: (error, socket) => sendClientError(error, socket, { docsUrl, connections, log: app.log }),
  });
  // A second timeout for idle connections would set two timers for each request. Set here, because Fastify replaces a zero in
  // its options.
  app.server.keepAliveTimeout = 0;
  const connections = new Connections(app.server);
  // Node would reject an unknown `Expect` with an empty body too.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // By default Node closes the connection without a response.
  app.server.on('connect', (_request, socket) => refuseConnect(socket, { docsUrl, log: app.log }));
  // Response schemas serve types, documentation and tests; validating each response would cost more than everything else.
  app.setSerializerCompiler(() => JSON.stringify);
  return { app, connections };
}

/**
 * A log whose children are the log itself. A child per request would cost as much as its log line, and the few lines about a
 * request contain its ID anyway. `childLoggerFactory` is slower: Fastify validates its result for each request.
 */
function withoutChildren(log: FastifyBaseLogger): FastifyBaseLogger {
  const childless: FastifyBaseLogger = Object.assign(Object.create(log), { child: () => childless });
  return childless;
}

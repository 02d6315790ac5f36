import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import sensible from '@fastify/sensible';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { findRehearsalCode, REHEARSALS_IN_WORDS } from '#sandbox/rehearsals.ts';
import { type AccessOptions, access } from './access/plugin.ts';
import { createSignedKeys } from './access/signed-keys.ts';
import { AlertList } from './alerts/alert-list.ts';
import type { Runs } from './boards/runs.ts';
import type { Boards } from './boards/source.ts';
import type { CarParkSource } from './carparks/car-parks.ts';
import type { Config } from './config.ts';
import { type Deadlines, deadlinesFrom } from './core/clock.ts';
import { createIdSigner, type Secrets } from './core/signer.ts';
import { notifyOfCalls, type QueryUpstream } from './efa/query-upstream.ts';
import { toRequest, type UpstreamRequest } from './efa/request.ts';
import type { Build } from './http/build.ts';
import { refuseConnect, sendClientError } from './http/connection/client-error.ts';
import {
  type ConnectionLimits,
  Connections,
  connectionLimits,
  connectionLimitsFor,
} from './http/connection/connections.ts';
import { drain } from './http/connection/drain.ts';
import { OneWriteResponse } from './http/connection/one-write-response.ts';
import { proxyTest } from './http/connection/trusted-proxies.ts';
import type { CreateExtension, Service } from './http/extension.ts';
import { hangUps } from './http/hang-up.ts';
import { createNetworkLimit, type NetworkOptions } from './http/network-limit.ts';
import { openapi } from './http/openapi/openapi.ts';
import { operationRoutes } from './http/operation-routes.ts';
import { paths } from './http/paths.ts';
import { type PressureWatch, pressure } from './http/pressure.ts';
import { readiness } from './http/readiness.ts';
import { createRequestId, requestLog } from './http/request-log.ts';
import { commonHeaders, cors } from './http/response-headers.ts';
import { restricted } from './http/restricted.ts';
import { errorHandler, sendErrorEarly } from './http/send-error.ts';
import { stopsDownload } from './http/stops-download.ts';
import { tokenRoute } from './http/tokens.ts';
import type { Reach } from './journeys/reach.ts';
import type { Journeys } from './journeys/source.ts';
import { LineCatalogue } from './lines/lines.ts';
import { createOperations } from './operations/all-operations.ts';
import { createResponses } from './operations/serve.ts';
import { Vehicles } from './realtime/vehicles.ts';
import { StopRegister } from './stops/register.ts';
import { noStops } from './stops/table.ts';
import type { CurrentTimetable } from './timetable/update/keep-current.ts';
import type { LeftOutCounts } from './transit/left-out.ts';
import type { Punctuality } from './transit/punctuality.ts';

export interface AppOptions {
  config: Pick<Config, 'docsUrl' | 'publicUrl' | 'trustProxy'>;
  /** Sends requests upstream. */
  queryUpstream: QueryUpstream;
  /** Upstream calls allowed per second; unlimited by default. */
  callsPerSecond?: number;
  /** Boards from the timetable and the feeds. By default every board is requested upstream. */
  boards?: Boards;
  /** Finds runs in the timetable and the feeds. By default runs are requested upstream. */
  runs?: Runs;
  /** Finds journeys; by default, the trip planner does. */
  journeys?: Journeys;
  /** Searches from one place to many; by default, these requests get 503. */
  reach?: Reach;
  /** Finds car parks; by default there are no operations for them. */
  carParks?: CarParkSource;
  /** What was recorded of past runs; without it there is no operation for it. */
  punctuality?: Punctuality;
  /** Finds vehicles; by default, no vehicle has a known position. */
  vehicles?: Vehicles;
  deadlines?: Deadlines;
  access: AccessOptions;
  /** Parts outside the contract, such as MCP and pages; none by default. */
  extensions?: readonly CreateExtension[];
  /** Secrets for links, tokens, identifiers and cursors. By default this process makes its own. */
  linkSecrets?: Secrets;
  now: () => Date;
  /** Resolves after `ms` by the clock of `now`. */
  sleep?: (ms: number) => Promise<unknown>;
  logger?: FastifyBaseLogger;
  /** The local timetable; none by default. */
  timetable?: CurrentTimetable;
  /** Stops known without a request; by default the stops of `timetable`. */
  stops?: StopRegister;
  /** By default built from `stops`. */
  alerts?: AlertList;
  connectionLimits?: ConnectionLimits;
  /** Deadline for a whole request to arrive, headers and body. */
  arrivalMs?: number;
  /** A connection without a byte for this long is closed, unless its response is awaited. */
  silentMs?: number;
  /** For `/readyz`. By default the store counts as reachable. */
  isStoreReachable?: () => Promise<boolean>;
  /** How long `/readyz` fails before the service closes; 0 by default. */
  drainMs?: number;
  /** Maximum number of successful requests logged per second; all by default. */
  loggedPerSecond?: number;
  /** Decides when requests are refused under load. By default none are. */
  pressure?: PressureWatch;
  /**
   * Limit per client network for requests without a valid key: pages, assets, the OpenAPI document, refusals. None by default.
   */
  networkLimit?: NetworkOptions;
  /** Version and commit for `/healthz`. */
  build?: Build;
  /** Counts upstream records that an operation left out, by reason. */
  countLeftOut?: (path: string, leftOut: LeftOutCounts) => void;
}

/** Requests are small; a slower client is broken or blocks the connection on purpose. */
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

/**
 * Builds the service without listening. Registers, in this order: hooks for every request, the operations behind the key check,
 * and the extensions.
 */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { now, sleep = wait, deadlines = deadlinesFrom() } = options;
  const { vehicles = new Vehicles({ now: () => now().getTime() }) } = options;
  const { isStoreReachable = async () => true } = options;
  const { docsUrl, publicUrl, trustProxy } = options.config;
  const limits = options.connectionLimits ?? connectionLimitsFor(Number.POSITIVE_INFINITY);
  const isSandbox = options.access.acceptsTestKeys;
  const { app, connections } = createFastify(options);
  const networkLimit = options.networkLimit && createNetworkLimit(options.networkLimit, { now, sleep });
  const limitPages = networkLimit?.limitPages ?? (async () => {});

  const { timetable, stops = new StopRegister(noStops, { ...(timetable && { timetable }) }) } = options;
  const { alerts = new AlertList({ now: () => now().getTime(), stops }) } = options;
  const queryUpstream = notifyOfCalls(options.queryUpstream, (_request, { payload }) => alerts.add(payload as object));
  const { journeys, reach, carParks } = options;
  const lines = new LineCatalogue(stops);
  const operations = createOperations({
    stops,
    lines,
    vehicles,
    alerts,
    journeys,
    reach,
    carParks,
    punctuality: options.punctuality,
    ...(isSandbox && { isRehearsal }),
    docsUrl,
    now,
  });
  const { linkSecrets = [randomBytes(32).toString('base64url')] as const } = options;
  const responses = createResponses({
    queryUpstream,
    boards: options.boards,
    runs: options.runs,
    lines,
    punctuality: options.punctuality,
    now,
    ids: createIdSigner(linkSecrets),
    deadlineMs: deadlines.requestMs,
    callsPerSecond: options.callsPerSecond,
    log: app.log,
    ...(options.countLeftOut && { countLeftOut: options.countLeftOut }),
  });

  const signedKeys = createSignedKeys({ secrets: linkSecrets, kind: isSandbox ? 'test' : 'live' });
  const { restrictions = null } = options.access;
  const service: Service = {
    operations,
    responses,
    signedKeys,
    restrictions,
    linkSecrets,
    limitPages,
    hasVehicles: vehicles.areKnown,
    isSandbox,
    publicUrl,
    docsUrl,
    now,
    sleep,
    log: app.log,
  };
  const extensions = (options.extensions ?? []).map((create) => create(service));
  const drawError = extensions.find((extension) => extension.drawError)?.drawError;
  const callerChecks = {
    signedKeys,
    ownOrigin: new URL(publicUrl).origin,
    onCounted: extensions.flatMap(({ onCounted }) => onCounted ?? []),
  };
  app.addHook('onClose', async () => {
    for (const { close } of extensions) await close?.();
  });
  // Decorates replies with `vary`, which appends to the `Vary` header.
  await app.register(sensible);
  await app.register(errorHandler, { docsUrl, networkLimit, drawError });
  await app.register(cors);
  await app.register(commonHeaders, { isSandbox });
  await app.register(hangUps);
  await app.register(requestLog, { perSecond: options.loggedPerSecond ?? Number.POSITIVE_INFINITY, now });
  await app.register(connectionLimits, { ...limits, connections, isProxy: proxyTest(trustProxy), docsUrl });
  if (restrictions) await app.register(restricted, { restrictions });
  await app.register(paths);
  // Before the drain, which waits: during the wait the process must already report "not ready".
  const { pressure: watch, build, drainMs = 0 } = options;
  await app.register(readiness, { isStoreReachable, pressure: watch, build, drainMs, sleep });
  await app.register(drain, { connections, docsUrl });
  if (watch) await app.register(pressure, { watch });
  await app.register(async (description) => {
    description.addHook('onRequest', limitPages);
    await description.register(openapi, {
      operations,
      publicUrl,
      docsUrl,
      notes: isSandbox ? [REHEARSALS_IN_WORDS] : [],
    });
  });

  await app.register(async (api) => {
    for (const { watch } of extensions) await watch?.(api);
    await api.register(access, { now, ...options.access, ...callerChecks });
    await api.register(operationRoutes, { operations, responses, now });
    await api.register(stopsDownload, { stops, now });
    await api.register(tokenRoute, { signedKeys, now });
    for (const { addRoutes } of extensions) await addRoutes?.(api);
  });

  await app.register(async (people) => {
    people.addHook('onRequest', limitPages);
    for (const { addPages } of extensions) await addPages?.(people);
  });
  return app;
}

function isRehearsal(request: UpstreamRequest): boolean {
  const { endpoint, query } = toRequest(request);
  return findRehearsalCode(endpoint, new URLSearchParams(query)) !== null;
}

/** Longer than any request line that Node accepts, so that the operation rejects long parameters with its own message. */
const MAX_PARAMETER_LENGTH = 64 * 1024;

function createFastify({ config, logger, arrivalMs = ARRIVAL_MS, silentMs = SILENT_MS }: AppOptions) {
  const { trustProxy, docsUrl } = config;
  const app = Fastify({
    ...(logger && { loggerInstance: logger }),
    trustProxy: trustProxy !== false && proxyTest(trustProxy),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: createRequestId,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
    return503OnClosing: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: arrivalMs,
    connectionTimeout: silentMs,
    // A second timeout for idle connections would set two timers for each request.
    keepAliveTimeout: 0,
    // A child log for each request costs as much as its line; the few lines about a request name it themselves.
    childLoggerFactory: (log) => log,
    http: {
      requestTimeout: arrivalMs,
      headersTimeout: arrivalMs,
      connectionsCheckingInterval: Math.min(DEADLINE_CHECK_MS, arrivalMs),
      // Node would reject a request without Host with an empty body.
      requireHostHeader: false,
      ServerResponse: OneWriteResponse,
    },
    frameworkErrors: (error, request, reply) => sendErrorEarly(error, request, reply, docsUrl),
    clientErrorHandler: (error, socket) => sendClientError(error, socket, { docsUrl, connections, log: app.log }),
  });
  const connections = new Connections(app.server);
  // Node would reject an unknown `Expect` with an empty body too.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // By default Node closes the connection without a response.
  app.server.on('connect', (_request, socket) => refuseConnect(socket, { docsUrl, log: app.log }));
  // Response schemas serve types, documentation and tests; validating each response would cost more than everything else.
  app.setSerializerCompiler(() => JSON.stringify);
  return { app, connections };
}

import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import sensible from '@fastify/sensible';
import type { FastifyInstance } from 'fastify';
import { findRehearsalCode, REHEARSALS_IN_WORDS } from '#sandbox/rehearsals.ts';
import { type AccessOptions, access } from './access/plugin.ts';
import { createSignedKeys } from './access/signed-keys.ts';
import type { Config } from './config.ts';
import { type Deadlines, deadlinesFrom, withOneReading } from './core/clock.ts';
import { createIdSigner, type Secrets } from './core/signer.ts';
import { toRequest, type UpstreamRequest } from './efa/request.ts';
import { connectionLimits, connectionLimitsFor } from './http/connection/connections.ts';
import { drain } from './http/connection/drain.ts';
import { proxyTest } from './http/connection/trusted-proxies.ts';
import { createFastify, type HttpOptions } from './http/create-fastify.ts';
import type { CreateExtension, Service } from './http/extension.ts';
import { hangUps } from './http/hang-up.ts';
import { createNetworkLimit } from './http/network-limit.ts';
import { openapi } from './http/openapi/openapi.ts';
import { operationRoutes } from './http/operation-routes.ts';
import { paths } from './http/paths.ts';
import { readiness } from './http/readiness.ts';
import { requestLog } from './http/request-log.ts';
import { commonHeaders } from './http/response-headers.ts';
import { restricted } from './http/restricted.ts';
import { createRunOperation } from './http/run-operation.ts';
import { errorHandler } from './http/send-error.ts';
import { stopsDownload } from './http/stops-download.ts';
import { tokenRoute } from './http/tokens.ts';
import { createOperations } from './operations/all-operations.ts';
import { createResponses } from './operations/serve.ts';
import { createSources, type GivenSources } from './operations/sources.ts';

/** The four required parts of a service, and optional settings. */
export interface AppOptions {
  config: Pick<Config, 'docsUrl' | 'publicUrl' | 'trustProxy'>;
  sources: GivenSources;
  access: AccessOptions;
  now: () => number;
  /** Resolves after `ms` by the clock of `now`. */
  sleep?: (ms: number) => Promise<unknown>;
  deadlines?: Deadlines;
  http?: HttpOptions;
  /** Parts outside the contract, such as MCP and pages; none by default. */
  extensions?: readonly CreateExtension[];
  /** Secrets for links, tokens, identifiers and cursors; random by default. */
  linkSecrets?: Secrets;
}

/** Builds the service without listening. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { config, sleep = wait, deadlines = deadlinesFrom(), http = {} } = options;
  const now = withOneReading(options.now);
  const { linkSecrets = [randomBytes(32).toString('base64url')] as const } = options;
  const { acceptsTestKeys: isSandbox, restrictions = null } = options.access;
  const { docsUrl, publicUrl } = config;
  const { app, connections } = createFastify(config, http);
  const networkLimit = http.networkLimit && createNetworkLimit(http.networkLimit, { now, sleep });

  const sources = createSources(options.sources, now);
  const operations = createOperations({ sources, ...(isSandbox && { isRehearsal }), docsUrl });
  const ids = createIdSigner(linkSecrets);
  const responses = createResponses({ sources, now, ids, deadlineMs: deadlines.requestMs, log: app.log });
  const service: Service = {
    operations,
    responses,
    runOperation: createRunOperation(operations, responses),
    signedKeys: createSignedKeys({ secrets: linkSecrets, kind: isSandbox ? 'test' : 'live' }),
    restrictions,
    linkSecrets,
    limitPages: networkLimit?.limitPages ?? (async () => {}),
    hasVehicles: sources.vehicles.areKnown,
    isSandbox,
    publicUrl,
    docsUrl,
    now,
    sleep,
    log: app.log,
  };
  const extensions = (options.extensions ?? []).map((create) => create(service));
  app.addHook('onClose', async () => {
    for (const { close } of extensions) await close?.();
  });

  await addHooks();
  await app.register(describeService);
  await app.register(addOperations);
  await app.register(addPages);
  return app;

  /** What applies to every request, in this order. */
  async function addHooks(): Promise<void> {
    const drawError = extensions.find((extension) => extension.drawError)?.drawError;
    const limits = http.connectionLimits ?? connectionLimitsFor(Number.POSITIVE_INFINITY);
    // Decorates replies with `vary`, which appends to the `Vary` header.
    await app.register(sensible);
    await app.register(errorHandler, { docsUrl, networkLimit, drawError });
    await app.register(commonHeaders, { isSandbox });
    await app.register(hangUps);
    await app.register(requestLog, { perSecond: http.loggedPerSecond ?? Number.POSITIVE_INFINITY, now });
    await app.register(connectionLimits, { ...limits, connections, isProxy: proxyTest(config.trustProxy), docsUrl });
    if (restrictions) await app.register(restricted, { restrictions });
    await app.register(paths);
    // Before the drain, which waits: during the wait the process must already report "not ready".
    await app.register(readiness, { extensions, build: http.build, drainMs: http.drainMs ?? 0, sleep });
    await app.register(drain, { connections, docsUrl });
    for (const { decorate } of extensions) await decorate?.(app);
  }

  /** `/openapi.json` needs no key. */
  async function describeService(description: FastifyInstance): Promise<void> {
    description.addHook('onRequest', service.limitPages);
    const notes = isSandbox ? [REHEARSALS_IN_WORDS] : [];
    await description.register(openapi, { operations: service.operations, publicUrl, docsUrl, notes });
  }

  /** The operations, and the extensions' routes, behind the key check. */
  async function addOperations(api: FastifyInstance): Promise<void> {
    for (const { watch } of extensions) await watch?.(api);
    const onCounted = extensions.flatMap((extension) => extension.onCounted ?? []);
    const ownOrigin = new URL(publicUrl).origin;
    const { signedKeys } = service;
    await api.register(access, { now, ...options.access, signedKeys, ownOrigin, onCounted });
    await api.register(operationRoutes, service);
    await api.register(stopsDownload, { stops: sources.stops, now });
    await api.register(tokenRoute, { signedKeys, now });
    for (const { addRoutes } of extensions) await addRoutes?.(api);
  }

  async function addPages(people: FastifyInstance): Promise<void> {
    people.addHook('onRequest', service.limitPages);
    for (const extension of extensions) await extension.addPages?.(people);
  }
}

function isRehearsal(request: UpstreamRequest): boolean {
  const { endpoint, query } = toRequest(request);
  return findRehearsalCode(endpoint, new URLSearchParams(query)) !== null;
}

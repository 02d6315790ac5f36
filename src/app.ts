import { randomUUID } from 'node:crypto';
import sensible from '@fastify/sensible';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { type AccessOptions, access } from './access/plugin.ts';
import type { Config } from './config.ts';
import { departuresRoute } from './departures/route.ts';
import type { EfaClient } from './efa/client.ts';
import { createAnswers } from './http/answer.ts';
import { cors } from './http/cors.ts';
import { drain } from './http/drain.ts';
import { answerClientError, answerError, errorHandler } from './http/error-handler.ts';
import { head } from './http/head.ts';
import { healthRoute } from './http/health.ts';
import { links } from './http/links.ts';
import { openapi } from './http/openapi.ts';
import { paths } from './http/paths.ts';
import { requestLog } from './http/request-log.ts';
import { noSniffing, pageSecurity } from './http/security-headers.ts';
import { nearbyRoute } from './nearby/route.ts';
import { createVerdicts, learnFromDepartures, type VerdictStore } from './nearby/verdict.ts';
import { type SignupOptions, signup } from './signup/signup.ts';
import { createLayout } from './site/layout.ts';
import { type SiteOptions, site } from './site/site.ts';
import { trafficRecorder } from './site/traffic-recorder.ts';
import { stopSearchRoute } from './stop-search/route.ts';
import { tripsRoute } from './trips/route.ts';

/** What the pages need and the API does not. */
type FrontOptions = Omit<SiteOptions & SignupOptions, 'layout' | 'publicUrl' | 'docsUrl' | 'isSandbox' | 'efa' | 'now'>;

export interface AppOptions {
  config: Pick<Config, 'docsUrl' | 'publicUrl' | 'trustProxy'>;
  /** The pages for people; without them it is the API alone. */
  front?: FrontOptions;
  efa: EfaClient;
  access: AccessOptions;
  now: () => Date;
  logger?: FastifyBaseLogger;
  /** Shared with other instances. */
  verdictStore?: VerdictStore;
}

/** The service, in order: what every request meets, then the operations. Not listening yet. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { efa, front, now, logger, verdictStore } = options;
  const { docsUrl, publicUrl, trustProxy } = options.config;
  const app = Fastify({
    ...(logger && { loggerInstance: logger }),
    trustProxy,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true },
    return503OnClosing: false,
    // Node's own refusal would have no body.
    http: { requireHostHeader: false },
    frameworkErrors: (error, request, reply) => answerError(error, request, reply, docsUrl),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, docsUrl),
  });
  // So would its refusal of an `Expect` that it does not know.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.setValidatorCompiler(validatorCompiler);
  // The schemas of answers are for types, documentation and tests; checking each answer would cost more than all else.
  app.setSerializerCompiler(() => JSON.stringify);

  await app.register(errorHandler, { docsUrl });
  await app.register(cors);
  await app.register(noSniffing);
  await app.register(links);
  await app.register(requestLog);
  await app.register(paths);
  await app.register(head);
  await app.register(drain);
  await app.register(sensible);
  await app.register(access, { ...options.access, now });
  await app.register(openapi, { publicUrl, docsUrl });
  await app.register(healthRoute);

  const answers = createAnswers(app, { now });
  const verdicts = createVerdicts(now, verdictStore);
  const learning = learnFromDepartures(efa, verdicts);
  await app.register(departuresRoute, { efa: learning, answers, now });
  await app.register(nearbyRoute, { efa: learning, answers, verdicts, now });
  await app.register(stopSearchRoute, { efa, answers });
  await app.register(tripsRoute, { efa, answers, now });

  if (front) {
    const isSandbox = options.access.acceptsTestKeys;
    await app.register(trafficRecorder, front);
    const page = { ...front, layout: createLayout({ isSandbox }), publicUrl, docsUrl, isSandbox, now };
    await app.register(async (pages) => {
      await pages.register(pageSecurity, page);
      await pages.register(site, { ...page, efa });
      await pages.register(signup, page);
    });
  }
  return app;
}

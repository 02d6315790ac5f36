import { setTimeout as sleep } from 'node:timers/promises';
import { FastifyOtelInstrumentation } from '@fastify/otel';
import type { TextMapPropagator } from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { withoutPrivateData } from './public-span.ts';

export interface Tracing {
  /** Sends what is left. */
  close(): Promise<void>;
}

/** A collector that does not answer must not hold up the end of the process for longer. */
const CLOSE_MS = 2000;
const WARN_EVERY_MS = 60_000;
const SERVICE_NAME = 'transit-information-service';
const HEALTH_CHECKS = ['/healthz', '/readyz'];

/**
 * OpenTelemetry: one span for a request, one for each call of upstream, sent to a collector by OTLP over HTTP. Both
 * instrumentation packages listen to diagnostics channels, so no module is patched; it has to be started before the
 * service is built. The SDK itself reads the other `OTEL_…` variables, of the sampler for example.
 */
export function startTracing({ endpoint }: { endpoint: string }, log: { warn(message: string): void }): Tracing {
  setGlobalErrorHandler(createFailureLog(log));
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': SERVICE_NAME }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor(withoutPrivateData(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }))),
    ],
  });
  provider.register({ propagator: createPropagator() });
  const instrumentations = [
    new FastifyOtelInstrumentation({
      registerOnInitialization: true,
      instrumentHooks: false,
      instrumentHandler: false,
      recordExceptions: false,
      ignorePaths: ({ url }) => HEALTH_CHECKS.includes(url),
    }),
    new UndiciInstrumentation(),
  ];
  for (const instrumentation of instrumentations) instrumentation.setTracerProvider(provider);

  return {
    async close() {
      for (const instrumentation of instrumentations) instrumentation.disable();
      await Promise.race([provider.shutdown(), sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

/** Takes `traceparent` from callers and passes nothing on: who asks us is not upstream's business. */
function createPropagator(): TextMapPropagator {
  const standard = new W3CTraceContextPropagator();
  return {
    extract: (context, carrier, getter) => standard.extract(context, carrier, getter),
    inject() {},
    fields: () => standard.fields(),
  };
}

function createFailureLog(log: { warn(message: string): void }): (error: unknown) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (performance.now() - lastAt < WARN_EVERY_MS) return;
    lastAt = performance.now();
    log.warn(`traces cannot be sent: ${error instanceof Error ? error.message : String(error)}`);
  };
}

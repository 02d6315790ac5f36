import { FastifyOtelInstrumentation } from '@fastify/otel';
import {
  type Attributes,
  context,
  propagation,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { MINUTE_MS } from '../../core/clock.ts';
import { OTHER_ROUTES } from '../../routes.ts';
import { closeProvider, serviceResource } from './collector.ts';

const WARN_EVERY_MS = MINUTE_MS;
const HEALTH_CHECKS = [OTHER_ROUTES.health, OTHER_ROUTES.readiness] as string[];

/**
 * Starts OpenTelemetry: one span per request and per upstream call, sent to a collector by OTLP over HTTP. The instrumentation
 * packages use diagnostics channels, so no module is patched. Start it before building the service. The SDK itself reads the
 * other `OTEL_…` variables, such as the exporter's headers, but not the sampler's: `share` of the traces is kept, unless
 * `followsCaller` lets a caller's `traceparent` decide.
 */
export function startTracing(
  { endpoint, sampler }: { endpoint: string; sampler: { share: number; followsCaller: boolean } },
  log: { warn(message: string): void },
) {
  setGlobalErrorHandler(createFailureLog(log));
  const ofAll = new TraceIdRatioBasedSampler(sampler.share);
  const provider = new TracerProvider({
    resource: serviceResource(),
    sampler: sampler.followsCaller ? new ParentBasedSampler({ root: ofAll }) : ofAll,
    spanProcessors: [
      new BatchSpanProcessor({ exporter: withoutPrivateData(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` })) }),
    ],
  });
  trace.setGlobalTracerProvider(provider);
  propagation.setGlobalPropagator(createPropagator());
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
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
    async close(): Promise<void> {
      for (const instrumentation of instrumentations) instrumentation.disable();
      await closeProvider(provider);
    },
  };
}

/** Reads `traceparent` from callers but sends none upstream, which need not know our callers. */
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
    log.warn(`traces or logs cannot be sent: ${error instanceof Error ? error.message : String(error)}`);
  };
}

/** Attributes that a span may have. Anything else that the instrumentation packages add stays in the process. */
const ATTRIBUTES = [
  'http.request.method',
  'http.response.status_code',
  'http.route',
  'error.type',
  'transit.board.source',
  'transit.board.reason',
  'server.address',
  'server.port',
];

/** Removes queries, headers and error texts from spans: they reveal where people are, and may contain a key. */
function withoutPrivateData(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, done) => exporter.export(spans.map(toPublicSpan), done),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  };
}

function toPublicSpan(span: ReadableSpan): ReadableSpan {
  return {
    ...span,
    name: nameOf(span),
    spanContext: () => span.spanContext(),
    attributes: attributesOf(span),
    status: statusOf(span),
    events: [],
    // Spreading does not copy getters, so they are listed here.
    duration: span.duration,
    ended: span.ended,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function attributesOf({ attributes, events }: ReadableSpan): Attributes {
  const allowed = Object.entries(attributes).filter(([name]) => ATTRIBUTES.includes(name));
  // Keep only an error's code, which is from a fixed list.
  const exceptionType = events.find(({ name }) => name === 'exception')?.attributes?.['exception.type'];
  return { ...(exceptionType !== undefined && { 'error.type': exceptionType }), ...Object.fromEntries(allowed) };
}

/** Names a span by its method and route, or for upstream calls by its path. */
function nameOf({ attributes, kind, name }: ReadableSpan): string {
  const method = attributes['http.request.method'];
  const path = kind === SpanKind.CLIENT ? attributes['url.path'] : attributes['http.route'];
  return [method ?? name, path].filter(Boolean).join(' ');
}

/** A caller's error (4xx) is not an error of the server. */
function statusOf({ status, kind, attributes }: ReadableSpan): SpanStatus {
  const isCallersError = kind === SpanKind.SERVER && Number(attributes['http.response.status_code']) < 500;
  return { code: isCallersError ? SpanStatusCode.UNSET : status.code };
}

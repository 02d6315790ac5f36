import { type Attributes, SpanKind, type SpanStatus, SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';

/** What a span may say. Whatever else the instrumentation packages add, now or later, stays in the process. */
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

/**
 * Sends spans without queries, headers and texts of errors: they tell where people are, and somebody will put a key into
 * one of them.
 */
export function withoutPrivateData(exporter: SpanExporter): SpanExporter {
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
    // These are getters, which spreading leaves out.
    duration: span.duration,
    ended: span.ended,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function attributesOf({ attributes, events }: ReadableSpan): Attributes {
  const allowed = Object.entries(attributes).filter(([name]) => ATTRIBUTES.includes(name));
  // Of an error only its code is kept, which is one of a few words.
  const exceptionType = events.find(({ name }) => name === 'exception')?.attributes?.['exception.type'];
  return { ...(exceptionType !== undefined && { 'error.type': exceptionType }), ...Object.fromEntries(allowed) };
}

/** The route of a request; of a call of upstream, what it asks for. */
function nameOf({ attributes, kind, name }: ReadableSpan): string {
  const method = attributes['http.request.method'];
  const path = kind === SpanKind.CLIENT ? attributes['url.path'] : attributes['http.route'];
  return [method ?? name, path].filter(Boolean).join(' ');
}

/** A request that the caller got wrong is no error of the server. */
function statusOf({ status, kind, attributes }: ReadableSpan): SpanStatus {
  const isCallersError = kind === SpanKind.SERVER && Number(attributes['http.response.status_code']) < 500;
  return { code: isCallersError ? SpanStatusCode.UNSET : status.code };
}

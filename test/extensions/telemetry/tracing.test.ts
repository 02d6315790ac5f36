import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { departureMonitorFor } from '../../support/departure-monitor.ts';
import { startServerProcess } from '../../support/process.ts';
import { startUpstream } from '../../support/upstream.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: { stringValue?: string; intValue?: number; arrayValue?: object } }[];
  status: { code: number };
}

interface LogRecord {
  timeUnixNano: string;
  severityNumber: number;
  severityText: string;
  body: { stringValue: string };
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
  traceId?: string;
}

const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;
const UPSTREAM_KEY = 'key-of-upstream';
const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const TRACEPARENT = `00-${CALLER.traceId}-${CALLER.spanId}-01`;

const leaves = [5, 75].map((minutes) => new Date(Date.now() + minutes * 60_000).toISOString());
let traced: Run;
let untraced: Run;
/** The bodies with spans that the collector received, and its log records. */
const received: string[] = [];
/** What was received of a service that keeps only traces of callers. */
let ofCallers: Span[] = [];
let spans: Span[] = [];
let records: LogRecord[] = [];

/** A service that answered a few requests and ended. */
interface Run {
  key: string;
  loaded: string[];
  log: Record<string, unknown>[];
  /** The headers of its upstream calls. */
  calls: IncomingHttpHeaders[];
}

/** Prints the loaded files of OpenTelemetry when the process ends, without its API, which prom-client always needs. */
const TELL_LOADED = `--import data:text/javascript,${encodeURIComponent(`
  import { createRequire } from 'node:module';
  const { cache } = createRequire(process.cwd() + '/');
  process.on('exit', () => {
    const loaded = Object.keys(cache).filter((file) => /opentelemetry|otel/.test(file) && !file.includes('/@opentelemetry/api/'));
    process.stdout.write(JSON.stringify({ loaded }) + '\\n');
  });
`)}`;

async function run(env: Record<string, string>): Promise<Run> {
  const calls: IncomingHttpHeaders[] = [];
  const upstream = await startUpstream(({ url, headers }, response) => {
    calls.push(headers);
    if (url.includes('/trip?')) response.destroy();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(departureMonitorFor(url, ...leaves));
  });
  const server = await startServerProcess({
    UPSTREAM_URL: upstream.url,
    UPSTREAM_API_KEY: UPSTREAM_KEY,
    TIMETABLE: 'off',
    NODE_OPTIONS: TELL_LOADED,
    ...env,
  });
  const authorization = `Bearer ${server.apiKey}`;
  const send = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`${server.baseUrl}${path}`, { headers: { authorization, ...headers } })).text();
  await send('/v1/departures?stop=200060', { traceparent: TRACEPARENT, tracestate: 'a=b', baggage: 'c=d' });
  await send('/v1/departures?stop=200060');
  await send('/v1/departures?stop=207310&limit=wrong-limit');
  await send(`/v1/unknown?key=${server.apiKey}`);
  await send('/healthz');
  const lookup = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
  await fetch(`${server.baseUrl}/mcp`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ ...lookup, params: { name: 'getDepartures', arguments: { stop: '200070' } } }),
  }).then((answer) => answer.text());
  await send('/v1/trips?from=200060&to=200070');
  await server.stop();
  await upstream.close();
  const told = () => server.log.find((line) => 'loaded' in line)?.loaded as string[] | undefined;
  return { key: server.apiKey, loaded: (await vi.waitUntil(told, 60_000)) ?? [], calls, log: server.log };
}

const attribute = ({ attributes }: Span, name: string) => {
  const { value } = attributes.find(({ key }) => key === name) ?? {};
  return value?.stringValue ?? value?.intValue ?? value?.arrayValue;
};
const requestsTo = (route: string) => spans.filter(({ kind, name }) => kind === SERVER && name.endsWith(` ${route}`));
const callsOf = ({ spanId }: Span) => spans.filter(({ parentSpanId }) => parentSpanId === spanId);

async function startCollector(receive: (path: string, body: string) => void) {
  const server = createServer(async (request, response) => {
    receive(request.url ?? '', await text(request));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }).listen(0);
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://localhost:${port}/`, close: () => server.close() };
}

function spansOf(body: string): Span[] {
  const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
}

beforeAll(async () => {
  const logs: string[] = [];
  const collector = await startCollector((path, body) => (path === '/v1/logs' ? logs : received).push(body));
  const sampled: string[] = [];
  const sampledCollector = await startCollector((_path, body) => sampled.push(body));
  [traced, untraced] = await Promise.all([
    run({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=rehearsal',
      OTEL_LOGS_EXPORTER: 'otlp',
    }),
    run({}),
    run({ OTEL_EXPORTER_OTLP_ENDPOINT: sampledCollector.url, OTEL_TRACES_SAMPLER: 'parentbased_always_off' }),
  ]);
  collector.close();
  sampledCollector.close();
  spans = received.flatMap(spansOf);
  ofCallers = sampled.flatMap(spansOf);
  const scopes = logs.flatMap((body) => JSON.parse(body).resourceLogs[0].scopeLogs);
  records = scopes.flatMap(({ logRecords }: { logRecords: LogRecord[] }) => logRecords);
});

describe('tracing with a collector', () => {
  it('with OTEL_TRACES_SAMPLER=parentbased_always_off, only traces that a caller began are sent', () => {
    expect(new Set(ofCallers.map(({ traceId }) => traceId))).toEqual(new Set([CALLER.traceId]));
  });

  it('a request is one span, named after its route, which continues the caller’s trace', () => {
    const [first, second] = requestsTo('/v1/departures');
    expect(first).toMatchObject({
      name: 'GET /v1/departures',
      traceId: CALLER.traceId,
      parentSpanId: CALLER.spanId,
      status: { code: 0 },
    });
    expect(attribute(first as Span, 'http.response.status_code')).toBe(200);
    expect(second?.parentSpanId).toBeUndefined();
    expect(second?.traceId).not.toBe(CALLER.traceId);
    expect(spans.filter(({ kind }) => kind === SERVER).map(({ name }) => name)).toEqual([
      'GET /v1/departures',
      'GET /v1/departures',
      'GET /v1/departures',
      'GET',
      'POST /mcp',
      'GET /v1/trips',
    ]);
  });

  it('an upstream call is one span below the request that waits for it', () => {
    const [sent, kept] = requestsTo('/v1/departures') as [Span, Span];
    const [call, ...more] = callsOf(sent);
    expect(more).toEqual([]);
    expect(call).toMatchObject({ kind: CLIENT, name: 'GET /v1/tp/departure_mon', traceId: CALLER.traceId });
    expect(attribute(call as Span, 'http.response.status_code')).toBe(200);
    expect(callsOf(kept)).toEqual([]);
    expect(spans.every(({ kind }) => kind === SERVER || kind === CLIENT)).toBe(true);
  });

  it('an upstream call is below its request even if the request came in a body', () => {
    const [request] = requestsTo('/mcp') as [Span];
    expect(callsOf(request).map(({ name }) => name)).toEqual(['GET /v1/tp/departure_mon']);
  });

  it('failed calls are error spans, each retry has its own span, and an invalid request is not an error', () => {
    const [failed] = requestsTo('/v1/trips') as [Span];
    expect(failed.status.code).toBe(ERROR);
    const calls = callsOf(failed).map((call) => [call.status.code, attribute(call, 'error.type')]);
    expect(calls).toEqual([
      [ERROR, 'UND_ERR_SOCKET'],
      [ERROR, 'UND_ERR_SOCKET'],
    ]);
    const [, , wrong] = requestsTo('/v1/departures') as [Span, Span, Span];
    expect([wrong.status.code, attribute(wrong, 'http.response.status_code')]).toEqual([0, 400]);
  });

  it('no span has a key, a query, a header or the text of an error', () => {
    const secrets = [
      traced.key,
      UPSTREAM_KEY,
      'Bearer',
      'apikey',
      '200060',
      'wrong-limit',
      '?',
      'name_dm',
      'other side',
    ];
    expect(secrets.filter((secret) => received.join().includes(secret))).toEqual([]);
    const names = new Set(spans.flatMap(({ attributes }) => attributes.map(({ key }) => key)));
    expect([...names].sort()).toEqual([
      'error.type',
      'http.request.method',
      'http.response.status_code',
      'http.route',
      'server.address',
      'server.port',
      'transit.board.reason',
      'transit.board.source',
    ]);
  });

  it('the span of a board request has the source and the reason against the other source, even for a cache hit', () => {
    const [sent, kept, wrong] = requestsTo('/v1/departures') as [Span, Span, Span];
    for (const one of [sent, kept, ...requestsTo('/mcp')]) {
      expect(attribute(one, 'transit.board.source')).toEqual({ values: [{ stringValue: 'planner' }] });
      expect(attribute(one, 'transit.board.reason')).toEqual({ values: [{ stringValue: 'there is no timetable' }] });
    }
    expect(attribute(wrong, 'transit.board.source')).toBeUndefined();
  });

  it('upstream gets nothing of the trace', () => {
    const names = traced.calls.flatMap(Object.keys);
    expect(names.filter((name) => name === 'authorization').length).toBe(4);
    expect(names.filter((name) => /trace|baggage/.test(name))).toEqual([]);
  });

  it('spans have the service name and the attributes from the OpenTelemetry variables', () => {
    expect(received.join()).toContain('{"key":"service.name","value":{"stringValue":"transit-information-service"}}');
    expect(received.join()).toContain('{"key":"deployment.environment.name","value":{"stringValue":"rehearsal"}}');
    expect(traced.loaded.length).toBeGreaterThan(10);
  });
});

it('no part of OpenTelemetry is loaded without a collector', () => {
  expect(untraced.loaded).toEqual([]);
});

describe('logs with a collector', () => {
  it('each line of the log is one record with its level, time, message and fields', () => {
    const lines = traced.log.filter(({ msg }) => msg);
    expect(records.map(({ body }) => body.stringValue)).toEqual(lines.map(({ msg }) => msg));
    const index = lines.findIndex(({ status }) => status === 400);
    const [line, record] = [lines[index], records[index] as LogRecord];
    expect(record).toMatchObject({ severityNumber: 9, severityText: 'INFO' });
    expect(BigInt(record.timeUnixNano)).toBe(BigInt(Number(line?.time)) * 1_000_000n);
    expect(record.attributes).toContainEqual({ key: 'status', value: { intValue: 400 } });
    const first = records[lines.findIndex(({ status }) => status === 200)] as LogRecord;
    expect(first.traceId).toBe(CALLER.traceId);
  });

  it('no log record has a key', () => {
    const sent = JSON.stringify(records);
    expect([traced.key, UPSTREAM_KEY, 'Bearer'].filter((secret) => sent.includes(secret))).toEqual([]);
  });
});

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { Counter, Histogram } from 'prom-client';
import { outcomeOf } from '../../efa/failure.ts';
import type { CallUpstream } from '../../efa/query-upstream.ts';
import type { CreateExtension } from '../../http/extension.ts';
import { sourceOf } from '../../http/freshness-headers.ts';
import { fromRoute } from '../../http/paths.ts';
import type { Departure } from '../../transit/departure.ts';
import { kindOf, type LeftOutCounts, listLeftOut } from '../../transit/left-out.ts';
import { OperationHistogram } from './operation-histogram.ts';
import type { Traffic } from './traffic.ts';

/** Prometheus counters and histograms of this process. */
export type Instruments = ReturnType<typeof createInstruments>;

const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const AGE_BOUNDS = [1, 5, 10, 15, 30, 45, 60, 90, 120, 300, 600, 1800, 3600, 21_600, 86_400];
const UPSTREAM_BOUNDS = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 10];
const STORE_BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5];

/** The labels under which a response is counted. */
interface ResponseLabels {
  operation: string;
  status: number;
  plan: string;
  /** Null for an error. */
  source: string | null;
}

export function createInstruments() {
  // Not registered globally, because a test run has several sets.
  const registers: [] = [];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[], collect = () => {}) =>
    new Counter({ name, help, labelNames, registers, collect });
  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  /** Responses since the last scrape, by operation. Each has a few series, which are compared faster than prom-client makes a key. */
  const responseCounts = new Map<string, (ResponseLabels & { count: number })[]>();
  const count = () => {
    for (const { operation, status, plan, source, count } of [...responseCounts.values()].flat()) {
      requests.inc({ operation, status, plan }, count);
      if (source) responses.inc({ operation, source }, count);
    }
    responseCounts.clear();
  };
  const requests = counter(
    'transit_http_requests_total',
    'Requests to operations by status and plan.',
    ['operation', 'status', 'plan'],
    count,
  );
  const responses = counter(
    'transit_responses_total',
    'Successful responses of operations by source: an upstream call, a shared call, or the cache.',
    ['operation', 'source'],
    count,
  );
  return {
    requests,
    responses,
    requestSeconds: new OperationHistogram(
      'transit_http_request_duration_seconds',
      'Time from a request to the end of its response.',
      REQUEST_BOUNDS,
    ),
    responseAge: new OperationHistogram(
      'transit_response_age_seconds',
      'Age of successful responses when sent, by their oldest upstream data.',
      AGE_BOUNDS,
    ),
    countResponse(labels: ResponseLabels): void {
      const { operation, status, plan, source } = labels;
      const ofOperation = responseCounts.get(operation) ?? [];
      for (const series of ofOperation) {
        if (series.status !== status || series.plan !== plan || series.source !== source) continue;
        series.count++;
        return;
      }
      ofOperation.push({ ...labels, count: 1 });
      responseCounts.set(operation, ofOperation);
    },
    unavailable: counter('transit_unavailable_total', 'Requests answered with 503, by cause.', ['cause']),
    leftOutRecords: counter(
      'transit_records_left_out_total',
      'Upstream records left out, by reason; kind: everyday, unknown (vehicle class) or bad.',
      ['operation', 'reason', 'kind'],
    ),
    upstreamCalls: counter(
      'transit_upstream_calls_total',
      'Upstream calls including retries, by outcome and priority.',
      ['outcome', 'priority'],
    ),
    upstreamCallSeconds: histogram(
      'transit_upstream_call_duration_seconds',
      'Duration of an upstream call, including the body.',
      ['kind'],
      UPSTREAM_BOUNDS,
    ),
    feedPolls: counter('transit_feed_polls_total', 'Polls of the realtime feeds by outcome.', ['feed', 'outcome']),
    boards: counter(
      'transit_boards_total',
      'Boards by source (timetable or planner), fallback reason and missing feed.',
      ['source', 'reason', 'feed'],
    ),
    journeys: counter('transit_journeys_total', 'Journey searches by source (timetable or planner) and reason.', [
      'source',
      'reason',
    ]),
    journeysCompared: counter(
      'transit_journeys_compared_total',
      'Journey searches of the trip planner, by whether the timetable has journeys that arrive at most 3 minutes later.',
      ['agrees'],
    ),
    mails: counter(
      'transit_mails_total',
      'Attempts to send a mail: sent, failed (keys and notices are retried), or refused because of the address.',
      ['outcome'],
    ),
    storeSeconds: histogram(
      'transit_store_call_duration_seconds',
      'Time the account store takes to admit a request, or to fail.',
      [],
      STORE_BOUNDS,
    ),
  };
}

/** Records what one response of an operation left out. */
function countLeftOut({ leftOutRecords }: Instruments, operation: string, leftOut: LeftOutCounts): void {
  for (const [reason, records] of listLeftOut(leftOut))
    leftOutRecords.inc({ operation, reason, kind: kindOf(reason) }, records);
}

/** A board as it was sent, with the source of its times. */
interface Shown {
  origin: { source: 'timetable' | 'planner'; reason?: string; feed?: string };
  departures: readonly Departure[];
}

/** Records a board and its departures. */
export function recordBoard({ origin, departures }: Shown, traffic: Traffic, { boards }: Instruments): void {
  const { source, reason = '', feed = '' } = origin;
  boards.inc({ source, reason, feed });
  traffic.boardMade({
    boards: 1,
    timetableBoards: Number(source === 'timetable'),
    departures: departures.length,
    liveDepartures: departures.filter(({ state }) => state.kind === 'live').length,
  });
}

/**
 * Wraps `callUpstream` to record every call. Place it next to upstream, inside all caches. Calls `onResponse` on each successful
 * response.
 */
export function watchUpstream(
  callUpstream: CallUpstream,
  traffic: Traffic,
  { upstreamCalls, upstreamCallSeconds }: Instruments,
  onResponse: () => void = () => {},
): CallUpstream {
  return async (request, options = {}) => {
    const { priority = 'low' } = options;
    const startedAt = performance.now();
    const finish = (outcome: string) => {
      upstreamCalls.inc({ outcome, priority });
      upstreamCallSeconds.observe({ kind: request.kind }, (performance.now() - startedAt) / 1000);
    };
    try {
      const response = await callUpstream(request, options);
      traffic.upstreamResponded();
      finish('ok');
      onResponse();
      return response;
    } catch (error) {
      finish(outcomeOf(error));
      throw error;
    }
  };
}

/** Wraps the store to time and record admissions. Calls `onResponse` on each response. */
export function watchAdmissions<Store extends { admit(request: never): Promise<unknown> }>(
  store: Store,
  { storeSeconds }: Instruments,
  onResponse: () => void = () => {},
): Store {
  return {
    ...store,
    admit(request: never) {
      const startedAt = performance.now();
      const record = () => storeSeconds.observe((performance.now() - startedAt) / 1000);
      const response = store.admit(request);
      response.then(() => {
        record();
        onResponse();
      }, record);
      return response;
    },
  };
}

/** Records every response of the routes in its scope. */
const requestRecorder = fp(
  async (
    app: FastifyInstance,
    { traffic, instruments }: { traffic: Traffic | null; instruments: Instruments | null },
  ) => {
    app.addHook('onRoute', (route) => {
      const operation = fromRoute(route.url);
      route.onResponse = [
        route.onResponse ?? [],
        // A callback, because a promise per response would cost more than the recording.
        (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
          record(operation, request, reply);
          done();
        },
      ].flat();
    });

    function record(operation: string, { toolCall, admission, failure }: FastifyRequest, reply: FastifyReply): void {
      const { statusCode: status, elapsedTime } = reply;
      // A tool response is a stream of one event, but still timed.
      const isTimed = toolCall || !isStream(reply);
      if (isTimed) traffic?.answered(toolCall?.path ?? operation, toolCall?.status ?? status, elapsedTime);
      if (!instruments) return;
      if (isTimed) instruments.requestSeconds.observe(operation, elapsedTime / 1000);
      const age = reply.getHeader('age');
      if (age !== undefined) instruments.responseAge.observe(operation, Number(age));
      const plan = admission?.caller.plan ?? 'none';
      const source = sourceOf(reply.getHeader('cache-status'));
      instruments.countResponse({ operation, status, plan, source });
      if (failure?.unavailable) instruments.unavailable.inc({ cause: failure.unavailable });
    }
  },
  { name: 'request-recorder' },
);

/** Streams are not timed: they last as long as their readers stay. */
function isStream(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type') ?? '').startsWith('text/event-stream');
}

/** Records API requests for metrics and the status page. */
export const countRequests =
  (options: { traffic?: Traffic | undefined; instruments?: Instruments | undefined }): CreateExtension =>
  ({ responses }) => {
    const { traffic = null, instruments = null } = options;
    if (instruments) responses.onLeftOut((path, leftOut) => countLeftOut(instruments, path, leftOut));
    return { watch: async (api) => void (await api.register(requestRecorder, { traffic, instruments })) };
  };

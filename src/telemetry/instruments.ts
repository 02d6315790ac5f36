import { kindOf, type LeftOutCounts, listLeftOut } from '../efa/response/record.ts';
import { createSeries, type Series } from './series.ts';

interface Named {
  /** As Prometheus wants it: base unit last, `_total` for counters. */
  name: string;
  help: string;
  labels: readonly string[];
}

export interface Counter extends Named {
  kind: 'counter';
  series: Series<{ count: number }>;
}

export interface Histogram extends Named {
  kind: 'histogram';
  /** Upper ends in seconds, rising. */
  bounds: readonly number[];
  series: Series<Distribution>;
}

interface Distribution {
  /** Observations up to each bound and above the one before; the last is for what lies above all bounds. */
  counts: number[];
  sum: number;
}

/** What this process has done since it began. Prometheus and the status page both read these numbers. */
export type Instruments = ReturnType<typeof createInstruments>;

const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const AGE_BOUNDS = [1, 5, 10, 15, 30, 45, 60, 90, 120, 300, 600, 1800, 3600, 21_600, 86_400];
const UPSTREAM_BOUNDS = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 10];
const STORE_BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5];

export function createInstruments() {
  return {
    requests: counter('transit_http_requests_total', 'Requests to operations, by how they were answered.', [
      'operation',
      'status',
      'plan',
    ]),
    requestSeconds: histogram(
      'transit_http_request_duration_seconds',
      'Time from a request to the end of its answer.',
      ['operation'],
      REQUEST_BOUNDS,
    ),
    answerAge: histogram(
      'transit_answer_age_seconds',
      'Age of good answers when they are sent: of the oldest part that the authority said.',
      ['operation'],
      AGE_BOUNDS,
    ),
    responses: counter(
      'transit_answers_total',
      'Good answers of operations, by where they come from: a call of the authority, a call joined, or the cache.',
      ['operation', 'source'],
    ),
    quotaDecisions: counter('transit_quota_decisions_total', 'What became of the key and the count of a request.', [
      'decision',
      'plan',
    ]),
    leftOutRecords: counter(
      'transit_records_left_out_total',
      'Records of the authority that are not shown, by reason; kind: everyday, unknown (class of vehicle) or bad.',
      ['operation', 'reason', 'kind'],
    ),
    departureRecords: counter(
      'transit_departure_records_total',
      'Departures in answers of the authority, by whether the authority tracks the vehicle.',
      ['live'],
    ),
    upstreamCalls: counter(
      'transit_upstream_calls_total',
      'Calls of the authority, retries among them, by outcome, purpose and the priority of the caller.',
      ['outcome', 'purpose', 'priority'],
    ),
    upstreamCallSeconds: histogram(
      'transit_upstream_call_duration_seconds',
      'Time a call of the authority takes, body included.',
      ['kind'],
      UPSTREAM_BOUNDS,
    ),
    feedPolls: counter('transit_feed_polls_total', 'Polls of the realtime feeds, by what became of them.', [
      'feed',
      'outcome',
    ]),
    boards: counter(
      'transit_boards_total',
      'Boards by what they were made of (overlay: timetable and feeds; monitor: calls), why, and for want of which feed.',
      ['source', 'reason', 'feed'],
    ),
    storeCalls: counter('transit_store_calls_total', 'Admissions asked of the account store.', ['outcome']),
    storeSeconds: histogram(
      'transit_store_call_duration_seconds',
      'Time the account store takes to admit a request.',
      [],
      STORE_BOUNDS,
    ),
  };
}

type Label = string | number;

export function count({ series }: Counter, first?: Label, second?: Label, third?: Label): void {
  series.at(first, second, third).count++;
}

/** Adds what one response of an operation left out. */
export function countLeftOut({ series }: Counter, operation: string, leftOut: LeftOutCounts): void {
  for (const [reason, records] of listLeftOut(leftOut)) series.at(operation, reason, kindOf(reason)).count += records;
}

export function observe({ series, bounds }: Histogram, seconds: number, label?: string): void {
  add(series.at(label), bounds, seconds);
}

/** `observe` for one label, which is looked up once. The series appears with the first observation. */
export function observer({ series, bounds }: Histogram, label: string): (seconds: number) => void {
  let distribution: Distribution | null = null;
  return (seconds) => {
    distribution ??= series.at(label);
    add(distribution, bounds, seconds);
  };
}

function add(distribution: Distribution, bounds: readonly number[], seconds: number): void {
  let bucket = 0;
  while (bucket < bounds.length && seconds > (bounds[bucket] as number)) bucket++;
  distribution.counts[bucket] = (distribution.counts[bucket] as number) + 1;
  distribution.sum += seconds;
}

function counter(name: string, help: string, labels: readonly string[]): Counter {
  const series = createSeries(labels.length as 1 | 2 | 3, () => ({ count: 0 }));
  return { kind: 'counter', name, help, labels, series };
}

function histogram(name: string, help: string, labels: readonly string[], bounds: readonly number[]): Histogram {
  const series = createSeries(labels.length as 0 | 1, () => ({
    counts: new Array<number>(bounds.length + 1).fill(0),
    sum: 0,
  }));
  return { kind: 'histogram', name, help, labels, bounds, series };
}

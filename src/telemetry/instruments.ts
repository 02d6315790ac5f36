import { kindOf, type LeftOutCounts, listLeftOut } from '../efa/response/record.ts';
import { Counter, Histogram } from './fast-metrics.ts';

/** What this process has done since it began, as Prometheus reads it. */
export type Instruments = ReturnType<typeof createInstruments>;

const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const AGE_BOUNDS = [1, 5, 10, 15, 30, 45, 60, 90, 120, 300, 600, 1800, 3600, 21_600, 86_400];
const UPSTREAM_BOUNDS = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 10];
const STORE_BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5];

export function createInstruments() {
  return {
    requests: new Counter('transit_http_requests_total', 'Requests to operations, by how they were answered.', [
      'operation',
      'status',
      'plan',
    ]),
    requestSeconds: new Histogram(
      'transit_http_request_duration_seconds',
      'Time from a request to the end of its response.',
      ['operation'],
      REQUEST_BOUNDS,
    ),
    responseAge: new Histogram(
      'transit_response_age_seconds',
      'Age of good responses when they are sent: of the oldest part that the authority said.',
      ['operation'],
      AGE_BOUNDS,
    ),
    responses: new Counter(
      'transit_responses_total',
      'Good responses of operations, by where they come from: a call of the authority, a call joined, or the cache.',
      ['operation', 'source'],
    ),
    quotaDecisions: new Counter('transit_quota_decisions_total', 'What became of the key and the count of a request.', [
      'decision',
      'plan',
    ]),
    leftOutRecords: new Counter(
      'transit_records_left_out_total',
      'Records of the authority that are not shown, by reason; kind: everyday, unknown (class of vehicle) or bad.',
      ['operation', 'reason', 'kind'],
    ),
    departureRecords: new Counter(
      'transit_departure_records_total',
      'Departures in responses of the authority, by whether the authority tracks the vehicle.',
      ['live'],
    ),
    upstreamCalls: new Counter(
      'transit_upstream_calls_total',
      'Calls of the authority, retries among them, by outcome, purpose and the priority of the caller.',
      ['outcome', 'purpose', 'priority'],
    ),
    upstreamCallSeconds: new Histogram(
      'transit_upstream_call_duration_seconds',
      'Time a call of the authority takes, body included.',
      ['kind'],
      UPSTREAM_BOUNDS,
    ),
    feedPolls: new Counter('transit_feed_polls_total', 'Polls of the realtime feeds, by what became of them.', [
      'feed',
      'outcome',
    ]),
    boards: new Counter(
      'transit_boards_total',
      'Boards by what they were made of (overlay: timetable and feeds; monitor: calls), why, and for want of which feed.',
      ['source', 'reason', 'feed'],
    ),
    storeCalls: new Counter('transit_store_calls_total', 'Admissions asked of the account store.', ['outcome']),
    storeSeconds: new Histogram(
      'transit_store_call_duration_seconds',
      'Time the account store takes to admit a request.',
      [],
      STORE_BOUNDS,
    ),
  };
}

/** Adds what one response of an operation left out. */
export function countLeftOut({ leftOutRecords }: Instruments, operation: string, leftOut: LeftOutCounts): void {
  for (const [reason, records] of listLeftOut(leftOut))
    leftOutRecords.inc([operation, reason, kindOf(reason)], records);
}

/** A name of the code as a label's value: "staleBusy" → "stale-busy". */
export function toLabel(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

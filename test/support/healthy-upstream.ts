import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { type PayloadOf, parseResponse, type UpstreamRequest } from '#src/efa/request.ts';
import {
  coordResponse,
  departureMonitorResponse,
  NOW,
  stopFinderResponse,
  tripResponse,
} from '#test/contract/payloads.ts';
import { buildTestApp, type TestApp } from './app.ts';

const ANSWERS: Record<UpstreamRequest['kind'], unknown> = {
  departureMonitor: departureMonitorResponse,
  coord: coordResponse,
  stopFinder: stopFinderResponse,
  trip: tripResponse,
  notices: { infos: { current: [] } },
};

/** An upstream without a network that always responds well. */
export const healthyUpstream: QueryUpstream = async <Requested extends UpstreamRequest>(request: Requested) => {
  const payload: PayloadOf<Requested> = parseResponse(request, ANSWERS[request.kind]);
  return { payload, retrievedAt: Date.parse(NOW) };
};

/** The service in front of the healthy upstream, or of the given one. */
export function buildHealthyApp(upstream: QueryUpstream = healthyUpstream): Promise<TestApp> {
  return buildTestApp({ upstream, now: NOW });
}

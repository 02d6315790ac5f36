import type { AddressInfo } from 'node:net';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { parseDepartureMonitor } from '#src/efa/payload.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { issueTestKey } from '#test/support/access.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';

const NOW = '2026-04-15T06:00:10Z';
export const AT_TEN = '2026-04-15T06:10:00Z';
export const AT_TWENTY = '2026-04-15T06:20:00Z';

export interface StreamingService {
  app: TestApp;
  url: string;
  /** A key of the Free plan. */
  key: string;
  /** When vehicles leave the stop. A failure of upstream in its place. */
  leaves: string[] | ApiError;
}

export const upstreamFailure = () => new ApiError('UPSTREAM_ERROR', 'Transport for NSW failed.');

/** The service, whose streams notice a change of `leaves` at once. */
export async function startStreamingService(): Promise<StreamingService> {
  const store = openEmbeddedStore(':memory:');
  const queryUpstream = (async () => {
    if (service.leaves instanceof ApiError) throw service.leaves;
    const retrievedAt = Date.parse(NOW);
    const times = { retrievedAt, freshUntil: retrievedAt, staleUntil: retrievedAt };
    const payload = parseDepartureMonitor(departureMonitor(...service.leaves));
    return { payload, retrievedAt: Date.parse(NOW), freshness: { ...times, source: 'cache', shortage: null } };
  }) as unknown as QueryUpstream;
  const streamTimes = { minMs: 10, commentMs: 60_000, commentsPerCharge: 4 };
  const app = await buildTestApp({ upstream: queryUpstream, now: NOW, store, streamTimes });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const key = await issueTestKey(store);
  const service: StreamingService = { app, url: `http://127.0.0.1:${port}`, key, leaves: [AT_TEN] };
  return service;
}

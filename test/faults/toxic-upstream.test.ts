import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { expectContract } from '#test/contract/expect-contract.ts';
import { goodAnswerTo, OPERATIONS } from '#test/contract/operations.ts';
import { NOW } from '#test/contract/payloads.ts';
import { buildTestApp } from '#test/support/app.ts';
import { type DelayingProxy, startDelayingProxy } from '#test/support/delaying-proxy.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { startUpstream, type TestUpstream } from '#test/support/upstream.ts';
import { FAULT_RUNS, TOXICS } from './toxics.ts';

const CALL_MS = 500;
const DEADLINES = { callMs: CALL_MS, callWithRetryMs: CALL_MS + 300, requestMs: CALL_MS + 500, closeMs: 2000 };
/** Longer than any response is fresh, and shorter than any is cached. */
const LATER_MS = 60_000;
const [DEPARTURES] = OPERATIONS;

let upstream: TestUpstream;
let proxy: DelayingProxy;
beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(goodAnswerTo(request.url));
  });
  proxy = await startDelayingProxy(Number(new URL(upstream.url).port), 0);
});
afterAll(async () => {
  await proxy.close();
  await upstream.close();
});

/** The service with its whole protection, on a running clock that can be set ahead. */
async function startService() {
  let ahead = Date.parse(NOW) - Date.now();
  const now = () => Date.now() + ahead;
  const date = () => new Date(now());
  const url = `http://127.0.0.1:${proxy.port}/v1/tp`;
  const client = createEfaClient({ url, apiKey: 'k', timeoutMs: CALL_MS, now: () => date().getTime() });
  const limits = { rps: 5, dailyBudget: 60_000 };
  const log = createTestLog();
  const { queryUpstream } = protectUpstream({
    callByKey: [client.callUpstream],
    limits,
    deadlines: DEADLINES,
    log,
    clock: { ...systemClock, now },
  });
  const app = await buildTestApp({ upstream: queryUpstream, now: date });
  return {
    app,
    setAhead: (ms: number) => {
      ahead += ms;
    },
    async close() {
      proxy.toxic = null;
      await app.close();
      await client.close();
    },
  };
}

describe.each(TOXICS)('$name between the service and upstream', ({ toxic, isHarmless }) => {
  it(
    'a faulty connection to upstream gives an error or a response with empty caches, and always a response with filled ones',
    async () => {
      for (let run = 0; run < FAULT_RUNS; run++) {
        const service = await startService();
        const send = async () => {
          const response = await service.app.inject(DEPARTURES.url);
          expectContract(response, DEPARTURES);
          return response.statusCode;
        };
        proxy.toxic = toxic;
        const cold = await send();
        if (isHarmless) expect(cold).toBe(200);
        else expect([502, 504]).toContain(cold);

        proxy.toxic = null;
        service.setAhead(LATER_MS);
        expect(await send()).toBe(200);
        service.setAhead(LATER_MS);
        proxy.toxic = toxic;
        const callsBefore = upstream.requests.length;
        for (let n = 0; n < 5; n++) expect(await send()).toBe(200);
        // One call, and its retry after a lost connection. Then the service waits for the fault to end.
        expect(upstream.requests.length - callsBefore).toBeLessThanOrEqual(2);

        proxy.toxic = null;
        service.setAhead(LATER_MS);
        expect(await send()).toBe(200);
        await service.close();
      }
    },
    10_000 * FAULT_RUNS,
  );
});

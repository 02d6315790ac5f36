import type { BurstLimits } from '#src/access/limits/burst-limits.ts';
import type { AccountStore } from '#src/access/store.ts';
import { sleep, withTimeLimit } from '#src/core/clock.ts';
import { createEfaClient } from '#src/efa/client.ts';
import type { StopRegister } from '#src/stops/register.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { buildTestApp } from '#test/support/app.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { type Handler, startUpstream } from '#test/support/upstream.ts';

/** The whole service with its protection, in front of a made-up HTTP upstream; time stands still. */
export async function startProtectedApp(options: {
  now: string;
  response: Handler;
  store?: AccountStore;
  burstLimits?: BurstLimits;
  stops?: StopRegister;
}) {
  const clock = createSimulatedClock(options.now);
  const now = () => new Date(clock.now());
  const upstream = await startUpstream(options.response);
  const client = createEfaClient({
    url: upstream.url,
    apiKey: 'test-key',
    timeoutMs: 60_000,
    now: () => now().getTime(),
  });
  /** In real time, unlike all else here. Short only if upstream never ends a response, because a busy machine is slow. */
  const patience = { callMs: 60_000 };
  const callUpstream: typeof client.callUpstream = (request, { signal, ...rest } = {}) =>
    withTimeLimit(patience.callMs, (signal) => client.callUpstream(request, { ...rest, signal }), { signal });
  const limits = { rps: 1000, dailyBudget: 1e9 };
  const protection = protectUpstream({ callByKey: [callUpstream], limits, log: createTestLog(), clock });
  const app = await buildTestApp({
    upstream: protection.queryUpstream,
    now,
    sleep: (ms) => sleep(clock, ms),
    ...(options.store && { store: options.store }),
    ...(options.burstLimits && { burstLimits: options.burstLimits }),
    ...(options.stops && { stops: options.stops }),
  });
  app.addHook('onClose', async () => {
    await client.close();
    await upstream.close();
  });
  return { app, apiKey: app.apiKey, clock, upstream, protection, patience };
}

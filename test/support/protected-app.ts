import { buildApp } from '#src/app.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { createProtectedClient } from '#src/upstream/protected-client.ts';
import { openTestAccess, sendKey } from '#test/support/access.ts';
import { createTestLog } from '#test/support/made-up-client.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { type Answer, startUpstream } from '#test/support/upstream.ts';

/** The whole service, protection included, before a made-up authority that speaks HTTP; time stands still. */
export async function startProtectedApp(options: { now: string; answer: Answer; timeoutMs?: number }) {
  const clock = createSimulatedClock(options.now);
  const now = () => new Date(clock.now());
  const upstream = await startUpstream(options.answer);
  const raw = createEfaClient({ url: upstream.url, apiKeys: ['test-key'], timeoutMs: options.timeoutMs ?? 5000, now });
  const efa = createProtectedClient({
    clients: [raw],
    limits: { rps: 1000, dailyBudget: 1e9 },
    log: createTestLog(),
    clock,
  });
  const { store, apiKey } = await openTestAccess(now());
  const access = { store, acceptsTestKeys: false };
  const app = await buildApp({
    config: { publicUrl: 'https://example.test', docsUrl: 'https://example.test/docs', trustProxy: false },
    efa,
    access,
    now,
  });
  sendKey(app, apiKey);
  app.addHook('onClose', async () => {
    await raw.close();
    await upstream.close();
  });
  return { app, apiKey, clock, upstream, efa };
}

import type { FastifyInstance } from 'fastify';
import { buildApp } from '#src/app.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { openTestAccess, sendKey } from './access.ts';

export interface TestApp extends FastifyInstance {
  /** What the service takes for the present. */
  clock: { now: Date };
  /** Sent by `inject` with every request that has no Authorization header. */
  apiKey: string;
}

/** The whole service in front of the given upstream, with a clock that stands still until it is set. */
export async function buildTestApp(options: {
  upstreamUrl: string;
  now: string;
  timeoutMs?: number;
  apiKey?: string;
}): Promise<TestApp> {
  const clock = { now: new Date(options.now) };
  const now = () => clock.now;
  const efa = createEfaClient({
    url: options.upstreamUrl,
    apiKeys: [options.apiKey ?? 'test-key'],
    timeoutMs: options.timeoutMs ?? 5000,
    now,
  });
  const { store, apiKey } = await openTestAccess(clock.now);
  const app = await buildApp({
    config: { publicUrl: 'https://example.test', docsUrl: 'https://example.test/docs', trustProxy: false },
    efa,
    access: { store, acceptsTestKeys: false },
    now,
  });
  app.addHook('onClose', () => efa.close());
  sendKey(app, apiKey);
  return Object.assign(app, { clock, apiKey });
}

import type { FastifyInstance } from 'fastify';
import { buildApp } from '#src/app.ts';
import { createEfaClient } from '#src/efa/client.ts';

export interface TestApp extends FastifyInstance {
  /** What the service takes for the present. */
  clock: { now: Date };
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
  const app = await buildApp({ config: { docsUrl: 'https://example.test/docs', trustProxy: false }, efa, now });
  app.addHook('onClose', () => efa.close());
  return Object.assign(app, { clock });
}

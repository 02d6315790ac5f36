import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { buildApp } from '#src/app.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { NOW } from '#test/contract/payloads.ts';

/** The whole service with several keys of the authority, and all that it logs, at the most talkative level. */
export async function buildLoggedApp(options: { upstreamUrl: string; apiKeys: readonly string[] }): Promise<{
  app: FastifyInstance;
  /** Every line logged so far. */
  logged: () => string;
}> {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const now = () => new Date(NOW);
  const efa = createEfaClient({ url: options.upstreamUrl, apiKeys: options.apiKeys, timeoutMs: 300, now });
  const app = await buildApp({ config: { docsUrl: 'https://example.test/docs', trustProxy: false }, efa, now, logger });
  app.addHook('onClose', () => efa.close());
  return { app, logged: () => lines.join('') };
}

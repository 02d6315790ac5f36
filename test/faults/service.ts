import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { buildApp } from '#src/app.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { NOW } from '#test/contract/payloads.ts';
import { openTestAccess, sendKey } from '#test/support/access.ts';

/** The whole service with several keys of the authority, and all that it logs, at the most talkative level. */
export async function buildLoggedApp(options: { upstreamUrl: string; apiKeys: readonly string[] }): Promise<{
  app: FastifyInstance;
  /** The caller's own. */
  apiKey: string;
  /** Every line logged so far. */
  logged: () => string;
}> {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const now = () => new Date(NOW);
  const efa = createEfaClient({ url: options.upstreamUrl, apiKeys: options.apiKeys, timeoutMs: 300, now });
  const { store, apiKey } = await openTestAccess(now());
  const access = { store, acceptsTestKeys: false };
  const config = { publicUrl: 'https://example.test', docsUrl: 'https://example.test/docs', trustProxy: false };
  const app = await buildApp({ config, efa, access, now, logger });
  app.addHook('onClose', () => efa.close());
  sendKey(app, apiKey);
  return { app, apiKey, logged: () => lines.join('') };
}

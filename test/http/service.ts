import { pino } from 'pino';
import { buildApp } from '#src/app.ts';
import type { EfaClient } from '#src/efa/client.ts';
import { departureMonitorSchema, locationsSchema, tripSchema } from '#src/efa/payload.ts';
import { coordAnswer, departureMonitorAnswer, NOW, stopFinderAnswer, tripAnswer } from '#test/contract/payloads.ts';
import { openTestAccess, sendKey } from '#test/support/access.ts';

const retrievedAt = new Date(NOW);

/** An authority that is always well. */
const healthy: EfaClient = {
  departureMonitor: async () => ({ payload: departureMonitorSchema.parse(departureMonitorAnswer), retrievedAt }),
  coordSearch: async () => ({ payload: locationsSchema.parse(coordAnswer), retrievedAt }),
  stopFinder: async () => ({ payload: locationsSchema.parse(stopFinderAnswer), retrievedAt }),
  tripPlan: async () => ({ payload: tripSchema.parse(tripAnswer), retrievedAt }),
};

/** The service without a network behind it, and all that it logs, at the most talkative level. */
export async function buildHttpApp(efa: Partial<EfaClient> = {}) {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const { store, apiKey } = await openTestAccess(retrievedAt);
  const app = await buildApp({
    config: { publicUrl: 'https://example.test', docsUrl: 'https://example.test/docs', trustProxy: false },
    efa: { ...healthy, ...efa },
    access: { store, acceptsTestKeys: false },
    now: () => new Date(NOW),
    logger,
  });
  sendKey(app, apiKey);
  return { app, apiKey, logged: () => lines.join('') };
}

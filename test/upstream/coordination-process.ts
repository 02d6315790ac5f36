import { pino } from 'pino';
import { openRedis } from '#src/core/redis/shared-redis.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { createSharedMeters, protectUpstream } from '#src/upstream/protection.ts';

/*
 * One instance in its own process. On `{ id, stops, times }` it requests the departures of each stop that many times at once
 * and reports the outcomes.
 */
const [redisUrl = '', upstreamUrl = '', rps = '5'] = process.argv.slice(2);
const log = pino({ level: 'silent' });
const limits = { rps: Number(rps), dailyBudget: 60_000 };
const redis = await openRedis([redisUrl], log);
const { queryUpstream } = protectUpstream({
  callByKey: [createEfaClient({ url: upstreamUrl, apiKey: 'test-key', timeoutMs: 5000, now: Date.now }).callUpstream],
  limits,
  log,
  meters: createSharedMeters(redis, { apiKeys: ['test-key'], limits }),
});

process.on('message', async ({ id, stops, times }: { id: string; stops: string[]; times: number }) => {
  const sent = stops.flatMap((stopId) =>
    Array.from({ length: times }, () => queryUpstream({ kind: 'departureMonitor', stopId, modes: ['bus'], at: null })),
  );
  const outcomes = await Promise.allSettled(sent);
  process.send?.({
    id,
    ok: outcomes.filter(({ status }) => status === 'fulfilled').length,
    errors: outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : [])),
  });
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');

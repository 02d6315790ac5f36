import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { openStore } from '#src/access/stores/open-store.ts';
import { buildApp } from '#src/app.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { REFUSAL_LIMITS } from '#src/http/connection/held-refusals.ts';
import { openRedis } from '#src/redis/shared-redis.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { issueTestKey, openTestAccess } from '#test/support/access.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { json, startUpstream } from '#test/support/upstream.ts';

/*
 * The measured server, in a process of its own. `bare` is Fastify and a Buffer of the same size; `service` is the whole
 * service, with its accounts in Redis or, without a URL, in an embedded file. To any message it replies with the
 * processor time used so far, in microseconds.
 */
const LEAVES = Array.from({ length: 20 }, (_, index) => new Date(Date.now() + (60 + index) * 60_000).toISOString());
const silent = { info() {}, warn() {}, error() {} };

const [kind, detail = ''] = process.argv.slice(2);
const isBare = kind === 'bare';
const { app, ...keys } = isBare ? { app: createBare(Number(detail)) } : await createService(detail);
await app.listen({ host: '127.0.0.1', port: 0 });

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicroseconds: user + system });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: (app.server.address() as AddressInfo).port, ...keys });

async function openRedisAccess(url: string) {
  const store = openStore({ redis: await openRedis([url], silent), dataDir: '', log: silent });
  return { store, apiKey: await issueTestKey(store, { plan: 'pro' }) };
}

function createBare(bytes: number): FastifyInstance {
  const body = Buffer.alloc(bytes, 'x');
  const bare = Fastify();
  bare.get('/v1/departures', (_request, reply) => reply.type('application/json; charset=utf-8').send(body));
  return bare;
}

async function createService(redisUrl: string): Promise<{ app: FastifyInstance; apiKey: string; freeKey: string }> {
  const upstream = await startUpstream(json(departureMonitor(...LEAVES)));
  const now = () => new Date();
  const client = createEfaClient({ url: upstream.url, apiKey: 'bench', timeoutMs: 5000, now });
  const { ask } = protectUpstream({ asks: [client.ask], limits: { rps: 5, dailyBudget: 60_000 }, log: silent });
  const { store, apiKey } = await (redisUrl ? openRedisAccess(redisUrl) : openTestAccess(now()));
  const access = { store, acceptsTestKeys: false };
  const service = await buildApp({
    config: { publicUrl: 'https://example.test', docsUrl: 'http://localhost/docs', trustProxy: false },
    ask,
    access,
    refusalLimits: REFUSAL_LIMITS,
    now,
  });
  return { app: service, apiKey, freeKey: await issueTestKey(store) };
}

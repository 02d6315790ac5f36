import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { generateAccountId, generateKey } from '#src/access/keys.ts';
import { forEachPlan, PLANS, type PlanName } from '#src/access/plan.ts';
import type { AccountStore } from '#src/access/store.ts';
import { openStore } from '#src/access/stores/open-store.ts';
import { buildApp } from '#src/app.ts';
import { openLog } from '#src/core/log.ts';
import { openRedis } from '#src/core/redis/shared-redis.ts';
import { createEfaClient } from '#src/efa/client.ts';
import { assistants } from '#src/extensions/mcp/mcp.ts';
import { streams } from '#src/extensions/streams/stream-routes.ts';
import { countRequests, createInstruments, watchAdmissions } from '#src/extensions/telemetry/instruments.ts';
import { Traffic } from '#src/extensions/telemetry/traffic.ts';
import { NETWORK_LIMIT } from '#src/http/network-limit.ts';
import { PressureWatch, refuseUnderPressure } from '#src/http/pressure.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { issueTestKey, openTestAccess } from '#test/support/access.ts';
import { startUpstream } from '#test/support/upstream.ts';
import { boardPages } from '#web/board/text-board.ts';
import { type PageOptions, pages } from '#web/pages.ts';
import { profileRooms, type Shares } from './rooms.ts';
import { responseOfUpstream } from './upstream.ts';

/*
 * The measured server, in its own process. `bare` is Fastify sending a Buffer with the given headers; `service` is the complete
 * service with log and metrics, and accounts in Redis or, without a URL, in an embedded file. After the URL, `hold-refusals`
 * delays refusals as in production, and `usual-limits` after that applies the short-term limits of the plans. Each message is
 * answered with the processor time used so far, in microseconds. The message `profile` starts a CPU profile, whose shares are
 * added to the next reply.
 */

/** Enough for a run: a Free account has 1,000 requests a day. */
const FREE_KEYS = 600;
const DEVELOPER_KEYS = 20;
/** Short-term limits are checked but never reached. */
const RATE = { perSecond: 1_000_000, burst: 1_000_000 };
/** Paths requested from the service, nginx and hafas-rest-api. */
const BARE_PATHS = ['/v1/departures', '/v1/trips', '/stops/:id/departures'];
const silent = { info() {}, warn() {}, error() {} };

const [kind, ...details] = process.argv.slice(2);
const started = kind === 'bare' ? createBare(details) : await createService(details);
await started.app.listen({ host: '127.0.0.1', port: 0 });

let stopProfile: (() => Promise<Shares>) | null = null;
process.on('message', async (message) => {
  const used = process.cpuUsage();
  const shares = (await stopProfile?.()) ?? null;
  stopProfile = message === 'profile' ? await profileRooms() : null;
  // Starting and ending a profile is not part of the measured work.
  const { user, system } = stopProfile ? process.cpuUsage() : used;
  process.send?.({ cpuMicroseconds: user + system, shares });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: (started.app.server.address() as AddressInfo).port, keys: started.keys });

function createBare([bytes, headers]: string[]): { app: FastifyInstance; keys: null } {
  const body = Buffer.alloc(Number(bytes), 'x');
  const fields = JSON.parse(headers ?? '{}');
  const app = Fastify();
  for (const path of BARE_PATHS) app.get(path, (_request, reply) => reply.headers(fields).send(body));
  return { app, keys: null };
}

async function createService([redisUrl, refusals, limits]: string[]) {
  const upstream = await startUpstream((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(responseOfUpstream(request.url));
  });
  const now = () => new Date();
  const client = createEfaClient({ url: upstream.url, apiKey: 'bench', timeoutMs: 5000, now: () => now().getTime() });
  const { queryUpstream } = protectUpstream({
    callByKey: [client.callUpstream],
    limits: { rps: 5, dailyBudget: 60_000 },
    log: silent,
  });
  const store = redisUrl
    ? openStore({ redis: await openRedis([redisUrl], silent), dataDir: '', log: silent })
    : (await openTestAccess(now())).store;
  const instruments = createInstruments();
  const hasPages = refusals === 'hold-refusals';
  const app = await buildApp({
    config: { publicUrl: 'https://example.test', docsUrl: 'http://localhost/docs', trustProxy: false },
    sources: { queryUpstream },
    access: {
      store: watchAdmissions(store, instruments),
      acceptsTestKeys: false,
      ...(limits !== 'usual-limits' && { burstLimits: forEachPlan((plan) => PLANS[plan].rate && RATE) }),
    },
    http: { logger: openLog('info', { file: '/dev/null' }), ...(hasPages && { networkLimit: NETWORK_LIMIT }) },
    extensions: [
      refuseUnderPressure(new PressureWatch()),
      countRequests({ instruments, ...(hasPages && { traffic: new Traffic(() => now().getTime()) }) }),
      streams(),
      assistants,
      boardPages(),
      ...(hasPages ? [pages(pageOptions(store, now))] : []),
    ],
    now: () => now().getTime(),
  });
  return { app, keys: await issueKeys(store) };
}

/** The pages as in production, except that mails go nowhere. */
function pageOptions(accounts: AccountStore, now: () => Date): PageOptions {
  return {
    accounts,
    traffic: new Traffic(() => now().getTime()),
    testKey: async () => null,
    publishableKey: async () => null,
    mailer: { isOutbox: true, send: async () => {} },
    contact: null,
    tileUrl: null,
    tileAttribution: '',
    networkMap: null,
  };
}

async function issueKeys(store: AccountStore) {
  const issue = (plan: PlanName, count: number) =>
    Promise.all(Array.from({ length: count }, () => issueTestKey(store, { plan })));
  return {
    pro: await issue('pro', 1),
    developer: await issue('developer', DEVELOPER_KEYS),
    free: await issue('free', FREE_KEYS),
    usedUp: await issue('free', 1),
    unknown: [generateKey('live', generateAccountId())],
  };
}

import type { AddressInfo } from 'node:net';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { buildApp } from '#src/app.ts';
import type { CallUpstream } from '#src/efa/query-upstream.ts';
import { streams as streamsExtension } from '#src/extensions/streams/stream-routes.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { issueTestKey } from '#test/support/access.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { receivedResponse } from '#test/support/received-response.ts';

/*
 * The service whose streams are measured, in its own process, in front of an in-process upstream whose boards change every
 * minute. Answers each message with memory, processor time and the number of upstream requests.
 */
const BOARD_SIZE = 10;
/** The number of streams that a Pro account may open. */
const STREAMS_PER_ACCOUNT = 1000;
const silent = { info() {}, warn() {}, error() {} };

const [streams = '10000'] = process.argv.slice(2);
let requests = 0;

const upstream: CallUpstream = async (request) => {
  requests += 1;
  const leaves = Array.from({ length: BOARD_SIZE }, (_, index) => new Date(Date.now() + (5 + index) * 60_000));
  const board = departureMonitor(...leaves.map((time) => time.toISOString()));
  return receivedResponse(request, board, new Date());
};
const limits = { rps: Number.POSITIVE_INFINITY, dailyBudget: 1e12 };
const { queryUpstream } = protectUpstream({ callByKey: [upstream], limits, log: silent });
const store = openEmbeddedStore(':memory:');
const accounts = Math.ceil(Number(streams) / STREAMS_PER_ACCOUNT);
const keys = await Promise.all(Array.from({ length: accounts }, () => issueTestKey(store, { plan: 'pro' })));
const app = await buildApp({
  config: { publicUrl: 'https://example.test', docsUrl: 'http://localhost/docs', trustProxy: false },
  sources: { queryUpstream },
  access: { store, acceptsTestKeys: false },
  // All streams come from one address here.
  http: { connectionLimits: { max: Number(streams), maxPerAddress: Number(streams) } },
  extensions: [streamsExtension()],
  now: Date.now,
});
await app.listen({ host: '127.0.0.1', port: 0, backlog: 4096 });

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000, rssBytes: process.memoryUsage.rss(), requests });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: (app.server.address() as AddressInfo).port, keys });

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallUpstream } from '#src/efa/query-upstream.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { receivedResponse } from '#test/support/received-response.ts';
import { describeMachine, print } from './machine.ts';

/*
 * The memory of the process when every request is new and the response cache is full.
 * `node bench/memory.ts [requests] [kilobytes of a response]`
 */
const [requests = '100000', kilobytes = '20'] = process.argv.slice(2);
const MEGABYTE = 1024 * 1024;
/** The cache limit of the service. */
const MAX_CACHE_BYTES = 64 * MEGABYTE;
const silent = { info() {}, warn() {}, error() {} };

const upstream: CallUpstream = async (request) => {
  // Half of it is compressible.
  const noise = crypto.getRandomValues(Buffer.alloc(Number(kilobytes) * 256)).toString('hex');
  const text = `${JSON.stringify(request).padEnd(Number(kilobytes) * 512)}${noise}`;
  return receivedResponse(request, { stopEvents: [text] }, new Date());
};
const { queryUpstream, cache } = protectUpstream({
  callByKey: [upstream],
  limits: { rps: Number.POSITIVE_INFINITY, dailyBudget: 1e12 },
  log: silent,
});

print(describeMachine());
print(`${requests} requests, responses of ${kilobytes} KB, cache limited to ${MAX_CACHE_BYTES / MEGABYTE} MB\n`);
print('   requests   responses cached   MB cached   MB resident');
for (let sent = 0; sent <= Number(requests); sent++) {
  if (sent % Math.ceil(Number(requests) / 10) === 0) {
    const { entries, bytes } = cache.size();
    const figures = [sent, entries, (bytes / MEGABYTE).toFixed(1), (process.memoryUsage.rss() / MEGABYTE).toFixed(0)];
    print(figures.map((figure, index) => String(figure).padStart([11, 19, 12, 14][index] ?? 0)).join(''));
    await nextTurn();
  }
  await queryUpstream({ kind: 'departureMonitor', stopId: String(sent), modes: ['bus'], at: null });
}
if (cache.size().bytes > MAX_CACHE_BYTES) process.exitCode = 1;

import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { buildProbeApp } from '../support/probe-app.ts';
import { openTestStore } from '../support/redis.ts';
import { keepLedger, type Ledger, NEVER } from './history/ledger.ts';

/*
 * One instance of the service in its own process. It listens and reports its port. On `{ key, requests }` it makes that many
 * requests at once and reports how many got which status; on `{ link, issuedAt }` it uses a link of the account and reports
 * whether that worked. On `'stop'` it shuts down as the service does, on `'die'` by SIGKILL. In both cases it first reports its
 * knowledge of the counts in Redis.
 */
const [redisUrls = '', dataDir = ''] = process.argv.slice(2);
const ledger: Ledger = { accounts: {}, away: [] };
const log = {
  info(_fields: object, message: string) {
    const last = ledger.away.at(-1);
    if (last && message === 'Redis is back') last.to = Date.now();
  },
  warn(_fields: object, message: string) {
    if (message === 'Redis is unreachable') ledger.away.push({ from: Date.now(), to: NEVER });
  },
};
/** Announces often, so that tests need not wait until the processes know of each other. */
const options = { announceEveryMs: 100 };
const store = keepLedger(await openTestStore(redisUrls.split(',').filter(Boolean), dataDir, log, options), ledger);
const app = await buildProbeApp({ store });
await app.listen({ host: '127.0.0.1', port: 0 });

interface LinkUse {
  link: string;
  issuedAt: number;
}

process.on('message', async (message: { key: string; requests: number } | LinkUse | 'stop' | 'die') => {
  if (typeof message === 'object' && 'link' in message) {
    process.send?.(await store.useLink(message.link, message.issuedAt));
    return;
  }
  if (message === 'die') {
    // The report is already in the pipe when `send` returns.
    process.send?.({ isSudden: true, ledger });
    process.kill(process.pid, 'SIGKILL');
  }
  if (message === 'stop') {
    await app.close();
    const isSudden = ledger.away.at(-1)?.to === NEVER;
    await store.close();
    process.send?.({ isSudden, ledger }, () => process.exit(0));
    return;
  }
  const { key, requests } = message as { key: string; requests: number };
  const sent: ReturnType<typeof app.send>[] = [];
  while (sent.length < requests) {
    sent.push(app.send(key));
    // Leaves time for replies of Redis, as requests from a network do.
    if (sent.length % 50 === 0) await setImmediate();
  }
  const statuses = Object.groupBy(await Promise.all(sent), ({ statusCode }) => statusCode);
  process.send?.(Object.fromEntries(Object.entries(statuses).map(([status, { length = 0 } = []]) => [status, length])));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: (app.server.address() as AddressInfo).port });

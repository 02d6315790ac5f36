import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { buildProbeApp } from '../support/probe-app.ts';
import { openTestStore } from '../support/redis.ts';

/*
 * One instance of the service in a process of its own. It listens and tells its port. On `{ key, requests }` it makes so
 * many requests at once and reports how many got which status; on `'stop'` it ends as the service does.
 */
const [redisUrls = '', dataDir = ''] = process.argv.slice(2);
const store = await openTestStore(redisUrls.split(',').filter(Boolean), dataDir);
const app = await buildProbeApp({ store });
await app.listen({ host: '127.0.0.1', port: 0 });

process.on('message', async (message: { key: string; requests: number } | 'stop') => {
  if (message === 'stop') {
    await app.close();
    await store.close();
    process.exit(0);
  }
  const { key, requests } = message;
  const asked: ReturnType<typeof app.ask>[] = [];
  while (asked.length < requests) {
    asked.push(app.ask(key));
    // As requests from a network do, these leave time for answers of Redis.
    if (asked.length % 50 === 0) await setImmediate();
  }
  const statuses = Object.groupBy(await Promise.all(asked), ({ statusCode }) => statusCode);
  process.send?.(Object.fromEntries(Object.entries(statuses).map(([status, { length = 0 } = []]) => [status, length])));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: (app.server.address() as AddressInfo).port });

import { buildProbeApp } from '../support/probe-app.ts';
import { openTestStore } from '../support/redis.ts';

/*
 * One instance of the service in a process of its own. Told `{ key, requests }`, it makes so many requests at once and
 * reports how many got which status.
 */
const [redisUrls = '', dataDir = ''] = process.argv.slice(2);
const store = await openTestStore(redisUrls.split(',').filter(Boolean), dataDir);
const app = await buildProbeApp({ store });

process.on('message', async ({ key, requests }: { key: string; requests: number }) => {
  const answers = await Promise.all(Array.from({ length: requests }, () => app.ask(key)));
  const statuses = Object.groupBy(answers, ({ statusCode }) => statusCode);
  process.send?.(Object.fromEntries(Object.entries(statuses).map(([status, { length = 0 } = []]) => [status, length])));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');

import { Redis } from 'ioredis';
import { quotaDay } from '#src/access/day.ts';
import { parseKey } from '#src/access/keys.ts';
import { openStore } from '#src/access/stores/open-store.ts';
import { openRedis } from '#src/core/redis/shared-redis.ts';
import { issueTestKey } from '#test/support/access.ts';
import { startRedis } from '#test/support/redis.ts';
import { describeMachine, print } from './machine.ts';

/*
 * The memory in Redis for an account with a key, and for its counter of one day.
 * `node bench/redis-memory.ts [accounts]`
 */
const [accounts = '5000'] = process.argv.slice(2);
const SENDERS = ['instance-1', 'instance-2', 'instance-3'];
const silent = { info() {}, warn() {}, error() {} };
const now = () => new Date();

print(describeMachine());
const server = await startRedis();
const inspector = new Redis(server.url);
const redis = await openRedis([server.url], silent);
const store = openStore({ redis, dataDir: '', log: silent });

const keys: string[] = [];
await measure('an account with a key', Number(accounts), async () => {
  for (let n = 0; n < Number(accounts); n++) keys.push(await issueTestKey(store));
});
await measure(`its count of one day, from ${SENDERS.length} instances`, keys.length, async () => {
  for (const { accountId, hash: keyHash } of keys.flatMap((key) => parseKey(key) ?? [])) {
    for (const sender of SENDERS) await store.admit({ accountId, keyHash, day: quotaDay(now().getTime()), sender });
  }
});

await describeAccount(keys[0] ?? '');

await store.close();
redis.close();
inspector.disconnect();
await server.stop();

async function measure(what: string, count: number, fill: () => Promise<void>): Promise<void> {
  const before = await usedBytes();
  await fill();
  print(`${what.padEnd(46)} ${Math.round(((await usedBytes()) - before) / count)} bytes`);
}

/** Prints which entries expire when. */
async function describeAccount(key: string): Promise<void> {
  const id = parseKey(key)?.accountId ?? '';
  for (const name of (await inspector.keys(`*${id}*`)).sort()) {
    const [bytes, seconds] = await Promise.all([inspector.memory('USAGE', name), inspector.ttl(name)]);
    print(
      `   ${name.replace(id, 'ID').padEnd(40)} ${bytes} bytes, ${seconds < 0 ? 'no expiry' : `expires in ${Math.ceil(seconds / 86_400)} days`}`,
    );
  }
}

async function usedBytes(): Promise<number> {
  return Number(/used_memory_dataset:(\d+)/.exec(await inspector.info('memory'))?.[1]);
}

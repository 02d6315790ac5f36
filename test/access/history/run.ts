import { quotaDay } from '#src/access/day.ts';
import { parseKey } from '#src/access/keys.ts';
import { PLANS, type PlanName } from '#src/access/plan.ts';
import type { Accounts } from '#src/access/store.ts';
import { openAccounts } from '#src/access/stores/open-store.ts';
import { issueTestKey } from '#test/support/access.ts';
import { startDelayingProxy } from '#test/support/delaying-proxy.ts';
import { startRedis } from '#test/support/redis.ts';
import { redisIsBack, send } from './client.ts';
import { FAULTS, type FaultName, randomPause, type Scene } from './faults.ts';
import { type Bounds, boundsOf, type Told } from './history.ts';
import { createInstances } from './instances.ts';

/** The responses to the clients of one account, and the account's final counter. */
export interface Outcome extends Bounds {
  plan: PlanName;
  counter: number;
}

const INSTANCES = 3;
/** Long enough that requests are always on their way to Redis when a fault begins. */
const ROUND_TRIP_MS = 20;
const CLIENTS_OF_EACH_PLAN = 6;

/** Lets clients of every plan make requests to three instances during these faults, one after another, with pauses between. */
export async function runHistory(faults: readonly FaultName[], maxPauseMs: number): Promise<Outcome[]> {
  const redis = await startRedis();
  const proxy = await startDelayingProxy(redis.port, ROUND_TRIP_MS);
  const register = openAccounts({ redisUrls: [redis.url], dataDir: '' });
  const instances = createInstances(`redis://127.0.0.1:${proxy.port}`);
  const scene: Scene = { redis, proxy, instances };
  try {
    await Promise.all(Array.from({ length: INSTANCES }, instances.startAnother));
    const happen = async () => {
      for (const fault of faults) {
        await randomPause(maxPauseMs);
        await FAULTS[fault](scene);
      }
    };
    return await observe(scene, register, happen);
  } finally {
    for (const { process } of instances.running) process.kill('SIGKILL');
    await register.close();
    await proxy.close();
    await redis.stop();
  }
}

async function observe(scene: Scene, register: Accounts, happen: () => Promise<void>): Promise<Outcome[]> {
  const { instances } = scene;
  const days = [quotaDay(Date.now())];
  const plans = Object.keys(PLANS) as PlanName[];
  const accounts = await Promise.all(
    plans.map(async (plan) => ({ plan, key: await issueTestKey(register, { plan }), history: [] as Told[] })),
  );
  const clients = startClients(scene, accounts);
  const knowsAll = ({ name }: { name: string }) =>
    accounts.every(({ history }) => history.some(({ instance, outcome }) => instance === name && outcome === 'ok'));
  while (!instances.running.every(knowsAll)) await randomPause(50);
  await happen();
  await Promise.all(instances.running.map(redisIsBack));
  await clients.stop();
  await Promise.all(instances.running.map(instances.stop));
  days.push(quotaDay(Date.now()));

  return Promise.all(
    accounts.map(async ({ plan, key, history }) => {
      const accountId = parseKey(key)?.accountId ?? '';
      const counts = await register.loadUsage(accountId, [...new Set(days)]);
      const counter = counts.reduce((total, count) => total + count, 0);
      return { plan, counter, ...boundsOf({ plan, accountId }, history, instances.endings) };
    }),
  );
}

function startClients({ instances }: Scene, accounts: readonly { key: string; history: Told[] }[]) {
  let isOver = false;
  const sendOnAndOn = async ({ key, history }: { key: string; history: Told[] }) => {
    while (!isOver) {
      const instance = instances.running[Math.floor(Math.random() * instances.running.length)];
      if (instance) history.push(await send(instance, key));
      await randomPause(10);
    }
  };
  const clients = accounts.flatMap((account) =>
    Array.from({ length: CLIENTS_OF_EACH_PLAN }, () => sendOnAndOn(account)),
  );
  return {
    async stop() {
      isOver = true;
      await Promise.all(clients);
    },
  };
}

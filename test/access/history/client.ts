import { get } from 'node:http';
import { generateAccountId, generateKey } from '#src/access/keys.ts';
import { randomPause } from './faults.ts';
import type { Told } from './history.ts';
import type { Instance } from './instances.ts';

/** Requests, and the number that each is charged when served. The second fails after it was charged, and is always refunded. */
const REQUESTS = [
  { path: '/v1/probe', count: 1 },
  { path: '/v1/probe/unavailable', count: 1 },
  { path: '/v1/probe/five', count: 5 },
];
/** Shorter than some freezes of instances, so that clients give up requests that are served later. */
const PATIENCE_MS = 1000;

/** Makes a random request and records its outcome. */
export async function send(instance: Instance, key: string): Promise<Told> {
  const { path, count } = REQUESTS[Math.floor(Math.random() * REQUESTS.length)] as (typeof REQUESTS)[number];
  const outcome = await outcomeOf(`http://127.0.0.1:${instance.port}${path}`, key);
  return { instance: instance.name, at: Date.now(), count, outcome };
}

/** Waits until the instance can reject an unknown key, which it cannot do without Redis. */
export async function redisIsBack({ port }: Instance): Promise<void> {
  const stranger = () => generateKey('live', generateAccountId());
  while ((await statusOf(`http://127.0.0.1:${port}/v1/probe`, stranger())) !== 401) await randomPause(50);
}

async function outcomeOf(url: string, key: string): Promise<Told['outcome']> {
  const status = await statusOf(url, key);
  if (status === null) return 'unknown';
  return status === 200 ? 'ok' : 'refused';
}

/**
 * Returns 0 for a request that was certainly not sent, null if that is unknown. Each request has its own connection, so a
 * refused connection means that nothing was sent.
 */
function statusOf(url: string, key: string): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const options = {
    agent: false as const,
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(PATIENCE_MS),
  };
  const request = get(url, options, (response) => {
    response.on('error', () => resolve(null));
    response.resume().on('end', () => resolve(response.statusCode ?? null));
  });
  request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' ? 0 : null));
  return promise;
}

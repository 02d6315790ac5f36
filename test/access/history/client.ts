import { get } from 'node:http';
import type { Told } from './history.ts';
import type { Instance } from './instances.ts';

/** Requests, and as how many each counts when it is served; the second fails after it was counted. */
const REQUESTS = [
  { path: '/v1/probe', count: 1 },
  { path: '/v1/probe/failing', count: 1 },
  { path: '/v1/probe/five', count: 5 },
];
/** Shorter than some freezes of instances, so that clients give up requests which are served later. */
const PATIENCE_MS = 1000;

/** Makes a random request and writes down what it is told. */
export async function ask(instance: Instance, key: string): Promise<Told> {
  const { path, count } = REQUESTS[Math.floor(Math.random() * REQUESTS.length)] as (typeof REQUESTS)[number];
  const outcome = await outcomeOf(`http://127.0.0.1:${instance.port}${path}`, key);
  return { instance: instance.name, at: performance.now(), count, outcome };
}

/** Each request has a connection of its own. So one whose connection is refused was surely not sent. */
function outcomeOf(url: string, key: string): Promise<Told['outcome']> {
  const { promise, resolve } = Promise.withResolvers<Told['outcome']>();
  const options = {
    agent: false as const,
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(PATIENCE_MS),
  };
  const request = get(url, options, (response) => {
    response.on('error', () => resolve('unknown'));
    response.resume().on('end', () => resolve(response.statusCode === 200 ? 'ok' : 'refused'));
  });
  request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'unknown'));
  return promise;
}

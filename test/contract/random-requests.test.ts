import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openConnection, readResponses } from '#test/http/socket.ts';
import { type Front, startFront } from '#test/support/front.ts';
import { type RandomRequest, randomRequests, toBytes } from './random-request.ts';

const REQUESTS = 2000;
const AT_ONCE = 8;
const SEED = 20261121;
const NEEDS_KEY = /^\/(?:v1|mcp)(?:[/?]|$)/;

let front: Front;
beforeAll(async () => {
  front = await startFront();
});
afterAll(() => front[Symbol.asyncDispose]());

async function statusOf(request: RandomRequest): Promise<number> {
  const connection = await openConnection((front.app.server.address() as AddressInfo).port);
  connection.socket.write(toBytes({ ...request, headers: [...request.headers, ['connection', 'close']] }));
  const [response] = readResponses(await connection.closed);
  connection.socket.destroy();
  return response?.status ?? 0;
}

function isExpected({ method, url }: RandomRequest, status: number): boolean {
  const isRefused = status >= 400 && status < 500;
  return isRefused || (status >= 200 && status < 400 && (method === 'OPTIONS' || !NEEDS_KEY.test(url)));
}

it(`${REQUESTS} random requests without a key get pages and 4xx, never a 5xx`, async () => {
  const unexpected: string[] = [];
  const requests = randomRequests(REQUESTS, SEED).values();
  const client = async () => {
    for (const request of requests) {
      const status = await statusOf(request);
      if (!isExpected(request, status)) unexpected.push(`${status} ${request.method} ${request.url.slice(0, 100)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  expect(unexpected).toEqual([]);
});

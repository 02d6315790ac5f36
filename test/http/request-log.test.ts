import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { Ask } from '#src/efa/ask.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { OPERATIONS } from '#test/contract/operations.ts';
import type { TestApp } from '#test/support/app.ts';
import { buildHealthyApp, healthyUpstream } from '#test/support/healthy-upstream.ts';

const [{ url }] = OPERATIONS;
const ACCOUNT = expect.stringMatching(/^\w{8}$/);

let app: TestApp;
afterEach(() => app.close());

async function linesOf(upstream: Ask | undefined, asked: string): Promise<Record<string, unknown>[]> {
  app = await buildHealthyApp(upstream);
  await app.inject(asked);
  const lines = app.logged().trim().split('\n');
  return lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 30);
}

it('a refusal has one line, with account, reason and cause, and without a stack', async () => {
  const refuse = async () => {
    throw new ApiError('UPSTREAM_UNAVAILABLE', 'Try later.', { cause: new Error('the budget is used up') });
  };
  const lines = await linesOf(refuse, url);
  expect(lines).toEqual([
    expect.objectContaining({
      level: 40,
      status: 503,
      account: ACCOUNT,
      plan: 'pro',
      reason: 'UPSTREAM_UNAVAILABLE',
      cause: 'the budget is used up',
    }),
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/stack|\.ts:\d/);
});

it('a wrong request has the reason, and nothing of its query', async () => {
  const [line, ...more] = await linesOf(undefined, '/v1/nearby?lat=-33.8731&lng=east');
  expect(line).toMatchObject({ level: 30, status: 400, account: ACCOUNT, reason: 'INVALID_PARAMETER' });
  expect(JSON.stringify([line, more])).not.toMatch(/33\.87|east/);
});

it('a bug of ours has its stack', async () => {
  const lines = await linesOf(async () => {
    throw new TypeError('a bug');
  }, url);
  expect(lines).toEqual([
    expect.objectContaining({ level: 50, err: expect.objectContaining({ stack: expect.stringContaining('a bug') }) }),
    expect.objectContaining({ status: 500, reason: 'INTERNAL_ERROR', account: ACCOUNT }),
  ]);
});

it('a slow request has account and source, a quick one has neither', async () => {
  const slow: Ask = async (request, options) => {
    await sleep(1050);
    return healthyUpstream(request, options);
  };
  expect(await linesOf(slow, url)).toEqual([
    expect.objectContaining({ status: 200, account: ACCOUNT, plan: 'pro', source: 'upstream' }),
  ]);
  await app.close();
  const [line] = await linesOf(undefined, url);
  expect(line).not.toHaveProperty('account');
});

it('a request for boards has the source of each and why it was not the other, also when it is a cache hit', async () => {
  const byMonitor = { source: 'monitor', reason: 'feeds are off' };
  const board = '/v1/departures?stop=200070';
  const [first] = await linesOf(undefined, board);
  expect(first).toMatchObject({ status: 200, boards: [byMonitor] });
  const lastOf = async (asked: string) => {
    await app.inject(asked);
    return JSON.parse(app.logged().trim().split('\n').at(-1) ?? '{}');
  };
  expect(await lastOf(board)).toMatchObject({ boards: [byMonitor] });
  expect(await lastOf('/board/200070')).toMatchObject({ boards: [byMonitor] });
  expect(await lastOf('/v1/boards?stops=200070,200060')).toMatchObject({ boards: [byMonitor, byMonitor] });
  expect(await lastOf('/v1/stops?q=central')).not.toHaveProperty('boards');
});

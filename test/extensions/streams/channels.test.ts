import { expect, it, vi } from 'vitest';
import { ApiError } from '#src/errors/api-error.ts';
import { createChannels, type Subscriber } from '#src/extensions/streams/channels.ts';
import { departuresOperation } from '#src/operations/departures/operation.ts';
import type { FinishedResponse } from '#src/operations/finished-response.ts';
import type { Operation } from '#src/operations/operation.ts';
import type { Requester, Responses } from '#src/operations/serve.ts';

it('a channel makes its request on behalf of the account of its most urgent reader', async () => {
  const now = () => new Date('2026-04-15T06:25:30Z');
  const freshness = { retrievedAt: 0, freshUntil: 0, staleUntil: 0, source: 'cache', shortage: null } as const;
  const body = { content: () => ({}), etag: 'W/"1"', bytes: Buffer.from('{}'), encoded: new Map() };
  const response: FinishedResponse = { key: '', body, freshness, isFromCache: false, validUntil: 0, failedParts: 0 };
  const requesters: Requester[] = [];
  const find = async (_operation: object, _query: object, requester: Requester) => {
    requesters.push(requester);
    return response;
  };
  const responses = { get: find } as unknown as Responses;
  const channels = createChannels({ responses, now: () => now().getTime(), times: { minMs: 1 } });
  const reader = (requester: Requester): Subscriber => ({
    ...requester,
    changed() {},
    calledUpstream() {},
    failed() {},
    refused() {},
  });

  const topic = { operation: departuresOperation as unknown as Operation, query: {} };
  const leave = [
    channels.follow(topic, response, reader({ priority: 'low', account: 'free' })),
    channels.follow(topic, response, reader({ priority: 'high', account: 'pro' })),
  ];
  await vi.waitFor(() => expect(requesters.length).toBeGreaterThan(0), 60_000);
  for (const unfollow of leave) unfollow();
  expect(requesters[0]).toMatchObject({ priority: 'high', account: 'pro' });
});

const now = () => new Date('2026-04-15T06:25:30Z');
const topic = { operation: departuresOperation as unknown as Operation, query: {} };

function responseOf(etag: string): FinishedResponse {
  const freshness = { retrievedAt: 0, freshUntil: 0, staleUntil: 0, source: 'cache', shortage: null } as const;
  const body = { content: () => ({}), etag, bytes: Buffer.from('{}'), encoded: new Map() };
  return { key: '', body, freshness, isFromCache: false, validUntil: 0, failedParts: 0 };
}

/** Channels of these responses, and what the readers received from them. */
function follow(find: () => Promise<FinishedResponse>) {
  const channels = createChannels({
    responses: { get: find } as unknown as Responses,
    now: () => now().getTime(),
    times: { minMs: 1 },
  });
  const received: string[] = [];
  return {
    received,
    join: (name: string, etag: string) =>
      channels.follow(topic, responseOf(etag), {
        priority: 'low',
        changed: (etag) => received.push(`${name} ${etag}`),
        calledUpstream() {},
        failed: () => received.push(`${name} failure`),
        refused() {},
      }),
  };
}

it('a reader who joins a channel with an older response gets the newer one', async () => {
  const { join, received } = follow(async () => responseOf('W/"2"'));
  const leave = [join('first', 'W/"2"'), join('second', 'W/"1"')];
  await vi.waitFor(() => expect(received).toContain('second W/"2"'), 5000);
  for (const unfollow of leave) unfollow();
});

it('a reader who joins a failing channel is told of its next failure', async () => {
  const { join, received } = follow(() => Promise.reject(new ApiError('UPSTREAM_ERROR', 'away')));
  const leave = [join('first', 'W/"1"')];
  await vi.waitFor(() => expect(received).toEqual(['first failure']), 5000);
  leave.push(join('second', 'W/"1"'));
  await vi.waitFor(() => expect(received).toContain('second failure'), 5000);
  for (const unfollow of leave) unfollow();
});

it('ten streams of one board have it computed once for all, every five seconds at most', async () => {
  vi.useFakeTimers();
  try {
    const find = vi.fn(async () => responseOf('W/"1"'));
    const channels = createChannels({
      responses: { get: find } as unknown as Responses,
      now: () => now().getTime(),
      times: { minMs: 5000 },
    });
    const subscriber = { priority: 'low', changed() {}, calledUpstream() {}, failed() {}, refused() {} } as const;
    const leave = Array.from({ length: 10 }, () => channels.follow(topic, responseOf('W/"1"'), { ...subscriber }));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(find).toHaveBeenCalledTimes(12);
    for (const unfollow of leave) unfollow();
  } finally {
    vi.useRealTimers();
  }
});

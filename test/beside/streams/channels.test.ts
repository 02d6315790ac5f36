import { expect, it, vi } from 'vitest';
import { createChannels, type Subscriber } from '#src/beside/streams/channels.ts';
import { departuresOperation } from '#src/operations/departures/operation.ts';
import type { FinishedResponse } from '#src/operations/finished-response.ts';
import type { Operation } from '#src/operations/operation.ts';
import type { Requester, Responses } from '#src/operations/serve.ts';

it('a channel makes its request on behalf of the account of its most urgent reader', async () => {
  const now = () => new Date('2026-04-15T06:25:30Z');
  const freshness = { retrievedAt: 0, freshUntil: 0, staleUntil: 0, source: 'cache', shortage: null } as const;
  const body = { content: () => ({}), etag: 'W/"1"', bytes: Buffer.from('{}'), encoded: new Map() };
  const response: FinishedResponse = { key: '', body, freshness, validUntil: 0, failedParts: 0 };
  const requesters: Requester[] = [];
  const find = async (_operation: object, _query: object, requester: Requester) => {
    requesters.push(requester);
    return response;
  };
  const responses = { find } as unknown as Responses;
  const channels = createChannels({ responses, now, times: { minMs: 1, retryMs: 1 } });
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

it('a reader who joins a channel with an older response gets the newer one', async () => {
  const now = () => new Date('2026-04-15T06:25:30Z');
  const freshness = { retrievedAt: 0, freshUntil: 0, staleUntil: 0, source: 'cache', shortage: null } as const;
  const responseOf = (etag: string): FinishedResponse => {
    const body = { content: () => ({}), etag, bytes: Buffer.from('{}'), encoded: new Map() };
    return { key: '', body, freshness, validUntil: 0, failedParts: 0 };
  };
  const responses = { find: async () => responseOf('W/"2"') } as unknown as Responses;
  const channels = createChannels({ responses, now, times: { minMs: 1, retryMs: 1 } });
  const received: string[] = [];
  const reader = (name: string): Subscriber => ({
    priority: 'low',
    changed: (etag) => received.push(`${name} ${etag}`),
    calledUpstream() {},
    failed() {},
    refused() {},
  });
  const topic = { operation: departuresOperation as unknown as Operation, query: {} };
  const leave = [
    channels.follow(topic, responseOf('W/"2"'), reader('first')),
    channels.follow(topic, responseOf('W/"1"'), reader('second')),
  ];
  await vi.waitFor(() => expect(received).toContain('second W/"2"'), 5000);
  for (const unfollow of leave) unfollow();
});

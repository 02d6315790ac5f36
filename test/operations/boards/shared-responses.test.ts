import { expect, it } from 'vitest';
import { z } from 'zod';
import { createBoardsOperation } from '#src/operations/boards/operation.ts';
import { defineOperation } from '#src/operations/operation.ts';
import { createResponses } from '#src/operations/serve.ts';
import { ids } from '#test/support/ids.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';

const NOW = Date.parse('2026-04-15T06:00:10Z');

it('boards reuse the cached responses of their stops', async () => {
  const found: string[] = [];
  const oneStop = defineOperation({
    id: 'getOne',
    path: '/one',
    tag: 'Stops',
    summary: '',
    description: '',
    query: z.object({ stop: z.string() }),
    body: z.object({ stop_id: z.string() }),
    errors: [],
    tool: { description: '' },
    example: { query: 'stop=1', body: { stop_id: '1' } },
    async find({ stop }) {
      found.push(stop);
      const freshUntil = NOW + 15_000;
      const times = { retrievedAt: NOW, freshUntil, staleUntil: freshUntil };
      return { body: { stop_id: stop }, freshness: { ...times, source: 'upstream', shortage: null } };
    },
  });
  const boards = createBoardsOperation({ oneStop, docsUrl: 'https://example.test/docs' });
  const log = { ...createTestLog(), debug: () => {} };
  const responses = createResponses({
    queryUpstream: () => Promise.reject(new Error('no upstream call is expected')),
    ids,
    now: () => new Date(NOW),
    deadlineMs: 1000,
    log,
  });
  const requester = { priority: 'low' } as const;

  await responses.find(oneStop, { stop: '2' }, requester);
  const [first, second] = await Promise.all([
    responses.find(boards, { stops: ['1', '2'] }, requester),
    responses.find(boards, { stops: ['2', '3'] }, requester),
  ]);
  expect(first.body.content()).toEqual({ boards: [{ stop_id: '1' }, { stop_id: '2' }] });
  expect(second.body.content()).toEqual({ boards: [{ stop_id: '2' }, { stop_id: '3' }] });
  expect(found).toEqual(['2', '1', '3']);
});

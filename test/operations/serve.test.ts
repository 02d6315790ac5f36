import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseKey } from '#src/access/keys.ts';
import type { QueryOptions, QueryUpstream } from '#src/efa/query-upstream.ts';
import { ENCODINGS } from '#src/operations/finished-response.ts';
import { defineOperation } from '#src/operations/operation.ts';
import { createResponses, type Requester } from '#src/operations/serve.ts';
import { createSources } from '#src/operations/sources.ts';
import { buildTestApp } from '#test/support/app.ts';
import { ids } from '#test/support/ids.ts';

const NOW = new Date('2026-04-15T06:25:30Z');
const QUESTION = { kind: 'stopFinder', text: 'manly' } as const;

/** An operation that makes one upstream call and returns its response once `release` is called. */
function createRequests() {
  const sent: QueryOptions[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const queryUpstream = (async (_question: object, options: QueryOptions) => {
    sent.push(options);
    await released;
    return { payload: { systemMessages: [], locations: [] }, retrievedAt: NOW.getTime() };
  }) as unknown as QueryUpstream;
  const operation = defineOperation({
    id: 'find',
    path: '/v1/find',
    tag: 'Stops',
    summary: '',
    description: '',
    query: z.object({ text: z.string().optional() }),
    body: z.object({}),
    errors: [],
    tool: { description: '' },
    example: { query: '', body: {} },
    async handle(_query, context) {
      const { retrievedAt: moment } = await context.queryUpstream(QUESTION);
      const freshness = { retrievedAt: moment, freshUntil: moment + 1000, staleUntil: moment + 1000 };
      return { body: {}, freshness: { ...freshness, source: 'upstream', shortage: null } as const };
    },
  });
  const responses = createResponses({
    sources: createSources({ queryUpstream }, () => NOW.getTime()),
    now: () => NOW.getTime(),
    ids,
    deadlineMs: 1000,
    log: { warn() {}, debug() {} },
  });
  const find = (requester: Requester) => responses.get(operation, {}, requester);
  return { sent, release, queryUpstream, responses, operation, find };
}

describe('equal requests at the same time', () => {
  it('equal concurrent requests run the operation once per priority, however many accounts send them', async () => {
    const { sent, release, find } = createRequests();
    const priorities = ['low', 'normal', 'high'] as const;
    const finding = Array.from({ length: 300 }, (_, index) =>
      find({ priority: priorities[index % 3] ?? 'low', account: `account ${index}` }),
    );
    release();
    await Promise.all(finding);
    expect(sent.map(({ priority }) => priority).sort()).toEqual([...priorities].sort());
  });

  it('an upstream call names every account that is waiting for its response', async () => {
    const { sent, release, find } = createRequests();
    const finding = [find({ priority: 'low', account: 'first' }), find({ priority: 'low' })];
    expect([...(sent[0]?.accounts ?? [])]).toEqual(['first']);
    finding.push(find({ priority: 'low', account: 'second' }), find({ priority: 'high', account: 'third' }));
    expect([...(sent[0]?.accounts ?? [])]).toEqual(['first', 'second']);
    release();
    await Promise.all(finding);
  });

  it('an upstream call names fewer than 50 accounts even when 1,000 wait for it', async () => {
    const { sent, release, find } = createRequests();
    const finding = Array.from({ length: 1000 }, (_, index) => find({ priority: 'low', account: `account ${index}` }));
    expect(sent[0]?.accounts?.size).toBeLessThan(50);
    release();
    await Promise.all(finding);
  });
});

describe('an operation that runs another', () => {
  /** Runs `inner` once for each text. */
  const createOuter = (inner: ReturnType<typeof createRequests>['operation'], texts: readonly string[]) =>
    defineOperation({
      ...inner,
      path: '/v1/outer',
      async handle(_query, { run }) {
        const [first] = await Promise.all(texts.map((text) => run(inner, { text })));
        if (!first) throw new Error('nothing was run');
        return first;
      },
    });

  it('an operation run by another passes on the accounts of the outer request', async () => {
    const { sent, release, responses, operation } = createRequests();
    release();
    await responses.get(createOuter(operation, ['a', 'b']), {}, { priority: 'low', account: 'first' });
    expect(sent.map(({ accounts }) => [...(accounts ?? [])])).toEqual([['first'], ['first']]);
  });

  it.each([
    ['low', 2],
    ['normal', 8],
    ['high', 20],
  ] as const)(
    'of twenty inner runs of an operation at priority %s, as many are open at once as its account may queue: %i',
    async (priority, most) => {
      const { sent, release, responses, operation } = createRequests();
      const texts = Array.from({ length: 20 }, (_, index) => String(index));
      const finding = responses.get(createOuter(operation, texts), {}, { priority, account: 'first' });
      await new Promise((resolve) => setImmediate(resolve));
      expect(sent).toHaveLength(most);
      release();
      await finding;
      expect(sent).toHaveLength(20);
    },
  );
});

describe('the deadline of an operation that runs others', () => {
  it('an operation that runs several others at once fails at its own deadline when upstream is slow', async () => {
    const { operation, queryUpstream } = createRequests();
    const responses = createResponses({
      sources: createSources({ queryUpstream }, () => NOW.getTime()),
      now: () => NOW.getTime(),
      ids,
      deadlineMs: 100,
      log: { warn() {}, debug() {} },
    });
    const outer = defineOperation({
      ...operation,
      path: '/v1/outer',
      async handle(_query, { run }) {
        const outcomes = await Promise.allSettled(['a', 'b', 'c', 'd'].map((text) => run(operation, { text })));
        expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
        throw outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason)[3];
      },
    });
    await expect(responses.get(outer, {}, { priority: 'low' })).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  });
});

it.each([...ENCODINGS, 'identity'] as const)(
  'a cached response encoded as %s retains no memory beyond its own bytes',
  async (encoding) => {
    const { responses, find, release } = createRequests();
    release();
    const bytes = await responses.bytesOf(await find({ priority: 'low' }), encoding);
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  },
);

describe('the account of a request', () => {
  it('a request to the service reaches upstream under the account of its key', async () => {
    const { sent, release, queryUpstream } = createRequests();
    release();
    const app = await buildTestApp({ upstream: queryUpstream, now: NOW.toISOString() });
    await app.inject('/v1/stops/search?q=manly');
    await app.close();
    expect([...(sent[0]?.accounts ?? [])]).toEqual([parseKey(app.apiKey)?.accountId]);
    expect(sent[0]?.priority).toBe('high');
  });
});

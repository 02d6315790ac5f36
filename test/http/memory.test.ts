import { globSync, readFileSync } from 'node:fs';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/*
 * What grows in a flood is found by watching every Map and Set that comes into being, those within caches too: the
 * modules are imported after the watch has begun.
 */
interface Watched {
  collection: WeakRef<{ size: number }>;
  /** The file of src/ that made it, and whether it is part of a cache with a bound. */
  file: string;
  isCache: boolean;
}

const watched: Watched[] = [];

function watch(collection: { size: number }): void {
  const lines = (new Error().stack ?? '').split('\n');
  const file = lines.map((line) => /\/(src\/[\w/-]+\.ts)/.exec(line)?.[1]).find((found) => found);
  if (!file) return;
  const maker = lines.findIndex((line) => line.includes(file));
  const isCache = lines.slice(0, maker).some((line) => line.includes('/lru-cache/'));
  watched.push({ collection: new WeakRef(collection), file, isCache });
}

const { Map: OriginalMap, Set: OriginalSet } = globalThis;
globalThis.Map = class<Key, Value> extends OriginalMap<Key, Value> {
  constructor(entries?: Iterable<readonly [Key, Value]> | null) {
    super(entries);
    watch(this);
  }
} as MapConstructor;
globalThis.Set = class<Value> extends OriginalSet<Value> {
  constructor(values?: Iterable<Value> | null) {
    super(values);
    watch(this);
  }
} as SetConstructor;

const FLOOD = 300;
/** More than any collection has in a quiet service. */
const MANY = 150;

/** Which files have collections with so many entries; those of caches are told apart. */
function listGrown(): { bounded: string[]; unbounded: string[] } {
  const grown = watched.filter(({ collection }) => (collection.deref()?.size ?? 0) >= MANY);
  const files = (isCache: boolean) => [
    ...new OriginalSet(grown.filter((one) => one.isCache === isCache).map(({ file }) => file)),
  ];
  return { bounded: files(true).sort(), unbounded: files(false).sort() };
}

type App = Awaited<ReturnType<typeof import('#test/support/app.ts')['buildTestApp']>>;
let app: App;
let newKey: () => string;

beforeAll(async () => {
  const { buildTestApp } = await import('#test/support/app.ts');
  const { generateAccountId, generateKey } = await import('#src/access/keys.ts');
  const { REFUSAL_LIMITS } = await import('#src/http/connection/held-refusals.ts');
  newKey = () => generateKey('live', generateAccountId());
  const { protectUpstream } = await import('#src/upstream/protection.ts');
  const { createMadeUpUpstream, createTestLog } = await import('#test/support/made-up-upstream.ts');
  const { systemClock } = await import('#src/upstream/clock.ts');
  const limits = { rps: Number.POSITIVE_INFINITY, dailyBudget: 1e12 };
  const { ask } = protectUpstream({ asks: [createMadeUpUpstream(systemClock, 0).ask], limits, log: createTestLog() });
  app = await buildTestApp({ upstream: ask, now: () => new Date(), refusalLimits: REFUSAL_LIMITS });
  // Tables of packages, which are there from the start.
  const { unbounded } = listGrown();
  watched.splice(0, watched.length, ...watched.filter(({ file }) => !unbounded.includes(file)));
});
afterAll(async () => {
  await app.close();
  Object.assign(globalThis, { Map: OriginalMap, Set: OriginalSet });
});

/** Each from a network of its own. */
async function flood(request: (n: number) => InjectOptions): Promise<void> {
  for (let n = 0; n < FLOOD; n++) {
    const remoteAddress = `2001:db8:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::1`;
    await app.inject({ ...request(n), remoteAddress });
  }
}

/** Drops its older half when it holds too much: the tests of the authority's cache fill it. */
const COUNTED = ['src/upstream/popularity.ts'];
const BOARD = '/v1/departures?stop=200060';

describe('what grows with the requests of a flood has a bound', () => {
  it.each<[string, (n: number) => InjectOptions]>([
    ['unknown keys', () => ({ url: BOARD, headers: { authorization: `Bearer ${newKey()}` } })],
    ['words instead of keys', (n) => ({ url: BOARD, headers: { authorization: `Bearer ${'x'.repeat(200)}${n}` } })],
    ['unknown paths', (n) => ({ url: `/nothing/${n}`, headers: { authorization: '' } })],
    [
      'parameters that change, with a valid key',
      (n) => ({ url: `${BOARD}&unknown=${n}`, headers: { 'if-none-match': '*' } }),
    ],
    ['wrong values, with a valid key', (n) => ({ url: `/v1/departures?stop=${n}x` })],
    [
      'headers that change',
      (n) => ({ url: BOARD, headers: { 'accept-encoding': `gzip;q=0.${n}`, 'x-forwarded-for': `192.0.2.${n}` } }),
    ],
    ['searches, with a valid key', (n) => ({ url: `/v1/stops/search?q=place%20${n}` })],
  ])(
    '%s',
    async (_name, request) => {
      await flood(request);
      expect(listGrown().unbounded).toEqual(listGrown().unbounded.filter((file) => COUNTED.includes(file)));
    },
    30_000,
  );

  it('and it is in the table of docs/operations.md', () => {
    expect(listGrown()).toEqual({
      bounded: [
        'src/access/credential.ts',
        'src/access/limits/token-buckets.ts',
        'src/access/local-admission.ts',
        'src/access/pending-counts.ts',
        'src/answers/finished-answer.ts',
        'src/http/operation-routes.ts',
        'src/upstream/answer-cache.ts',
      ],
      unbounded: COUNTED,
    });
  });

  it('by a number of entries or bytes', () => {
    const files = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    const caches = files.flatMap((text) => text.split(/new LRUCache</).slice(1));
    expect(caches.length).toBeGreaterThan(10);
    for (const cache of caches) expect(cache.slice(0, 200)).toMatch(/\b(max|maxSize)\b/);
  });
});

import { Session } from 'node:inspector';
import { types } from 'node:util';
import type { InjectOptions } from 'fastify';
import { LRUCache } from 'lru-cache';
import { generateAccountId, generateKey } from '#src/access/keys.ts';
import { systemClock } from '#src/core/clock.ts';
import { NETWORK_LIMIT } from '#src/http/network-limit.ts';
import { protectUpstream } from '#src/upstream/protection.ts';
import { buildTestApp } from '#test/support/app.ts';
import { createMadeUpUpstream, createTestLog } from '#test/support/made-up-upstream.ts';

/*
 * Floods a service with different requests, and prints as JSON the caches and the unbounded collections that have grown. It
 * runs in its own process, because each search through the memory looks at all objects.
 */

const FLOOD = 300;
/** More than any collection gains in a quiet service. */
const MANY = 150;

/** Finds all living objects of a class after a garbage collection, as the inspector does. */
function findAll<T extends object>(prototype: object): T[] {
  const session = new Session();
  session.connect();
  const heap: { prototype: object; found: T[] } = { prototype, found: [] };
  Object.assign(globalThis, { heapSearch: heap });
  try {
    let objectId = '';
    session.post('Runtime.evaluate', { expression: 'heapSearch.prototype' }, (_error, { result }) => {
      objectId = result.objectId ?? '';
    });
    session.post('Runtime.queryObjects', { prototypeObjectId: objectId }, (_error, { objects }) => {
      session.post('Runtime.callFunctionOn', {
        objectId: objects.objectId ?? '',
        functionDeclaration: 'function () { heapSearch.found = this; }',
      });
    });
  } finally {
    session.disconnect();
    Reflect.deleteProperty(globalThis, 'heapSearch');
  }
  return [...heap.found];
}

type Collection = Map<unknown, unknown> | Set<unknown>;

const findCaches = () =>
  findAll<LRUCache<object, object>>(LRUCache.prototype).filter((cache) => Object.hasOwn(cache, 'ttl'));

/** All Maps and Sets of this process except those in caches, which are bounded. */
function findCollections(): Collection[] {
  const inCaches = new WeakSet<object>(findCaches().map((cache) => LRUCache.unsafeExposeInternals(cache).keyMap));
  const all = [...findAll<Collection>(Map.prototype), ...findAll<Collection>(Set.prototype)];
  return all.filter((one) => (types.isMap(one) || types.isSet(one)) && !inCaches.has(one));
}

/** Gives the types of an entry, and the text itself where a part is a text. */
function describeCollection(collection: Collection): string {
  const [entry] = collection.entries();
  return (entry ?? []).map((part) => (typeof part === 'string' ? `"${part}"` : typeof part)).join(' to ');
}

/** The counts that find popular requests; test/held-memory.test.ts fills them up to their bound. */
const COUNTED = 'number to number';
const BOARD = '/v1/departures?stop=200060';
const newKey = () => generateKey('live', generateAccountId());

/** Each request comes from a different network. */
async function flood(request: (n: number) => InjectOptions): Promise<void> {
  for (let n = 0; n < FLOOD; n++) {
    const remoteAddress = `2001:db8:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::1`;
    await app.inject({ ...request(n), remoteAddress });
  }
}

const FLOODS: Readonly<Record<string, (n: number) => InjectOptions>> = {
  'unknown keys': () => ({ url: BOARD, headers: { authorization: `Bearer ${newKey()}` } }),
  'words instead of keys': (n) => ({ url: BOARD, headers: { authorization: `Bearer ${'x'.repeat(200)}${n}` } }),
  'unknown paths': (n) => ({ url: `/nothing/${n}`, headers: { authorization: '' } }),
  'parameters that change': (n) => ({ url: `${BOARD}&unknown=${n}`, headers: { 'if-none-match': '*' } }),
  'wrong values': (n) => ({ url: `/v1/departures?stop=${n}x` }),
  'headers that change': (n) => ({
    url: BOARD,
    headers: { 'accept-encoding': `gzip;q=0.${n}`, 'x-forwarded-for': `192.0.2.${n}` },
  }),
  searches: (n) => ({ url: `/v1/stops/search?q=place%20${n}` }),
};

const limits = { rps: Number.POSITIVE_INFINITY, dailyBudget: 1e12 };
const { queryUpstream } = protectUpstream({
  callByKey: [createMadeUpUpstream(systemClock, 0).callUpstream],
  limits,
  log: createTestLog(),
});
const app = await buildTestApp({ upstream: queryUpstream, now: () => new Date(), networkLimit: NETWORK_LIMIT });
await app.inject(BOARD);
const sizesBefore = new WeakMap(findCollections().map((one) => [one, one.size]));
for (const request of Object.values(FLOODS)) await flood(request);
const grown = findCollections().filter((one) => one.size >= (sizesBefore.get(one) ?? 0) + MANY);
const caches = findCaches();
await app.close();
process.stdout.write(
  JSON.stringify({
    floods: Object.keys(FLOODS),
    grown: grown.map(describeCollection).filter((text) => text !== COUNTED),
    filledCaches: caches.filter(({ size }) => size >= MANY).length,
    unboundedCaches: caches.filter(({ max, maxSize }) => max === 0 && maxSize === 0).length,
  }),
);

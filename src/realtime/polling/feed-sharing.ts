import { randomUUID } from 'node:crypto';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { z } from 'zod';
import { MINUTE_MS } from '../../core/clock.ts';
import { pipeThrough } from '../../core/own-memory.ts';
import { getBounded } from '../../core/redis/connection.ts';
import { holdLock, releaseLock, type SharedRedis } from '../../core/redis/shared-redis.ts';
import { Feed, NotAPackedFeed } from '../feed/feed.ts';
import { feedHealthSchema } from './feed-health.ts';
import { type FeedId, isFeedId } from './feed-source.ts';

/** The instance that polls renews its lease every three seconds; when it is killed, another polls after this. */
const LEASE_MS = 10_000;
const KEPT_MS = 5 * MINUTE_MS;
const MAX_PACKED_BYTES = 64 * 1024 * 1024;
const MAX_COMPRESSED_BYTES = 16 * 1024 * 1024;
const MAX_TEXT_LENGTH = 100_000;

const stateSchema = z.object({
  health: feedHealthSchema,
  polledAt: z.number(),
});

/** How a feed stands, as the polling instance tells the others. Moments in milliseconds since 1970. */
export type PolledState = z.infer<typeof stateSchema>;

/** The state of a feed and the last content that was accepted. */
export interface FeedState extends PolledState {
  feed: Feed | null;
}

export type FeedSharing = ReturnType<typeof createFeedSharing>;

/**
 * Carries what instances tell each other of the feeds, their states and who polls, in Redis; `source` keeps the sandbox apart
 * from upstream. The calls never fail: without Redis (null), and while it is away, there is nobody else, and every
 * instance polls for its own callers within its share of the budget.
 */
export function createFeedSharing(
  shared: { redis: Pick<SharedRedis, 'trySendTo'>; source: string } | null,
  now: () => number,
) {
  const ask: SharedRedis['trySendTo'] = shared?.redis.trySendTo ?? (async (_key, _command, otherwise) => otherwise);
  const instance = randomUUID();
  const prefix = `tis:${shared?.source}:realtime`;
  const names = { lease: `${prefix}:lease`, needs: `${prefix}:needs`, states: `${prefix}:states` };
  const nameOfFeed = (feed: FeedId) => `${prefix}:feed:${feed}`;

  return {
    /** Says whether this instance polls; to be called every few seconds. True when there is no other instance to be reached. */
    async lead(): Promise<boolean> {
      return (await ask(names.lease, (to) => holdLock(to, [names.lease], [instance, LEASE_MS]), 1)) === 1;
    },
    /** Publishes when each feed was last needed by callers of this instance. */
    async publishNeeds(needs: ReadonlyMap<FeedId, number>): Promise<void> {
      await ask(names.needs, (to) => to.hset(names.needs, new Map(needs)), 0);
      await ask(names.needs, (to) => to.pexpire(names.needs, KEPT_MS), 0);
    },
    /** Reads when each feed was last needed by callers of any instance. */
    async readNeeds(): Promise<Map<FeedId, number>> {
      const needs = Object.entries(await ask(names.needs, (to) => to.hgetall(names.needs), {}));
      return new Map(
        needs.flatMap(([feed, at]) => (isFeedId(feed) && Number(at) > 0 ? [[feed, Math.min(Number(at), now())]] : [])),
      );
    },
    /** `packed` is null when the feed is the one that was published before. */
    async publish(feed: FeedId, state: PolledState, packed: ArrayBuffer | null): Promise<void> {
      if (!shared) return;
      const name = nameOfFeed(feed);
      if (packed) {
        // The feed of buses is 5 MB as it is and would fill the file to which Redis appends.
        const bytes = await pipeThrough(createZstdCompress(), new Uint8Array(packed));
        await ask(name, (to) => to.set(name, bytes, 'PX', KEPT_MS), null);
      } else await ask(name, (to) => to.pexpire(name, KEPT_MS), 0);
      await ask(names.states, (to) => to.hset(names.states, feed, JSON.stringify(state)), 0);
      await ask(names.states, (to) => to.pexpire(names.states, KEPT_MS), 0);
    },
    /** Tells that the feed is not polled any more. */
    async withdraw(feed: FeedId): Promise<void> {
      await ask(names.states, (to) => to.hdel(names.states, feed), 0);
    },
    /** Null while the store is away. */
    async readStates(): Promise<Map<FeedId, PolledState> | null> {
      const states = await ask(names.states, (to) => to.hgetall(names.states), null);
      if (!states) return null;
      // A newer version may poll feeds that this one does not know.
      return new Map(
        Object.entries(states).flatMap(([feed, text]) => {
          const state = readAs(stateSchema, text);
          return state && isFeedId(feed) ? [[feed, state] as const] : [];
        }),
      );
    },
    /** Null where nothing is published, or by another version in another form. */
    async readFeed(feed: FeedId): Promise<Feed | null> {
      const name = nameOfFeed(feed);
      const bytes = await ask(name, (to) => getBounded(to, name, MAX_COMPRESSED_BYTES), null);
      if (!bytes) return null;
      try {
        const packed = await pipeThrough(createZstdDecompress(), bytes, MAX_PACKED_BYTES);
        return new Feed(packed.buffer as ArrayBuffer);
      } catch (error) {
        // Until the feed is published again, nobody needs to read broken bytes a second time; those of another version its instances read.
        if (!(error instanceof NotAPackedFeed)) await ask(name, (to) => to.del(name), 0);
        return null;
      }
    },
    /** Lets another instance poll at once. */
    async close(): Promise<void> {
      await ask(names.lease, (to) => releaseLock(to, [names.lease], [instance]), 0);
    },
  };
}

/** Null for what is broken, and for what another version of the service wrote in another form. */
function readAs<Value>(schema: z.ZodType<Value>, text: string): Value | null {
  if (text.length > MAX_TEXT_LENGTH) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

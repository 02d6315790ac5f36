import { randomUUID } from 'node:crypto';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { z } from 'zod';
import { MINUTE_MS } from '../../clock.ts';
import { pipeThrough } from '../../own-memory.ts';
import { getBounded } from '../../redis/connection.ts';
import { holdLock, INSTANCE_GONE_MS, releaseLock, type SharedRedis } from '../../redis/shared-redis.ts';
import { Feed, NotAPackedFeed } from '../feed/feed.ts';
import type { InstanceDemand } from './feed-demand.ts';
import { feedHealthSchema } from './feed-health.ts';
import {
  FEED_SOURCES,
  type FeedId,
  type FeedSourceId,
  isFeedId,
  isPositions,
  type PositionsId,
} from './feed-source.ts';

/** The instance that polls renews its lease every three seconds; when it is killed, another polls after this. */
const LEASE_MS = 10_000;
const FEED_KEPT_MS = 5 * MINUTE_MS;
const MAX_PACKED_BYTES = 64 * 1024 * 1024;
const MAX_COMPRESSED_BYTES = 16 * 1024 * 1024;
const MAX_TEXT_LENGTH = 100_000;

const feedId = z.custom<FeedSourceId>((name) => isFeedId(name) && !isPositions(name));
const isPositionsId = (name: string): name is PositionsId => isFeedId(name) && isPositions(name);
const stateSchema = z.object({
  health: feedHealthSchema,
  /** The time between two polls at present. */
  intervalMs: z.number().positive(),
  polledAt: z.number(),
});
const toldSchema: z.ZodType<InstanceDemand & { at: number }> = z.object({
  at: z.number(),
  demand: z.array(z.object({ sources: z.array(feedId), savedAnHour: z.number() })).max(1000),
  askedAt: z.partialRecord(z.enum(Object.keys(FEED_SOURCES) as [FeedSourceId]), z.number()),
  // Instances of an earlier version do not tell it.
  watchedAt: z
    .record(z.string(), z.number())
    .default({})
    .transform((at) => Object.fromEntries(Object.entries(at).filter(([name]) => isPositionsId(name)))),
});

/** How a feed stands, as the polling instance tells the others. Moments in milliseconds since 1970. */
export type PolledState = z.infer<typeof stateSchema>;

/** The state of a feed and the last content that was accepted. */
export interface FeedState extends PolledState {
  feed: Feed | null;
  /** Runs that are live are not found in the feed. */
  isCollapsed?: boolean;
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
  const prefix = `tis:${shared?.source}:live`;
  const names = { lease: `${prefix}:lease`, demand: `${prefix}:demand`, states: `${prefix}:states` };
  const nameOfFeed = (feed: FeedId) => `${prefix}:feed:${feed}`;

  return {
    /** Says whether this instance polls; to be called every few seconds. True when there is no other instance to be reached. */
    async lead(): Promise<boolean> {
      return (await ask(names.lease, (to) => holdLock(to, [names.lease], [instance, LEASE_MS]), 1)) === 1;
    },
    async tellDemand(own: InstanceDemand): Promise<void> {
      const told = JSON.stringify({ at: now(), ...own } satisfies z.infer<typeof toldSchema>);
      await ask(names.demand, (to) => to.hset(names.demand, instance, told), 0);
      await ask(names.demand, (to) => to.pexpire(names.demand, 4 * INSTANCE_GONE_MS), 0);
    },
    /** Reads the demand of all other instances. */
    async readDemand(): Promise<InstanceDemand[]> {
      const told = Object.entries(await ask(names.demand, (to) => to.hgetall(names.demand), {}));
      const others = told
        .filter(([name]) => name !== instance)
        .map(([name, text]) => ({ name, told: readAs(toldSchema, text) }));
      const isPresent = (one: z.infer<typeof toldSchema> | null) => one !== null && one.at >= now() - INSTANCE_GONE_MS;
      const gone = others.filter((other) => !isPresent(other.told)).map(({ name }) => name);
      if (gone.length > 0) await ask(names.demand, (to) => to.hdel(names.demand, ...gone), 0);
      return others.flatMap((other) => (other.told && isPresent(other.told) ? [other.told] : []));
    },
    /** `packed` is null when the feed is the one that was published before. */
    async publish(feed: FeedId, state: PolledState, packed: ArrayBuffer | null): Promise<void> {
      if (!shared) return;
      const name = nameOfFeed(feed);
      if (packed) {
        // The feed of buses is 5 MB as it is and would fill the file to which Redis appends.
        const bytes = await pipeThrough(createZstdCompress(), new Uint8Array(packed));
        await ask(name, (to) => to.set(name, bytes, 'PX', FEED_KEPT_MS), null);
      } else await ask(name, (to) => to.pexpire(name, FEED_KEPT_MS), 0);
      await ask(names.states, (to) => to.hset(names.states, feed, JSON.stringify(state)), 0);
      await ask(names.states, (to) => to.pexpire(names.states, FEED_KEPT_MS), 0);
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
      await ask(names.lease, (to) => releaseLock(to, [names.lease], [instance, '', 0]), 0);
      await ask(names.demand, (to) => to.hdel(names.demand, instance), 0);
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

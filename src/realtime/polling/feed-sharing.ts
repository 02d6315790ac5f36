import { randomUUID } from 'node:crypto';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { z } from 'zod';
import { MINUTE_MS } from '../../core/clock.ts';
import { pipeThrough } from '../../core/own-memory.ts';
import { getBounded } from '../../core/redis/connection.ts';
import { holdLock, releaseLock, type SharedRedis } from '../../core/redis/shared-redis.ts';
import { parseSaved } from '../../core/saved.ts';
import { Feed, NotAPackedFeed } from '../feed/feed.ts';
import type { Snapshot } from '../snapshot.ts';
import { feedHealthSchema } from './feed-health.ts';
import { type FeedId, isFeedId } from './feed-source.ts';

/** The polling instance renews its lease every three seconds. If it is killed, another one polls after this time. */
const LEASE_MS = 10_000;
const KEPT_MS = 5 * MINUTE_MS;
const MAX_PACKED_BYTES = 64 * 1024 * 1024;
const MAX_COMPRESSED_BYTES = 16 * 1024 * 1024;
const MAX_TEXT_LENGTH = 100_000;

const stateSchema = z.object({ health: feedHealthSchema, polledAt: z.number() });

/** The state of a feed, as published by the polling instance. Times are in milliseconds since 1970. */
export type PolledState = z.infer<typeof stateSchema>;

/** The state of a feed, and the content that was accepted last. */
export interface FeedState extends PolledState {
  feed: Feed | null;
  /** Its predicted runs: one snapshot; two while the timetable is being replaced, one for each timetable. */
  snapshots: readonly Snapshot[];
}

export type FeedSharing = ReturnType<typeof createFeedSharing>;

/**
 * Shares the state of feeds through Redis, and elects the instance that polls. `source` separates the sandbox from upstream. Its
 * methods do not reject when Redis is unavailable or null: each instance then polls for its own callers within its share of the
 * budget.
 */
export function createFeedSharing(shared: { redis: SharedRedis; source: string } | null, now: () => number) {
  const trySend: SharedRedis['trySendTo'] = shared?.redis.trySendTo ?? (async (_key, _command, otherwise) => otherwise);
  const instance = randomUUID();
  const prefix = `tis:${shared?.source}:realtime`;
  const names = { lease: `${prefix}:lease`, needs: `${prefix}:needs`, states: `${prefix}:states` };
  const nameOfFeed = (feed: FeedId) => `${prefix}:feed:${feed}`;

  return {
    /** Returns whether this instance polls; call it every few seconds. True if no other instance can be reached. */
    async lead(): Promise<boolean> {
      return (await trySend(names.lease, (to) => holdLock(to, [names.lease], [instance, LEASE_MS]), 1)) === 1;
    },
    /** Publishes the times when callers of this instance last needed each feed. */
    async publishNeeds(needs: ReadonlyMap<FeedId, number>): Promise<void> {
      await trySend(names.needs, (to) => to.hset(names.needs, new Map(needs)), 0);
      await trySend(names.needs, (to) => to.pexpire(names.needs, KEPT_MS), 0);
    },
    /** Loads the times when callers of any instance last needed each feed. */
    async loadRequests(): Promise<Map<FeedId, number>> {
      const needs = Object.entries(await trySend(names.needs, (to) => to.hgetall(names.needs), {}));
      return new Map(
        needs.flatMap(([feed, at]) => (isFeedId(feed) && Number(at) > 0 ? [[feed, Math.min(Number(at), now())]] : [])),
      );
    },
    /** Publishes the state of a feed. `packed` is null if its content has not changed since it was last published. */
    async publish(feed: FeedId, state: PolledState, packed: ArrayBuffer | null): Promise<void> {
      if (!shared) return;
      const name = nameOfFeed(feed);
      if (packed) {
        // Uncompressed, the feed of buses has 5 MB and would fill Redis's append-only file.
        const bytes = await pipeThrough(createZstdCompress(), new Uint8Array(packed));
        await trySend(name, (to) => to.set(name, bytes, 'PX', KEPT_MS), null);
      } else await trySend(name, (to) => to.pexpire(name, KEPT_MS), 0);
      await trySend(names.states, (to) => to.hset(names.states, feed, JSON.stringify(state)), 0);
      await trySend(names.states, (to) => to.pexpire(names.states, KEPT_MS), 0);
    },
    /** Publishes that the feed is no longer polled. */
    async withdraw(feed: FeedId): Promise<void> {
      await trySend(names.states, (to) => to.hdel(names.states, feed), 0);
    },
    /** Loads the states of all polled feeds; null while Redis is unavailable. */
    async loadStates(): Promise<Map<FeedId, PolledState> | null> {
      const states = await trySend(names.states, (to) => to.hgetall(names.states), null);
      if (!states) return null;
      // A newer version may poll feeds that this one does not have.
      return new Map(
        Object.entries(states).flatMap(([feed, text]) => {
          const state = parseSaved(stateSchema, text, MAX_TEXT_LENGTH);
          return state && isFeedId(feed) ? [[feed, state] as const] : [];
        }),
      );
    },
    /** Loads the content of a feed; null if none is published or another version published it in another format. */
    async loadFeed(feed: FeedId): Promise<Feed | null> {
      const name = nameOfFeed(feed);
      const bytes = await trySend(name, (to) => getBounded(to, name, MAX_COMPRESSED_BYTES), null);
      if (!bytes) return null;
      try {
        const packed = await pipeThrough(createZstdDecompress(), bytes, MAX_PACKED_BYTES);
        return new Feed(packed.buffer as ArrayBuffer);
      } catch (error) {
        // Delete broken bytes, so that nobody reads them again. Keep those of another version, whose instances can read them.
        if (!(error instanceof NotAPackedFeed)) await trySend(name, (to) => to.del(name), 0);
        return null;
      }
    },
    /** Releases the lease, so that another instance can poll at once. */
    async close(): Promise<void> {
      await trySend(names.lease, (to) => releaseLock(to, [names.lease], [instance]), 0);
    },
  };
}

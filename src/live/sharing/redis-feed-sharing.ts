import { randomUUID } from 'node:crypto';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { pipeThrough } from '../../compression.ts';
import { askOr } from '../../redis/ask-or.ts';
import type { RedisConnection } from '../../redis/connection.ts';
import { defineScript } from '../../redis/script.ts';
import type { SharedRedis } from '../../redis/shared-redis.ts';
import type { FeedSourceId } from '../polling/feed-source.ts';
import type { FeedSharing, InstanceDemand, PolledState } from './feed-sharing.ts';

/** The instance that polls renews its lease every three seconds; when it is killed, another polls after this. */
const LEASE_MS = 10_000;
const DEMAND_KEPT_MS = 15_000;
const FEED_KEPT_MS = 5 * 60_000;
const MAX_PACKED_BYTES = 64 * 1024 * 1024;

/** Takes the lease when it is free, renews it when this instance holds it. Returns 1 when it holds it now. */
const holdLease = defineScript<[lease: string], [instance: string, leaseMs: number], number>(
  'holdFeedLease',
  `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`,
);

const leaveLease = defineScript<[lease: string], [instance: string], number>(
  'leaveFeedLease',
  `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`,
);

interface ToldDemand extends InstanceDemand {
  at: number;
}

/**
 * Feeds, their states, and who polls, in Redis. `source` keeps the sandbox apart from the authority. While Redis is
 * away, every instance polls for its own callers, within its share of the budget.
 */
export function createRedisFeedSharing(
  redis: Pick<SharedRedis, 'ask'>,
  { source, now }: { source: string; now: () => number },
): FeedSharing {
  const instance = randomUUID();
  const prefix = `tis:${source}:live`;
  const names = { lease: `${prefix}:lease`, demand: `${prefix}:demand`, states: `${prefix}:states` };
  const nameOfFeed = (feed: FeedSourceId) => `${prefix}:feed:${feed}`;

  const ask = <Answer, Otherwise>(
    name: string,
    command: (connection: RedisConnection) => Promise<Answer>,
    otherwise: Otherwise,
  ) => askOr(redis, name, command, otherwise);

  return {
    async lead() {
      return (await ask(names.lease, (to) => holdLease(to, [names.lease], [instance, LEASE_MS]), 1)) === 1;
    },
    async tellDemand(own) {
      const told = JSON.stringify({ at: now(), ...own } satisfies ToldDemand);
      await ask(names.demand, (to) => to.hset(names.demand, instance, told), 0);
      await ask(names.demand, (to) => to.pexpire(names.demand, 4 * DEMAND_KEPT_MS), 0);
    },
    async readDemand() {
      const told = Object.entries(await ask(names.demand, (to) => to.hgetall(names.demand), {}));
      const others = told
        .filter(([name]) => name !== instance)
        .map(([name, text]) => ({ name, ...(JSON.parse(text) as ToldDemand) }));
      const gone = others.filter(({ at }) => at < now() - DEMAND_KEPT_MS).map(({ name }) => name);
      if (gone.length > 0) await ask(names.demand, (to) => to.hdel(names.demand, ...gone), 0);
      return others.filter(({ name }) => !gone.includes(name));
    },
    async publish(feed, state, packed) {
      const name = nameOfFeed(feed);
      if (packed) {
        // The feed of buses is 5 MB as it is and would fill the file to which Redis appends.
        const bytes = await pipeThrough(createZstdCompress(), new Uint8Array(packed));
        await ask(name, (to) => to.set(name, bytes, 'PX', FEED_KEPT_MS), null);
      } else await ask(name, (to) => to.pexpire(name, FEED_KEPT_MS), 0);
      await ask(names.states, (to) => to.hset(names.states, feed, JSON.stringify(state)), 0);
      await ask(names.states, (to) => to.pexpire(names.states, FEED_KEPT_MS), 0);
    },
    async withdraw(feed) {
      await ask(names.states, (to) => to.hdel(names.states, feed), 0);
    },
    async readStates() {
      const states = await ask(names.states, (to) => to.hgetall(names.states), null);
      if (!states) return null;
      return new Map(
        Object.entries(states).map(([feed, text]) => [feed as FeedSourceId, JSON.parse(text) as PolledState]),
      );
    },
    async readFeed(feed) {
      const name = nameOfFeed(feed);
      const bytes = await ask(name, (to) => to.getBuffer(name), null);
      if (!bytes) return null;
      const packed = await pipeThrough(createZstdDecompress(), bytes, MAX_PACKED_BYTES);
      return packed.buffer as ArrayBuffer;
    },
    async close() {
      await ask(names.lease, (to) => leaveLease(to, [names.lease], [instance]), 0);
      await ask(names.demand, (to) => to.hdel(names.demand, instance), 0);
    },
  };
}

import type { FeedDemand } from './feed-demand.ts';
import type { FeedHealth } from './feed-health.ts';
import type { FeedSourceId } from './feed-source.ts';

/** How a feed stands, as the polling instance tells the others. Moments in milliseconds since 1970. */
export interface PolledState {
  health: FeedHealth;
  /** The time between two polls at present. */
  intervalMs: number;
  polledAt: number;
}

/** What the callers of one instance ask for. */
export interface InstanceDemand {
  demand: readonly FeedDemand[];
  /** When a board that needs the feed was last asked for. */
  askedAt: Partial<Record<FeedSourceId, number>>;
}

/** What instances tell each other of the feeds. The calls never fail: while the store is away, there is nobody else. */
export interface FeedSharing {
  /** Whether this instance polls; to be asked every few seconds. True when there is no other instance to be reached. */
  lead(): Promise<boolean>;
  tellDemand(own: InstanceDemand): Promise<void>;
  /** Of all other instances. */
  readDemand(): Promise<InstanceDemand[]>;
  /** `packed` is null when the feed is the one that was published before. */
  publish(source: FeedSourceId, state: PolledState, packed: ArrayBuffer | null): Promise<void>;
  /** The feed is not polled any more. */
  withdraw(source: FeedSourceId): Promise<void>;
  /** Null while the store is away. */
  readStates(): Promise<Map<FeedSourceId, PolledState> | null>;
  readFeed(source: FeedSourceId): Promise<ArrayBuffer | null>;
  /** Lets another instance poll at once. */
  close(): Promise<void>;
}

/** For an instance without Redis. */
export const noFeedSharing: FeedSharing = {
  lead: async () => true,
  tellDemand: async () => {},
  readDemand: async () => [],
  publish: async () => {},
  withdraw: async () => {},
  readStates: async () => null,
  readFeed: async () => null,
  close: async () => {},
};

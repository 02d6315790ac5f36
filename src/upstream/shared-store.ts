import type { Buffer } from 'node:buffer';

/**
 * What instances share. Its calls never fail: while the store is away, nothing is found, nothing is kept and every lock
 * is given, so that each process works by itself.
 */
export interface SharedStore {
  get(key: string): Promise<Buffer | null>;
  getMany(keys: readonly string[]): Promise<(Buffer | null)[]>;
  /** Not awaited: the caller does not need the outcome. */
  set(key: string, value: Buffer | string, ttlMs: number): void;
  /** True when this process has the lock now, or when there is no other instance to share with. */
  lock(key: string, token: string, ttlMs: number): Promise<boolean>;
  /** The token or the note that is in the lock's place, or nothing. A lock that would never expire gets this expiry. */
  readLock(key: string, ttlMs: number): Promise<string>;
  /** Keeps the lock for another `ttlMs`, if the token still holds it. */
  extend(key: string, token: string, ttlMs: number): void;
  /** Releases the lock, if the token still holds it. A note takes its place for a while. */
  unlock(key: string, token: string, note?: { text: string; ttlMs: number }): void;
}

/** For an instance without Redis. */
export const noSharedStore: SharedStore = {
  get: async () => null,
  getMany: async (keys) => keys.map(() => null),
  set() {},
  lock: async () => true,
  readLock: async () => '',
  extend() {},
  unlock() {},
};

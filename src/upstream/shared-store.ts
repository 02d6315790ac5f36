import type { Buffer } from 'node:buffer';

/**
 * What instances share. None of its calls ever fails: a store that is away knows nothing, keeps nothing and gives every
 * lock, and each process goes on by itself.
 */
export interface SharedStore {
  get(key: string): Promise<Buffer | null>;
  getMany(keys: readonly string[]): Promise<(Buffer | null)[]>;
  /** Not awaited: the caller has what it needs. */
  set(key: string, value: Buffer | string, ttlMs: number): void;
  /** True when the lock is now ours, or when there is nobody to share with. */
  lock(key: string, token: string, ttlMs: number): Promise<boolean>;
  /** Keeps a lock that is still ours for another `ttlMs`. */
  extend(key: string, token: string, ttlMs: number): void;
  /** Gives back a lock that is still ours; with a note, leaves the note in its place for a while. */
  unlock(key: string, token: string, note?: { text: string; ttlMs: number }): void;
}

/** One process by itself. */
export const noSharedStore: SharedStore = {
  get: async () => null,
  getMany: async (keys) => keys.map(() => null),
  set() {},
  lock: async () => true,
  extend() {},
  unlock() {},
};

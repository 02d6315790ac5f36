import { createBoundedMap } from '../../core/own-memory.ts';

/** Allows at most `burst` requests at once, and `perSecond` on average. */
export interface Rate {
  perSecond: number;
  burst: number;
}

/** Bounds the memory. The bucket that was unused for longest is forgotten first, and is full when it is used again. */
const MAX_BUCKETS = 50_000;

/** Token buckets, each under a name of its own, which always has the same rate. A bucket that was not used yet is full. */
export function createTokenBuckets(now: () => Date) {
  /** Each has the tokens that it held at a moment, in milliseconds since 1970. */
  const buckets = createBoundedMap<{ tokens: number; at: number }>('token buckets', MAX_BUCKETS);

  function fill(name: string, { perSecond, burst }: Rate) {
    const at = now().getTime();
    const bucket = buckets.get(name);
    if (!bucket) {
      const full = { tokens: burst, at };
      buckets.set(name, full);
      return full;
    }
    // The clock of the machine may be set back.
    const elapsedMs = Math.max(0, at - bucket.at);
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs * perSecond) / 1000);
    bucket.at = at;
    return bucket;
  }

  return {
    /** Takes a token out of the bucket; false when it holds none. */
    take(name: string, rate: Rate): boolean {
      const bucket = fill(name, rate);
      if (bucket.tokens < 1) return false;
      bucket.tokens -= 1;
      return true;
    },
    /** Whole seconds until the bucket holds a token, at least one. */
    waitSeconds: (name: string, rate: Rate) => Math.max(1, Math.ceil((1 - fill(name, rate).tokens) / rate.perSecond)),
  };
}

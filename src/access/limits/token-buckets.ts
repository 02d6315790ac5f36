import { createBoundedMap } from '../../core/own-memory.ts';

/** A rate of `perSecond` requests on average, in bursts of up to `burst`. */
export interface Rate {
  perSecond: number;
  burst: number;
}

/** Limits memory. The least recently used bucket is dropped first; it is full when used again. */
const MAX_BUCKETS = 50_000;

/** Named token buckets. The same name must always be used with the same rate. A new bucket is full. */
export function createTokenBuckets(now: () => number) {
  /** The tokens in each bucket at `at`, in milliseconds since 1970. */
  const buckets = createBoundedMap<{ tokens: number; at: number }>('token buckets', MAX_BUCKETS);

  function fill(name: string, { perSecond, burst }: Rate) {
    const at = now();
    const bucket = buckets.get(name);
    if (!bucket) {
      const full = { tokens: burst, at };
      buckets.set(name, full);
      return full;
    }
    // The machine's clock may be set back.
    const elapsedMs = Math.max(0, at - bucket.at);
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs * perSecond) / 1000);
    bucket.at = at;
    return bucket;
  }

  return {
    /** Takes a token from the bucket; false if it is empty. */
    spend(name: string, rate: Rate): boolean {
      const bucket = fill(name, rate);
      if (bucket.tokens < 1) return false;
      bucket.tokens -= 1;
      return true;
    },
    /** Whole seconds until the bucket has a token; at least one. */
    waitSeconds: (name: string, rate: Rate) => Math.max(1, Math.ceil((1 - fill(name, rate).tokens) / rate.perSecond)),
  };
}

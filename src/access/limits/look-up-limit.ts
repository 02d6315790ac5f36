import { clientNetwork } from './client-network.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** What one client network may have looked up that turns out to be no valid key. */
const PER_NETWORK = { perSecond: 20, burst: 40 };
/** A network is quiet as long as it has less looked up than this, and does not flood. */
const QUIET = { perSecond: 1, burst: 5 };
/** All networks together may use the one half of what this process looks up; the other half is for quiet networks. */
const FOR_ALL = { perSecond: 100, burst: 100 };
const FOR_QUIET = { perSecond: 100, burst: 100 };
const ONLY_BUCKET = '';

/** Leave to look up one key. */
interface LookUp {
  /** For a look-up that found a valid key, or did not take place. */
  putBack(): void;
}

/**
 * Bounds how often the store is asked about keys that this process does not know: for each client network, and in all.
 * Only keys that turn out not to be valid count.
 */
export interface LookUpLimit {
  /** Null when the limit is reached. */
  take(ip: string): LookUp | null;
  waitSeconds(ip: string): number;
}

export function createLookUpLimit(now: () => Date): LookUpLimit {
  const networks = createTokenBuckets(PER_NETWORK, now);
  const quietNetworks = createTokenBuckets(QUIET, now);
  const forAll = createTokenBuckets(FOR_ALL, now);
  const forQuiet = createTokenBuckets(FOR_QUIET, now);

  return {
    take(ip) {
      const network = clientNetwork(ip);
      if (!networks.take(network)) return null;
      // What a network tries counts, also when it is refused below: otherwise all networks of a flood would stay quiet.
      const isQuiet = networks.isHalfFull(network) && quietNetworks.take(network);
      const share = isQuiet && forQuiet.take(ONLY_BUCKET) ? forQuiet : forAll;
      if (share === forAll && !forAll.take(ONLY_BUCKET)) return null;
      return {
        putBack() {
          networks.putBack(network);
          if (isQuiet) quietNetworks.putBack(network);
          share.putBack(ONLY_BUCKET);
        },
      };
    },
    waitSeconds: (ip) => networks.waitSeconds(clientNetwork(ip)),
  };
}

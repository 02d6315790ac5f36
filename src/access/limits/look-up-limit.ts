import { clientNetwork } from './client-network.ts';
import { createTokenBuckets, type TokenBuckets } from './token-buckets.ts';

/** What one client network may have looked up that turns out to be no valid key. */
const PER_NETWORK = { perSecond: 20, burst: 40 };
/** A network is quiet as long as it has less looked up than this, and does not flood. */
const QUIET = { perSecond: 1, burst: 5 };
/** All networks together may use the one half of what this process looks up; the other half is for quiet networks. */
const FOR_ALL = { perSecond: 100, burst: 100 };
const FOR_QUIET = { perSecond: 100, burst: 100 };
const ONLY_BUCKET = '';

/**
 * Bounds how often the store is asked about keys that this process does not know: for each client network, and in all.
 * Only keys that turn out not to be valid count.
 */
export class LookUpLimit {
  readonly #networks: TokenBuckets;
  readonly #quietNetworks: TokenBuckets;
  readonly #forAll: TokenBuckets;
  readonly #forQuiet: TokenBuckets;

  constructor(now: () => Date) {
    this.#networks = createTokenBuckets(PER_NETWORK, now);
    this.#quietNetworks = createTokenBuckets(QUIET, now);
    this.#forAll = createTokenBuckets(FOR_ALL, now);
    this.#forQuiet = createTokenBuckets(FOR_QUIET, now);
  }

  /**
   * Null when the limit is reached. Else the key may be looked up, and the function that is returned puts the look-up back:
   * for one that found a valid key, or did not take place.
   */
  take(ip: string): (() => void) | null {
    const network = clientNetwork(ip);
    if (!this.#networks.take(network)) return null;
    // What a network tries counts, also when it is refused below: otherwise all networks of a flood would stay quiet.
    const isQuiet = this.#networks.isHalfFull(network) && this.#quietNetworks.take(network);
    const share = isQuiet && this.#forQuiet.take(ONLY_BUCKET) ? this.#forQuiet : this.#forAll;
    if (share === this.#forAll && !share.take(ONLY_BUCKET)) return null;
    return () => {
      this.#networks.putBack(network);
      if (isQuiet) this.#quietNetworks.putBack(network);
      share.putBack(ONLY_BUCKET);
    };
  }

  waitSeconds(ip: string): number {
    return this.#networks.waitSeconds(clientNetwork(ip));
  }
}

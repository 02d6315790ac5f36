import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE_MS } from '../clock.ts';
import type { Log } from '../log.ts';
import { UnavailableError } from './connection.ts';
import { createSilenceDetector, Distances, MAX_ROUND_TRIP_MS } from './silence-detector.ts';

const PROBE_EVERY_MS = 100;
const LOG_REFUSALS_EVERY_MS = MINUTE_MS;

/** `readable`: the store replies and refuses to write, because it is full, a replica, or cannot reach its disk. */
export type StoreState = 'writable' | 'readable' | 'away';

/** Knows whether a store replies, so that requests do not wait for a store that is away. */
export interface Presence {
  /** On a cluster, one node can be away while the others reply: the key says which node is meant. */
  isAway(key: string): boolean;
  /**
   * Settles as the call does, or rejects with `UnavailableError` as soon as the node of the key counts as away. The call
   * itself goes on, and its late response can still be read from it.
   */
  watch<T>(key: string, call: Promise<T>): Promise<T>;
  close(): void;
}

/**
 * A store counts as away when the connection is lost, or when nothing comes for longer than its distance explains while
 * a response is due. From then on it is probed in the background.
 */
export function createPresence(options: {
  /** Name of the store in the log. */
  storeName: string;
  /** Names the node that holds the key. */
  nodeOf: (key: string) => string;
  /** Resolves when the node of the key has replied. */
  probe: (key: string) => Promise<unknown>;
  log: Log;
  /** For how long silence is normal, beside the distance. */
  marginMs?: number;
}): Presence {
  const { storeName, nodeOf, probe, log, marginMs } = options;
  const awayNodes = new Set<string>();
  const distances = new Distances(marginMs);
  const untilSilent = createSilenceDetector(distances);
  const closing = new AbortController();
  let refusalLoggedAt = Number.NEGATIVE_INFINITY;

  function startProbing(node: string, key: string, { message }: UnavailableError): void {
    if (awayNodes.has(node) || closing.signal.aborted) return;
    awayNodes.add(node);
    // The message alone: errors of the client carry the command, and a command carries secrets.
    log.warn({ node, reason: message }, `${storeName} is away`);
    probeUntilBack(node, key).catch(() => {});
  }

  async function probeUntilBack(node: string, key: string): Promise<void> {
    do await sleep(PROBE_EVERY_MS, undefined, { ref: false, signal: closing.signal });
    while (!(await respondsToProbes(node, key)));
    awayNodes.delete(node);
    log.info({ node }, `${storeName} is back`);
  }

  /**
   * Two probes: the first response may be late because the store was stopped for a while. The second one tells how far
   * away the store is now.
   */
  async function respondsToProbes(node: string, key: string): Promise<boolean> {
    try {
      const roundTripMs = Math.min(await timeProbe(key), await timeProbe(key));
      if (roundTripMs > MAX_ROUND_TRIP_MS) return false;
      distances.measured(node, roundTripMs);
      return true;
    } catch {
      return false;
    }
  }

  async function timeProbe(key: string): Promise<number> {
    const askedAt = performance.now();
    await probe(key);
    return performance.now() - askedAt;
  }

  /** Out of memory, read-only: the store replies, so it does not count as away. */
  function logRefusal({ message }: UnavailableError): void {
    if (performance.now() - refusalLoggedAt < LOG_REFUSALS_EVERY_MS) return;
    refusalLoggedAt = performance.now();
    log.warn({ reason: message }, `${storeName} refuses a command`);
  }

  return {
    isAway: (key) => awayNodes.size > 0 && awayNodes.has(nodeOf(key)),
    watch(key, call) {
      const node = nodeOf(key);
      return untilSilent(node, call, (error) => {
        if (!(error instanceof UnavailableError)) return;
        if (error.reason === 'refused') logRefusal(error);
        else startProbing(node, key, error);
      });
    },
    close: () => closing.abort(),
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { createSilenceDetector } from './silence-detector.ts';
import { UnavailableError } from './unavailable-error.ts';

/** A store counts as away when nothing is heard from it for so long while an answer is due. */
const SILENCE_MS = 150;
const PROBE_EVERY_MS = 100;
const LOG_REFUSALS_EVERY_MS = 60_000;

export interface PresenceLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Knows whether a store answers, so that requests do not wait for a store that is away. */
export interface Presence {
  /** On a cluster, one node can be away while the others answer: the key says which node is meant. */
  isAway(key: string): boolean;
  /**
   * Settles as the call does, or rejects with `UnavailableError` as soon as the node of the key counts as away. The call
   * itself goes on, and its late answer can still be read from it.
   */
  watch<T>(key: string, call: Promise<T>): Promise<T>;
  close(): void;
}

export interface PresenceOptions {
  /** What is watched; for the log. */
  storeName: string;
  /** Names the node that holds the key. */
  nodeOf: (key: string) => string;
  /** Resolves when the node of the key has answered. */
  probe: (key: string) => Promise<unknown>;
  log: PresenceLog;
  silenceMs?: number;
}

export function createPresence({ storeName, nodeOf, probe, log, silenceMs = SILENCE_MS }: PresenceOptions): Presence {
  const awayNodes = new Set<string>();
  const untilSilent = createSilenceDetector(silenceMs);
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
    while (!(await answersPromptly(key)));
    awayNodes.delete(node);
    log.info({ node }, `${storeName} is back`);
  }

  /** A late answer, as from a process that was stopped for a while, does not show that the next one will come. */
  async function answersPromptly(key: string): Promise<boolean> {
    const askedAt = performance.now();
    try {
      await probe(key);
      return performance.now() - askedAt < silenceMs;
    } catch {
      return false;
    }
  }

  /** Out of memory, read-only: the store answers, so it does not count as away. */
  function logRefusal({ message }: UnavailableError): void {
    if (performance.now() - refusalLoggedAt < LOG_REFUSALS_EVERY_MS) return;
    refusalLoggedAt = performance.now();
    log.warn({ reason: message }, `${storeName} refuses a command`);
  }

  return {
    isAway: (key) => awayNodes.size > 0 && awayNodes.has(nodeOf(key)),
    async watch(key, call) {
      const node = nodeOf(key);
      try {
        return await untilSilent(node, call);
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        if (error.reason === 'refused') logRefusal(error);
        else startProbing(node, key, error);
        throw error;
      }
    },
    close: () => closing.abort(),
  };
}

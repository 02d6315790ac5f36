import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE_MS } from '../clock.ts';
import type { Log } from '../log.ts';
import { UnavailableError } from './connection.ts';

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
  /** What happens while the store is away, for the log. */
  whileAway?: string;
  /** Names the node that holds the key. */
  nodeOf: (key: string) => string;
  /** Resolves when the node of the key has replied. */
  probe: (key: string) => Promise<unknown>;
  log: Log;
  /** For how long silence is normal, beside the distance. */
  marginMs?: number;
}): Presence {
  const { storeName, whileAway, nodeOf, probe, log, marginMs } = options;
  const awayNodes = new Set<string>();
  const distances = new Distances(marginMs);
  const untilSilent = createSilenceDetector(distances);
  const closing = new AbortController();
  let refusalLoggedAt = Number.NEGATIVE_INFINITY;

  function startProbing(node: string, key: string, { message }: UnavailableError): void {
    if (awayNodes.has(node) || closing.signal.aborted) return;
    awayNodes.add(node);
    // The message alone: errors of the client carry the command, and a command carries secrets.
    log.warn({ ...(node && { node }), reason: message, whileAway }, `${storeName} is away`);
    probeUntilBack(node, key).catch(() => {});
  }

  async function probeUntilBack(node: string, key: string): Promise<void> {
    do await sleep(PROBE_EVERY_MS, undefined, { ref: false, signal: closing.signal });
    while (!(await respondsToProbes(node, key)));
    awayNodes.delete(node);
    log.info(node ? { node } : {}, `${storeName} is back`);
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

/** Added to twice the round trip: for pauses of Redis and of the network. */
const MARGIN_MS = 200;
/** The distance assumed of a node that has not replied yet. */
const UNMEASURED_ROUND_TRIP_MS = 400;
/** A node farther than this counts as away. */
export const MAX_ROUND_TRIP_MS = 1000;

/** The longest wait for a node that is silent. */
export const MAX_PATIENCE_MS = MARGIN_MS + 2 * MAX_ROUND_TRIP_MS;

/** How far away the nodes are, in milliseconds there and back. */
export class Distances {
  readonly #roundTrips = new Map<string, number>();
  readonly #marginMs: number;

  constructor(marginMs = MARGIN_MS) {
    this.#marginMs = marginMs;
  }

  /** For how long silence of the node is normal. */
  patienceMs(node: string): number {
    return this.#marginMs + 2 * (this.#roundTrips.get(node) ?? UNMEASURED_ROUND_TRIP_MS);
  }

  /** A call that took so long. Only the shortest of them tell the distance: the others had to wait for their turn. */
  heard(node: string, elapsedMs: number): void {
    if (elapsedMs < (this.#roundTrips.get(node) ?? Number.POSITIVE_INFINITY)) this.#roundTrips.set(node, elapsedMs);
  }

  /** Replaces what was measured before. */
  measured(node: string, roundTripMs: number): void {
    this.#roundTrips.set(node, roundTripMs);
  }
}

const TICK_MS = 25;

/** The calls to one node that wait for a response. */
interface Line {
  waiting: Set<(error: UnavailableError) => void>;
  /** For how long nothing was heard, without the time in which this process was too busy to listen. */
  silentMs: number;
}

/**
 * Gives up all calls to a node when nothing is heard from it for longer than its distance explains. What counts is
 * silence, not how long a call takes: when many calls wait at once, the last one has to wait for its turn. Time in which
 * this process was busy does not count, because responses lie unread meanwhile.
 */
function createSilenceDetector(distances: Distances) {
  const lines = new Map<string, Line>();

  /** One timer for all calls of a node, for as long as any of them waits. */
  function listen(node: string, line: Line): void {
    const dueAt = performance.now() + TICK_MS;
    setTimeout(() => {
      const wasBusy = performance.now() - dueAt > TICK_MS;
      // Responses that have arrived by now are read before `setImmediate` runs.
      setImmediate(() => {
        if (!wasBusy) line.silentMs += TICK_MS;
        if (line.waiting.size === 0) lines.delete(node);
        else if (line.silentMs < distances.patienceMs(node)) listen(node, line);
        else giveUp(node, line);
      });
    }, TICK_MS);
  }

  function giveUp(node: string, { waiting, silentMs }: Line): void {
    lines.delete(node);
    for (const fail of waiting) fail(new UnavailableError(`no response for ${silentMs} ms`, 'no-response'));
    waiting.clear();
  }

  function lineTo(node: string): Line {
    const open = lines.get(node);
    if (open) return open;
    const line: Line = { waiting: new Set(), silentMs: 0 };
    lines.set(node, line);
    listen(node, line);
    return line;
  }

  /**
   * Settles as the call does, or rejects with `UnavailableError` when its node falls silent; `failed` is told why before.
   * The call goes on.
   */
  return function untilSilent<T>(node: string, call: Promise<T>, failed: (error: Error) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const line = lineTo(node);
    const askedAt = performance.now();
    const fail = (error: Error) => {
      failed(error);
      reject(error);
    };
    const heard = () => {
      line.waiting.delete(fail);
      line.silentMs = 0;
    };
    line.waiting.add(fail);
    call.then(
      (value) => {
        distances.heard(node, performance.now() - askedAt);
        heard();
        resolve(value);
      },
      (error) => {
        // A failure after the call was given up is no news.
        const isAwaited = line.waiting.has(fail);
        heard();
        if (isAwaited) fail(error);
      },
    );
    return promise;
  };
}

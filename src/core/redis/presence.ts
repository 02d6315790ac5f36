import { type Clock, MINUTE_MS, sleep, steadyClock } from '../clock.ts';
import type { Log } from '../log.ts';
import { UnavailableError } from './connection.ts';

const PROBE_EVERY_MS = 100;
const PROBE_WRITES_EVERY_MS = 1000;
const LOG_REFUSALS_EVERY_MS = MINUTE_MS;
const TICK_MS = 25;
/** Added to twice the round trip to allow for pauses of Redis and of the network. */
const MARGIN_MS = 200;
/** Round trip assumed for a node that has not replied yet. */
const UNMEASURED_ROUND_TRIP_MS = 400;
/** A node with a longer round trip counts as unreachable. */
export const MAX_ROUND_TRIP_MS = 1000;

/** The longest wait for a silent node. */
export const MAX_PATIENCE_MS = MARGIN_MS + 2 * MAX_ROUND_TRIP_MS;

/** `readable`: the store replies but refuses writes, because it is full, a replica, or cannot reach its disk. */
export type StoreState = 'writable' | 'readable' | 'unreachable';

/** Tracks whether a store replies, so that requests do not wait for one that is unreachable. */
export interface Presence {
  /** Whether the node of the key is unreachable. In a cluster, other nodes may still reply. */
  isUnreachable(key: string): boolean;
  /**
   * Settles like the call, or rejects with `UnavailableError` as soon as the key's node counts as unreachable. The call itself
   * continues, and its late response can still be used.
   */
  watch<T>(key: string, call: Promise<T>): Promise<T>;
  close(): void;
}

/** What this process has measured of one node. A single server is one node. */
interface Node {
  /** The measured round trip; null before the first reply. */
  roundTripMs: number | null;
  /** One function for each call that waits for a response; it rejects that call. */
  waiting: Set<(error: UnavailableError) => void>;
  /** How long nothing has arrived while calls wait. Time in which this process was too busy to read does not count. */
  silentMs: number;
  isListening: boolean;
}

/**
 * A store counts as unreachable when the connection is lost, or when a response is due and nothing arrives for longer than the
 * round trip explains. It is then probed in the background. Only silence counts, not the duration of a call: when many calls wait
 * at once, the last one has to wait for its turn.
 */
export function createPresence(options: {
  /** The store's name in the log. */
  storeName: string;
  /** Log text for operators: what happens while the store is unreachable. */
  whileUnreachable?: string;
  /** The node that holds the key. */
  nodeOf: (key: string) => string;
  /** Resolves when the key's node has replied. */
  probe: (key: string) => Promise<unknown>;
  /** Writes to the store and resolves to whether the write succeeded. Without it, recovery from refused writes is not logged. */
  takesWrites?: () => Promise<boolean>;
  log: Log;
  /** How long silence is normal, in addition to the round trip. */
  marginMs?: number;
  clock?: Clock;
}): Presence {
  const {
    storeName,
    whileUnreachable,
    nodeOf,
    probe,
    takesWrites,
    log,
    marginMs = MARGIN_MS,
    clock = steadyClock,
  } = options;
  const nodes = new Map<string, Node>();
  const unreachableNodes = new Set<string>();
  let isClosed = false;
  let refusalLoggedAt = Number.NEGATIVE_INFINITY;
  let isRefusing = false;

  function parseNode(name: string): Node {
    const existing = nodes.get(name);
    if (existing) return existing;
    const node = { roundTripMs: null, waiting: new Set<never>(), silentMs: 0, isListening: false };
    nodes.set(name, node);
    return node;
  }

  function startProbing(name: string, key: string, { message }: UnavailableError): void {
    if (unreachableNodes.has(name) || isClosed) return;
    unreachableNodes.add(name);
    // Log only the message: the client's errors contain the command, and commands contain secrets.
    log.warn({ ...(name && { node: name }), reason: message, whileUnreachable }, `${storeName} is unreachable`);
    probeUntilBack(name, key).catch(() => {});
  }

  async function probeUntilBack(name: string, key: string): Promise<void> {
    do {
      await sleep(clock, PROBE_EVERY_MS, { isBackground: true });
      if (isClosed) return;
    } while (!(await respondsToProbes(parseNode(name), key)));
    unreachableNodes.delete(name);
    log.info(name ? { node: name } : {}, `${storeName} is back`);
  }

  /** Sends two probes and takes the faster one as the round trip, because the first response may be late if the store was paused. */
  async function respondsToProbes(node: Node, key: string): Promise<boolean> {
    try {
      const roundTripMs = Math.min(await timeProbe(key), await timeProbe(key));
      if (roundTripMs > MAX_ROUND_TRIP_MS) return false;
      node.roundTripMs = roundTripMs;
      return true;
    } catch {
      return false;
    }
  }

  async function timeProbe(key: string): Promise<number> {
    const sentAt = clock.now();
    await probe(key);
    return clock.now() - sentAt;
  }

  /** Logs errors such as out of memory or read-only. The store replies, so it does not count as unreachable. */
  function logRefusal({ message }: UnavailableError): void {
    if (clock.now() - refusalLoggedAt < LOG_REFUSALS_EVERY_MS) return;
    refusalLoggedAt = clock.now();
    log.warn({ reason: message }, `${storeName} refuses a command`);
    if (takesWrites && !isRefusing) untilWritable(takesWrites).catch(() => {});
  }

  async function untilWritable(takesWrites: () => Promise<boolean>): Promise<void> {
    isRefusing = true;
    try {
      do {
        await sleep(clock, PROBE_WRITES_EVERY_MS, { isBackground: true });
        if (isClosed) return;
      } while (!(await takesWrites()));
    } finally {
      isRefusing = false;
    }
    log.info({}, `${storeName} accepts writes again`);
  }

  /** One timer per node, running while any of its calls waits. */
  function listen(node: Node): void {
    node.isListening = true;
    const dueAt = clock.now() + TICK_MS;
    clock.after(TICK_MS, () => {
      const wasBusy = clock.now() - dueAt > TICK_MS;
      // Responses that have arrived by now are processed before `setImmediate` runs.
      setImmediate(() => {
        node.isListening = false;
        if (!wasBusy) node.silentMs += TICK_MS;
        if (node.silentMs >= marginMs + 2 * (node.roundTripMs ?? UNMEASURED_ROUND_TRIP_MS)) giveUp(node);
        if (node.waiting.size > 0) listen(node);
        else node.silentMs = 0;
      });
    });
  }

  function giveUp({ waiting, silentMs }: Node): void {
    const pending = [...waiting];
    waiting.clear();
    for (const fail of pending) fail(new UnavailableError(`no response for ${silentMs} ms`, 'no-response'));
  }

  function watch<T>(key: string, call: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const name = nodeOf(key);
    const node = parseNode(name);
    const calledAt = clock.now();
    const fail = (error: Error) => {
      if (error instanceof UnavailableError) {
        if (error.reason === 'refused') logRefusal(error);
        else startProbing(name, key, error);
      }
      reject(error);
    };
    /** Returns false if the call was already given up. */
    const recordResponse = () => {
      node.silentMs = 0;
      return node.waiting.delete(fail);
    };
    node.waiting.add(fail);
    if (!node.isListening) listen(node);
    call.then(
      (value) => {
        // Only the shortest calls measure the round trip: others had to wait for their turn.
        node.roundTripMs = Math.min(clock.now() - calledAt, node.roundTripMs ?? Number.POSITIVE_INFINITY);
        recordResponse();
        resolve(value);
      },
      (error) => {
        if (recordResponse()) fail(error);
      },
    );
    return promise;
  }

  return {
    isUnreachable: (key) => unreachableNodes.size > 0 && unreachableNodes.has(nodeOf(key)),
    watch,
    close() {
      isClosed = true;
    },
  };
}

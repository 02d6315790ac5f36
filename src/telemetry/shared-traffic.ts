import { randomUUID } from 'node:crypto';
import { createTraffic, minuteOf, type Traffic, type TrafficView, type UpstreamHealth } from './traffic.ts';
import { addAnswer, addBucket, type Bucket, createBucket } from './traffic-bucket.ts';

/** What an instance says of itself. */
export interface InstanceReport {
  /** Milliseconds since 1970. */
  at: number;
  health: UpstreamHealth | null;
}

/** Where instances add up their numbers. Its calls reject when it is away. */
export interface TrafficStore {
  /** `minutes` are counts since the last time, by the minute they belong to. */
  add(addition: {
    minutes: ReadonlyMap<number, Bucket>;
    lastUpstreamResponse: Date | null;
    instance: string;
    report: InstanceReport;
  }): Promise<void>;
  read(minuteNow: number): Promise<{
    recent: TrafficView['recent'];
    quarters: TrafficView['quarters'];
    lastUpstreamResponse: Date | null;
    reports: InstanceReport[];
  }>;
  remove(instance: string): Promise<unknown>;
}

export interface SharedTraffic extends Traffic {
  /** Adds what is not added yet. Rejects when the store is away; then it is added later. */
  publish(): Promise<void>;
  close(): Promise<void>;
}

const PUBLISH_EVERY_MS = 5000;
/** An instance that says nothing for so long is gone. */
const GONE_AFTER_MS = 30_000;
const READ_AT_MOST_EVERY_MS = 2000;
/** A page does not wait longer for a store that is silent. */
const PATIENCE_MS = 500;
const MAX_UNPUBLISHED_MINUTES = 24 * 60;

/** The traffic of all instances: each adds its own to the store every few seconds, and any of them can tell of all. */
export function shareTraffic(options: {
  store: TrafficStore;
  health: () => UpstreamHealth;
  now: () => Date;
}): SharedTraffic {
  const { store, health, now } = options;
  const own = createTraffic(now);
  const instance = randomUUID();
  let unpublished = new Map<number, Bucket>();
  let lastUpstreamResponse: Date | null = null;
  let lastView: { at: number; view: Promise<TrafficView> } | null = null;
  const timer = setInterval(() => publish().catch(() => {}), PUBLISH_EVERY_MS);
  timer.unref();

  function current(): Bucket {
    const minute = minuteOf(now());
    const bucket = unpublished.get(minute) ?? createBucket();
    unpublished.set(minute, bucket);
    return bucket;
  }

  async function publish(): Promise<void> {
    const [minutes, answeredAt] = [unpublished, lastUpstreamResponse];
    unpublished = new Map();
    lastUpstreamResponse = null;
    const report = { at: now().getTime(), health: health() };
    try {
      await store.add({ minutes, lastUpstreamResponse: answeredAt, instance, report });
    } catch (error) {
      lastUpstreamResponse ??= answeredAt;
      putBack(minutes);
      throw error;
    }
  }

  /** If only the response of the store got lost, these are counted twice: a status page can bear that. */
  function putBack(minutes: ReadonlyMap<number, Bucket>): void {
    for (const [minute, bucket] of minutes) {
      const later = unpublished.get(minute);
      if (later) addBucket(later, bucket);
      else unpublished.set(minute, bucket);
    }
    const oldest = minuteOf(now()) - MAX_UNPUBLISHED_MINUTES;
    for (const minute of unpublished.keys()) if (minute < oldest) unpublished.delete(minute);
  }

  async function readView(): Promise<TrafficView> {
    try {
      await inTime(publish());
      const { reports, ...numbers } = await inTime(store.read(minuteOf(now())));
      const present = reports.filter(({ at }) => at > now().getTime() - GONE_AFTER_MS);
      return { ...numbers, scope: { instances: present.length }, health: worstOf(present) };
    } catch {
      return ownView();
    }
  }

  const ownView = async (): Promise<TrafficView> => ({ ...(await own.view()), scope: 'this instance' });

  return {
    answered(operation, status, durationMs) {
      own.answered(operation, status, durationMs);
      addAnswer(current(), operation, status, durationMs);
    },
    upstreamResponded(records, liveRecords) {
      own.upstreamResponded(records, liveRecords);
      const bucket = current();
      bucket.records += records;
      bucket.liveRecords += liveRecords;
      lastUpstreamResponse = now();
    },
    view() {
      const at = now().getTime();
      if (!lastView || at - lastView.at >= READ_AT_MOST_EVERY_MS) lastView = { at, view: readView() };
      return lastView.view;
    },
    ownView,
    publish,
    async close() {
      clearInterval(timer);
      await inTime(publish().then(() => store.remove(instance))).catch(() => {});
    },
  };
}

/** The least budget, and whether the breaker of any instance is open or any has no calls; null when no instance has said. */
function worstOf(reports: readonly InstanceReport[]): UpstreamHealth | null {
  const known = reports.flatMap(({ health }) => health ?? []);
  if (known.length === 0) return null;
  return {
    budgetLeft: Math.min(...known.map(({ budgetLeft }) => budgetLeft)),
    isBreakerOpen: known.some(({ isBreakerOpen }) => isBreakerOpen),
    shortage: known.map(({ shortage }) => shortage).find(Boolean) ?? null,
  };
}

function inTime<Value>(promise: Promise<Value>): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('the store is silent')), PATIENCE_MS);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

import { randomUUID } from 'node:crypto';
import { ANNOUNCE_EVERY_MS, INSTANCE_GONE_MS } from '../redis/instances.ts';
import type { InstanceReport, RedisTraffic } from './redis-traffic.ts';
import { minuteOf, OwnTraffic, type Traffic, type TrafficView, type UpstreamHealth } from './traffic.ts';
import { addBucket, addResponse, type Bucket, createBucket } from './traffic-bucket.ts';

const READ_AT_MOST_EVERY_MS = 2000;
/** A page does not wait longer for a store that is silent. */
const PATIENCE_MS = 500;
const MAX_UNPUBLISHED_MINUTES = 24 * 60;

/** The traffic of all instances: each adds its own to the store every few seconds, and any of them can tell of all. */
export class SharedTraffic implements Traffic {
  readonly #options: { store: RedisTraffic; health: () => UpstreamHealth; now: () => Date };
  readonly #own: OwnTraffic;
  readonly #instance = randomUUID();
  readonly #timer = setInterval(() => this.publish().catch(() => {}), ANNOUNCE_EVERY_MS).unref();
  #unpublished = new Map<number, Bucket>();
  #lastUpstreamResponse: Date | null = null;
  #lastView: { at: number; view: Promise<TrafficView> } | null = null;

  constructor(options: { store: RedisTraffic; health: () => UpstreamHealth; now: () => Date }) {
    this.#options = options;
    this.#own = new OwnTraffic(options.now);
  }

  answered(operation: string, status: number, durationMs: number): void {
    this.#own.answered(operation, status, durationMs);
    addResponse(this.#current(), operation, status, durationMs);
  }

  upstreamResponded(records: number, liveRecords: number): void {
    this.#own.upstreamResponded(records, liveRecords);
    const bucket = this.#current();
    bucket.records += records;
    bucket.liveRecords += liveRecords;
    this.#lastUpstreamResponse = this.#options.now();
  }

  view(): Promise<TrafficView> {
    const at = this.#options.now().getTime();
    if (!this.#lastView || at - this.#lastView.at >= READ_AT_MOST_EVERY_MS) {
      this.#lastView = { at, view: this.#readView() };
    }
    return this.#lastView.view;
  }

  async ownView(): Promise<TrafficView> {
    return { ...(await this.#own.view()), scope: 'this instance' };
  }

  /** Adds what is not added yet. Rejects when the store is away; then it is added later. */
  async publish(): Promise<void> {
    const { store, health, now } = this.#options;
    const [minutes, lastUpstreamResponse] = [this.#unpublished, this.#lastUpstreamResponse];
    this.#unpublished = new Map();
    this.#lastUpstreamResponse = null;
    const report = { at: now().getTime(), health: health() };
    try {
      await store.add({ minutes, lastUpstreamResponse, instance: this.#instance, report });
    } catch (error) {
      this.#lastUpstreamResponse ??= lastUpstreamResponse;
      this.#putBack(minutes);
      throw error;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await inTime(this.publish().then(() => this.#options.store.remove(this.#instance))).catch(() => {});
  }

  #current(): Bucket {
    const minute = minuteOf(this.#options.now());
    const bucket = this.#unpublished.get(minute) ?? createBucket();
    this.#unpublished.set(minute, bucket);
    return bucket;
  }

  /** If only the response of the store got lost, these are counted twice: a status page can bear that. */
  #putBack(minutes: ReadonlyMap<number, Bucket>): void {
    for (const [minute, bucket] of minutes) {
      const later = this.#unpublished.get(minute);
      if (later) addBucket(later, bucket);
      else this.#unpublished.set(minute, bucket);
    }
    const oldest = minuteOf(this.#options.now()) - MAX_UNPUBLISHED_MINUTES;
    for (const minute of this.#unpublished.keys()) if (minute < oldest) this.#unpublished.delete(minute);
  }

  async #readView(): Promise<TrafficView> {
    const { store, now } = this.#options;
    try {
      await inTime(this.publish());
      const { reports, ...numbers } = await inTime(store.read(minuteOf(now())));
      const present = reports.filter(({ at }) => at > now().getTime() - INSTANCE_GONE_MS);
      return { ...numbers, scope: { instances: present.length }, health: worstOf(present) };
    } catch {
      return this.ownView();
    }
  }
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

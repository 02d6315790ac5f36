import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { within } from '../clock.ts';
import { ANNOUNCE_EVERY_MS, INSTANCE_GONE_MS, type SharedRedis } from '../redis/shared-redis.ts';
import {
  DAY_QUARTERS,
  minuteOf,
  QUARTER_MINUTES,
  quarterOf,
  Traffic,
  type TrafficView,
  type UpstreamHealth,
  upstreamHealthSchema,
} from './traffic.ts';
import {
  addBucket,
  addRecords,
  addResponse,
  type Bucket,
  createBucket,
  fromFields,
  toFields,
} from './traffic-bucket.ts';

const READ_AT_MOST_EVERY_MS = 2000;
/** A page does not wait longer for a store that is silent. */
const PATIENCE_MS = 500;
const MAX_UNPUBLISHED_MINUTES = 24 * 60;

/** The traffic of all instances: each adds its own to the store every few seconds, and any of them can tell of all. */
export class SharedTraffic extends Traffic {
  readonly #store: RedisTraffic;
  readonly #health: () => UpstreamHealth;
  readonly #instance = randomUUID();
  readonly #timer = setInterval(() => this.publish().catch(() => {}), ANNOUNCE_EVERY_MS).unref();
  #unpublished = new Map<number, Bucket>();
  #lastUpstreamResponse: Date | null = null;
  #lastView: { at: number; view: Promise<TrafficView> } | null = null;

  constructor({ store, health, now }: { store: RedisTraffic; health: () => UpstreamHealth; now: () => Date }) {
    super(now);
    this.#store = store;
    this.#health = health;
  }

  override answered(operation: string, status: number, durationMs: number): void {
    super.answered(operation, status, durationMs);
    addResponse(this.#current(), operation, status, durationMs);
  }

  override upstreamResponded(records: number, liveRecords: number): void {
    super.upstreamResponded(records, liveRecords);
    addRecords(this.#current(), records, liveRecords);
    this.#lastUpstreamResponse = this.now();
  }

  override view(): Promise<TrafficView> {
    const at = this.now().getTime();
    if (!this.#lastView || at - this.#lastView.at >= READ_AT_MOST_EVERY_MS) {
      this.#lastView = { at, view: this.#readView() };
    }
    return this.#lastView.view;
  }

  override async ownView(): Promise<TrafficView> {
    return { ...(await super.ownView()), scope: 'this instance' };
  }

  /** Adds what is not added yet. Rejects when the store is away; then it is added later. */
  async publish(): Promise<void> {
    const [minutes, lastUpstreamResponse] = [this.#unpublished, this.#lastUpstreamResponse];
    this.#unpublished = new Map();
    this.#lastUpstreamResponse = null;
    const report = { at: this.now().getTime(), health: this.#health() };
    try {
      await this.#store.add({ minutes, lastUpstreamResponse, instance: this.#instance, report });
    } catch (error) {
      this.#lastUpstreamResponse ??= lastUpstreamResponse;
      this.#putBack(minutes);
      throw error;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await inTime(this.publish().then(() => this.#store.remove(this.#instance))).catch(() => {});
  }

  #current(): Bucket {
    const minute = minuteOf(this.now());
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
    const oldest = minuteOf(this.now()) - MAX_UNPUBLISHED_MINUTES;
    for (const minute of this.#unpublished.keys()) if (minute < oldest) this.#unpublished.delete(minute);
  }

  async #readView(): Promise<TrafficView> {
    try {
      await inTime(this.publish());
      const { reports, ...numbers } = await inTime(this.#store.read(minuteOf(this.now())));
      const present = reports.filter(({ at }) => at > this.now().getTime() - INSTANCE_GONE_MS);
      return {
        ...numbers,
        scope: { instances: present.length },
        health: worstOf(present.flatMap(({ health }) => health ?? [])),
      };
    } catch {
      return this.ownView();
    }
  }
}

/** The least budget, and whether the breaker of any instance is open or any has no calls; null when no instance has said. */
function worstOf(known: readonly UpstreamHealth[]): UpstreamHealth | null {
  if (known.length === 0) return null;
  return {
    budgetLeft: Math.min(...known.map(({ budgetLeft }) => budgetLeft)),
    isBreakerOpen: known.some(({ isBreakerOpen }) => isBreakerOpen),
    shortage: known.map(({ shortage }) => shortage).find(Boolean) ?? null,
  };
}

function inTime<Value>(promise: Promise<Value>): Promise<Value> {
  return within(PATIENCE_MS, promise, () => new Error('the store is silent'));
}

/** The last hour by the minute, the rest of the day by the quarter of an hour: a status page reads 160 small hashes. */
const HOUR_MINUTES = 60;
const HOUR_KEPT_SECONDS = 2 * 3600;
const DAY_KEPT_SECONDS = 25 * 3600;

/** An instance writes of itself. */
const reportSchema = z.object({
  /** When it was written, in milliseconds since 1970. */
  at: z.number(),
  health: upstreamHealthSchema.nullable(),
});

/** Numbers of all instances in Redis. Its calls reject when it is away. */
export class RedisTraffic {
  readonly #redis: Pick<SharedRedis, 'sendTo'>;
  readonly #prefix: string;
  readonly #instances: string;
  readonly #lastResponse: string;

  /**
   * All names share a hash tag, so that an addition is one transaction on a cluster too. `source` keeps the sandbox's
   * numbers apart from upstream's.
   */
  constructor(redis: Pick<SharedRedis, 'sendTo'>, source: string) {
    this.#redis = redis;
    this.#prefix = `{tis:traffic:${source}}`;
    this.#instances = `${this.#prefix}:instances`;
    this.#lastResponse = `${this.#prefix}:last-answer`;
  }

  /** `minutes` are counts since the last time, by the minute they belong to. */
  async add(addition: {
    minutes: ReadonlyMap<number, Bucket>;
    lastUpstreamResponse: Date | null;
    instance: string;
    report: z.infer<typeof reportSchema>;
  }): Promise<void> {
    const { minutes, lastUpstreamResponse, instance, report } = addition;
    const replies = await this.#redis.sendTo(this.#instances, (connection) => {
      const transaction = connection.multi();
      const increase = (key: string, bucket: Bucket, keptSeconds: number) => {
        for (const [field, count] of toFields(bucket)) transaction.hincrby(key, field, count);
        transaction.expire(key, keptSeconds);
      };
      for (const [minute, bucket] of minutes) {
        increase(this.#minuteKey(minute), bucket, HOUR_KEPT_SECONDS);
        increase(this.#quarterKey(quarterOf(minute)), bucket, DAY_KEPT_SECONDS);
      }
      if (lastUpstreamResponse) {
        transaction.set(this.#lastResponse, lastUpstreamResponse.getTime(), 'EX', DAY_KEPT_SECONDS);
      }
      transaction.hset(this.#instances, instance, JSON.stringify(report));
      transaction.expire(this.#instances, DAY_KEPT_SECONDS);
      return transaction.exec();
    });
    const [failure] = replies?.flatMap(([error]) => error ?? []) ?? [new Error('the transaction was discarded')];
    if (failure) throw failure;
  }

  async read(minuteNow: number) {
    const readHash = (key: string) => this.#redis.sendTo(key, (connection) => connection.hgetall(key));
    const readAll = (keys: string[]) => Promise.all(keys.map(async (key) => fromFields(await readHash(key))));
    const [byMinute, byQuarter, lastResponse, instances] = await Promise.all([
      readAll(lastOnes(minuteNow, HOUR_MINUTES).map((minute) => this.#minuteKey(minute))),
      readAll(lastOnes(quarterOf(minuteNow), DAY_QUARTERS).map((quarter) => this.#quarterKey(quarter))),
      this.#redis.sendTo(this.#lastResponse, (connection) => connection.get(this.#lastResponse)),
      readHash(this.#instances),
    ]);
    return {
      recent: (minutes: number) =>
        addUp(minutes <= HOUR_MINUTES ? byMinute.slice(0, minutes) : byQuarter.slice(0, minutes / QUARTER_MINUTES)),
      quarters: () => byQuarter,
      lastUpstreamResponse: /^\d{1,15}$/.test(lastResponse ?? '') ? new Date(Number(lastResponse)) : null,
      reports: Object.values(instances).flatMap((report) => readReport(report) ?? []),
    };
  }

  async remove(instance: string): Promise<void> {
    await this.#redis.sendTo(this.#instances, (connection) => connection.hdel(this.#instances, instance));
  }

  #minuteKey(minute: number): string {
    return `${this.#prefix}:minute:${minute}`;
  }

  #quarterKey(quarter: number): string {
    return `${this.#prefix}:quarter:${quarter}`;
  }
}

/** Null for what is broken, and for what another version of the service wrote in another form. */
function readReport(text: string) {
  try {
    return reportSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** The newest first. */
function lastOnes(newest: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => newest - index);
}

function addUp(buckets: readonly Bucket[]): Bucket {
  const total = createBucket();
  for (const bucket of buckets) addBucket(total, bucket);
  return total;
}

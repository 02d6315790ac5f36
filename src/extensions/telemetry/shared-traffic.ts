import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { within } from '../../core/clock.ts';
import { ANNOUNCE_EVERY_MS, INSTANCE_GONE_MS, type SharedRedis } from '../../core/redis/shared-redis.ts';
import { parseSaved } from '../../core/saved.ts';
import {
  addBoards,
  addBucket,
  addResponse,
  type BoardCounts,
  type Bucket,
  createBucket,
  DAY_QUARTERS,
  fromFields,
  minuteOf,
  QUARTER_MINUTES,
  quarterOf,
  sumOf,
  Traffic,
  type TrafficView,
  toFields,
  type UpstreamHealth,
  upstreamHealthSchema,
} from './traffic.ts';

const READ_AT_MOST_EVERY_MS = 2000;
/** How long a page waits for Redis. */
const PATIENCE_MS = 500;
const MAX_UNPUBLISHED_MINUTES = 24 * 60;
/** A status page reads the last hour in minutes and the day in quarters of an hour: about 160 small hashes. */
const HOUR_MINUTES = 60;
const HOUR_KEPT_SECONDS = 2 * 3600;
const DAY_KEPT_SECONDS = 25 * 3600;

/** Report that an instance writes about itself. */
const reportSchema = z.object({
  /** Time of writing, in milliseconds since 1970. */
  at: z.number(),
  health: upstreamHealthSchema.nullable(),
});

/** Traffic of all instances. Each adds its own to Redis every few seconds, and any of them can read the sum. */
export class SharedTraffic extends Traffic {
  readonly #redis: SharedRedis;
  readonly #prefix: string;
  /** Reports the health of this instance's upstream; null while it is unknown. */
  health: () => UpstreamHealth | null = () => null;
  readonly #instance = randomUUID();
  readonly #timer = setInterval(() => this.publish().catch(() => {}), ANNOUNCE_EVERY_MS).unref();
  #unpublished = new Map<number, Bucket>();
  #lastUpstreamResponse: number | null = null;
  #lastView: { at: number; view: Promise<TrafficView> } | null = null;

  /** `source` keeps the sandbox's numbers apart from upstream's. */
  constructor(options: { redis: SharedRedis; source: string; now: () => number }) {
    super(options.now);
    this.#redis = options.redis;
    // All names share a hash tag, so that an addition is one transaction on a cluster too.
    this.#prefix = `{tis:traffic:${options.source}}`;
  }

  override answered(operation: string, status: number, durationMs: number): void {
    super.answered(operation, status, durationMs);
    addResponse(this.#current(), operation, status, durationMs);
  }

  override upstreamResponded(): void {
    super.upstreamResponded();
    this.#lastUpstreamResponse = this.now();
  }

  override boardMade(board: BoardCounts): void {
    super.boardMade(board);
    addBoards(this.#current(), board);
  }

  override getView(): Promise<TrafficView> {
    const at = this.now();
    if (!this.#lastView || at - this.#lastView.at >= READ_AT_MOST_EVERY_MS) {
      this.#lastView = { at, view: this.#loadView() };
    }
    return this.#lastView.view;
  }

  override async ownView(): Promise<TrafficView> {
    return { ...(await super.ownView()), scope: 'this instance' };
  }

  /** Adds new counts to Redis. Rejects while Redis is unreachable; the counts are then added later. */
  async publish(): Promise<void> {
    const [minutes, lastUpstreamResponse] = [this.#unpublished, this.#lastUpstreamResponse];
    this.#unpublished = new Map();
    this.#lastUpstreamResponse = null;
    try {
      await this.#add(minutes, lastUpstreamResponse);
    } catch (error) {
      this.#lastUpstreamResponse ??= lastUpstreamResponse;
      this.#putBack(minutes);
      throw error;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const instances = this.#key('instances');
    const leave = () => this.#redis.sendTo(instances, (connection) => connection.hdel(instances, this.#instance));
    await inTime(this.publish().then(leave)).catch(() => {});
  }

  #current(): Bucket {
    const minute = minuteOf(this.now());
    const bucket = this.#unpublished.get(minute) ?? createBucket();
    this.#unpublished.set(minute, bucket);
    return bucket;
  }

  /** If only Redis's reply was lost, these are counted twice, which a status page tolerates. */
  #putBack(minutes: ReadonlyMap<number, Bucket>): void {
    for (const [minute, bucket] of minutes) {
      const later = this.#unpublished.get(minute);
      if (later) addBucket(later, bucket);
      else this.#unpublished.set(minute, bucket);
    }
    const oldest = minuteOf(this.now()) - MAX_UNPUBLISHED_MINUTES;
    for (const minute of this.#unpublished.keys()) if (minute < oldest) this.#unpublished.delete(minute);
  }

  async #add(minutes: ReadonlyMap<number, Bucket>, lastUpstreamResponse: number | null): Promise<void> {
    const report: z.infer<typeof reportSchema> = { at: this.now(), health: this.health() };
    const instances = this.#key('instances');
    const replies = await this.#redis.sendTo(instances, (connection) => {
      const transaction = connection.multi();
      const increase = (key: string, bucket: Bucket, keptSeconds: number) => {
        for (const [field, count] of toFields(bucket)) transaction.hincrby(key, field, count);
        transaction.expire(key, keptSeconds);
      };
      for (const [minute, bucket] of minutes) {
        increase(this.#key('minute', minute), bucket, HOUR_KEPT_SECONDS);
        increase(this.#key('quarter', quarterOf(minute)), bucket, DAY_KEPT_SECONDS);
      }
      if (lastUpstreamResponse) {
        transaction.set(this.#key('last-answer'), lastUpstreamResponse, 'EX', DAY_KEPT_SECONDS);
      }
      transaction.hset(instances, this.#instance, JSON.stringify(report));
      transaction.expire(instances, DAY_KEPT_SECONDS);
      return transaction.exec();
    });
    const [failure] = replies?.flatMap(([error]) => error ?? []) ?? [new Error('the transaction was discarded')];
    if (failure) throw failure;
  }

  async #loadView(): Promise<TrafficView> {
    try {
      await inTime(this.publish());
      return await inTime(this.#loadAll());
    } catch {
      return this.ownView();
    }
  }

  async #loadAll(): Promise<TrafficView> {
    const present = minuteOf(this.now());
    const [byMinute, byQuarter, lastResponse, instances] = await Promise.all([
      this.#loadBuckets('minute', present, HOUR_MINUTES),
      this.#loadBuckets('quarter', quarterOf(present), DAY_QUARTERS),
      this.#redis.sendTo(this.#prefix, (connection) => connection.get(this.#key('last-answer'))),
      this.#loadHash(this.#key('instances')),
    ]);
    const goneAt = this.now() - INSTANCE_GONE_MS;
    const reports = Object.values(instances).flatMap((report) => parseSaved(reportSchema, report) ?? []);
    const alive = reports.filter(({ at }) => at > goneAt);
    return {
      recent: (minutes) =>
        sumOf(minutes <= HOUR_MINUTES ? byMinute.slice(0, minutes) : byQuarter.slice(0, minutes / QUARTER_MINUTES)),
      quarters: () => byQuarter,
      lastUpstreamResponse: /^\d{1,15}$/.test(lastResponse ?? '') ? Number(lastResponse) : null,
      scope: { instances: alive.length },
      health: worstOf(alive.flatMap(({ health }) => health ?? [])),
    };
  }

  /** Reads `count` buckets, newest first. */
  #loadBuckets(kind: 'minute' | 'quarter', newest: number, count: number): Promise<Bucket[]> {
    const keys = Array.from({ length: count }, (_, index) => this.#key(kind, newest - index));
    return Promise.all(keys.map(async (key) => fromFields(await this.#loadHash(key))));
  }

  #loadHash(key: string): Promise<Record<string, string>> {
    return this.#redis.sendTo(key, (connection) => connection.hgetall(key));
  }

  #key(...parts: (string | number)[]): string {
    return [this.#prefix, ...parts].join(':');
  }
}

/** Combines the lowest budget, any open breaker and any shortage; null without reports. */
function worstOf(healths: readonly UpstreamHealth[]): UpstreamHealth | null {
  if (healths.length === 0) return null;
  return {
    budgetLeft: Math.min(...healths.map(({ budgetLeft }) => budgetLeft)),
    isBreakerOpen: healths.some(({ isBreakerOpen }) => isBreakerOpen),
    shortage: healths.map(({ shortage }) => shortage).find(Boolean) ?? null,
  };
}

function inTime<Value>(promise: Promise<Value>): Promise<Value> {
  return within(PATIENCE_MS, promise, () => new Error('Redis is silent'));
}

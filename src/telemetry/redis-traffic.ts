import { z } from 'zod';
import { SHORTAGES } from '../efa/ask.ts';
import type { SharedRedis } from '../redis/shared-redis.ts';
import { DAY_QUARTERS, QUARTER_MINUTES, quarterOf } from './traffic.ts';
import { addBucket, type Bucket, createBucket, fromFields, toFields } from './traffic-bucket.ts';

/** The last hour by the minute, the rest of the day by the quarter of an hour: a status page reads 160 small hashes. */
const HOUR_MINUTES = 60;
const HOUR_KEPT_SECONDS = 2 * 3600;
const DAY_KEPT_SECONDS = 25 * 3600;

const reportSchema = z.object({
  /** When it was written, in milliseconds since 1970. */
  at: z.number(),
  health: z
    .object({ budgetLeft: z.number(), isBreakerOpen: z.boolean(), shortage: z.enum(SHORTAGES).nullish() })
    .nullable(),
});

/** What an instance says of itself. */
export type InstanceReport = z.infer<typeof reportSchema>;

/** Numbers of all instances in Redis. Its calls reject when it is away. */
export class RedisTraffic {
  readonly #redis: Pick<SharedRedis, 'ask'>;
  readonly #prefix: string;
  readonly #instances: string;
  readonly #lastResponse: string;

  /**
   * All names share a hash tag, so that an addition is one transaction on a cluster too. `source` keeps the sandbox's
   * numbers apart from upstream's.
   */
  constructor(redis: Pick<SharedRedis, 'ask'>, source: string) {
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
    report: InstanceReport;
  }): Promise<void> {
    const { minutes, lastUpstreamResponse, instance, report } = addition;
    const replies = await this.#redis.ask(this.#instances, (connection) => {
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
    const readHash = (key: string) => this.#redis.ask(key, (connection) => connection.hgetall(key));
    const readAll = (keys: string[]) => Promise.all(keys.map(async (key) => fromFields(await readHash(key))));
    const [byMinute, byQuarter, lastResponse, instances] = await Promise.all([
      readAll(lastOnes(minuteNow, HOUR_MINUTES).map((minute) => this.#minuteKey(minute))),
      readAll(lastOnes(quarterOf(minuteNow), DAY_QUARTERS).map((quarter) => this.#quarterKey(quarter))),
      this.#redis.ask(this.#lastResponse, (connection) => connection.get(this.#lastResponse)),
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
    await this.#redis.ask(this.#instances, (connection) => connection.hdel(this.#instances, instance));
  }

  #minuteKey(minute: number): string {
    return `${this.#prefix}:minute:${minute}`;
  }

  #quarterKey(quarter: number): string {
    return `${this.#prefix}:quarter:${quarter}`;
  }
}

/** Null for what is broken, and for what another version of the service wrote in another form. */
function readReport(text: string): InstanceReport | null {
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

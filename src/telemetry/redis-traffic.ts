import { z } from 'zod';
import { SHORTAGES } from '../efa/ask.ts';
import type { SharedRedis } from '../redis/shared-redis.ts';
import type { InstanceReport, TrafficStore } from './shared-traffic.ts';
import { DAY_QUARTERS, QUARTER_MINUTES, quarterOf } from './traffic.ts';
import { addBucket, type Bucket, createBucket, fromFields, toFields } from './traffic-bucket.ts';

/** The last hour by the minute, the rest of the day by the quarter of an hour: a status page reads 160 small hashes. */
const HOUR_MINUTES = 60;
const HOUR_KEPT_SECONDS = 2 * 3600;
const DAY_KEPT_SECONDS = 25 * 3600;

/**
 * Numbers of all instances in Redis. All names share a hash tag, so that an addition is one transaction on a cluster
 * too. `source` keeps the sandbox's numbers apart from upstream's.
 */
export function createRedisTraffic({ ask }: Pick<SharedRedis, 'ask'>, source: string): TrafficStore {
  const prefix = `{tis:traffic:${source}}`;
  const names = { instances: `${prefix}:instances`, lastResponse: `${prefix}:last-answer` };
  const minuteKey = (minute: number) => `${prefix}:minute:${minute}`;
  const quarterKey = (quarter: number) => `${prefix}:quarter:${quarter}`;

  return {
    async add({ minutes, lastUpstreamResponse, instance, report }) {
      const replies = await ask(names.instances, (connection) => {
        const transaction = connection.multi();
        const increase = (key: string, bucket: Bucket, keptSeconds: number) => {
          for (const [field, count] of toFields(bucket)) transaction.hincrby(key, field, count);
          transaction.expire(key, keptSeconds);
        };
        for (const [minute, bucket] of minutes) {
          increase(minuteKey(minute), bucket, HOUR_KEPT_SECONDS);
          increase(quarterKey(quarterOf(minute)), bucket, DAY_KEPT_SECONDS);
        }
        if (lastUpstreamResponse)
          transaction.set(names.lastResponse, lastUpstreamResponse.getTime(), 'EX', DAY_KEPT_SECONDS);
        transaction.hset(names.instances, instance, JSON.stringify(report));
        transaction.expire(names.instances, DAY_KEPT_SECONDS);
        return transaction.exec();
      });
      const [failure] = replies?.flatMap(([error]) => error ?? []) ?? [new Error('the transaction was discarded')];
      if (failure) throw failure;
    },

    async read(minuteNow) {
      const readAll = (keys: string[]) =>
        Promise.all(keys.map(async (key) => fromFields(await ask(key, (connection) => connection.hgetall(key)))));
      const [byMinute, byQuarter, lastResponse, instances] = await Promise.all([
        readAll(lastOnes(minuteNow, HOUR_MINUTES).map(minuteKey)),
        readAll(lastOnes(quarterOf(minuteNow), DAY_QUARTERS).map(quarterKey)),
        ask(names.lastResponse, (connection) => connection.get(names.lastResponse)),
        ask(names.instances, (connection) => connection.hgetall(names.instances)),
      ]);
      return {
        recent: (minutes) =>
          addUp(minutes <= HOUR_MINUTES ? byMinute.slice(0, minutes) : byQuarter.slice(0, minutes / QUARTER_MINUTES)),
        quarters: () => byQuarter,
        lastUpstreamResponse: readMoment(lastResponse),
        reports: Object.values(instances).flatMap((report) => readReport(report) ?? []),
      };
    },

    remove: (instance) => ask(names.instances, (connection) => connection.hdel(names.instances, instance)),
  };
}

const reportSchema: z.ZodType<InstanceReport> = z.object({
  at: z.number(),
  health: z
    .object({
      budgetLeft: z.number(),
      isBreakerOpen: z.boolean(),
      shortage: z.enum(SHORTAGES).nullish(),
    })
    .nullable(),
});

/** Null for what is broken, and for what another version of the service wrote in another form. */
function readReport(text: string): InstanceReport | null {
  try {
    return reportSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function readMoment(text: string | null): Date | null {
  return /^\d{1,15}$/.test(text ?? '') ? new Date(Number(text)) : null;
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

import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Gauge, type Metric, Counter as PromCounter, Registry } from 'prom-client';
import { SHORTAGES, type Shortage } from '../efa/ask.ts';
import type { LiveReport } from '../live/live-report.ts';
import type { RedisMemory } from '../redis/memory.ts';
import type { StoreState } from '../redis/presence.ts';
import type { Counter, Histogram, Instruments } from './instruments.ts';
import { toLabel } from './label.ts';
import type { PressureWatch } from './pressure.ts';

/** The layers that protect upstream, as far as they are measured. */
export interface UpstreamNumbers {
  counts: { retries: number; answered: Readonly<Record<string, number>> };
  state(): {
    isBreakerOpen: boolean;
    stretch: number;
    reserveFill: number;
    waiting: number;
    shortage: Shortage | null;
    callsLeft: readonly number[];
  };
}

export interface MetricsSources {
  /** Where responses come from. */
  source: 'authority' | 'sandbox';
  instruments: Instruments;
  upstream: UpstreamNumbers;
  live?: () => LiveReport;
  storeState: () => Promise<StoreState>;
  /** By what each Redis is for; none without Redis. */
  redisMemory?: Readonly<Record<string, () => Promise<RedisMemory[]>>>;
  pressure?: Pick<PressureWatch, 'exceeded' | 'shrunk' | 'caches'>;
}

const { version: VERSION } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** They visit every connection at every scrape. `nodejs_active_resources` says the same for a fraction of the time. */
const SLOW_DEFAULTS = [
  'process_open_fds',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
];

/** Everything that Prometheus is shown. Nothing is computed before it is asked for. */
export function createMetrics({
  source,
  instruments,
  upstream,
  live,
  storeState,
  pressure,
  redisMemory = {},
}: MetricsSources): Registry {
  const registry = new Registry();
  new Gauge({
    name: 'transit_info',
    help: 'Always 1. The source of answers (authority, or sandbox: made up), and the version of the service.',
    labelNames: ['source', 'version'],
    registers: [registry],
  }).set({ source, version: VERSION }, 1);
  collectDefaultMetrics({ register: registry });
  for (const name of SLOW_DEFAULTS) registry.removeSingleMetric(name);
  for (const instrument of Object.values(instruments)) {
    if (instrument.kind === 'counter') exposeCounter(registry, instrument);
    else exposeHistogram(registry, instrument);
  }
  exposeUpstream(registry, upstream);
  if (live && live().mode !== 'off') exposeLive(registry, live);
  if (pressure) exposePressure(registry, pressure);
  gauge(registry, 'transit_store_up', 'Whether the account store answers: 1 or 0.', async () =>
    Number((await storeState()) !== 'away'),
  );
  gauge(
    registry,
    'transit_store_writable',
    'Whether the account store takes writes, as a write has shown: 1 or 0.',
    async () => Number((await storeState()) === 'writable'),
  );
  exposeRedis(registry, redisMemory);
  return registry;
}

function exposePressure(registry: Registry, pressure: NonNullable<MetricsSources['pressure']>): void {
  gauge(
    registry,
    'transit_under_pressure',
    'Whether requests are refused because memory or time is short: 1 or 0.',
    () => Number(pressure.exceeded() !== null),
  );
  new PromCounter({
    name: 'transit_caches_shrunk_total',
    help: 'How often the caches gave up memory because it ran short.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(pressure.shrunk());
    },
  });
  for (const [unit, help] of [
    ['entries', 'Entries of each cache that is bounded in bytes.'],
    ['bytes', 'Memory that each of these caches counts for its entries.'],
  ] as const) {
    new Gauge({
      name: `transit_cache_${unit}`,
      help,
      labelNames: ['cache'],
      registers: [registry],
      collect() {
        for (const [cache, { size }] of pressure.caches) this.set({ cache }, size()[unit]);
      },
    });
  }
}

function exposeUpstream(registry: Registry, { counts, state }: UpstreamNumbers): void {
  new PromCounter({
    name: 'transit_upstream_retries_total',
    help: 'Calls of the authority that repeat a failed one.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(counts.retries);
    },
  });
  new PromCounter({
    name: 'transit_upstream_questions_total',
    help: 'UpstreamRequests to the authority, by how they were answered; what the cache of whole answers spares is not among them.',
    labelNames: ['result'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [result, requests] of Object.entries(counts.answered)) this.inc({ result: toLabel(result) }, requests);
    },
  });
  new Gauge({
    name: 'transit_upstream_calls_left',
    help: 'Calls of the authority that are left of this UTC day, by the place of the key in UPSTREAM_API_KEY, from 0.',
    labelNames: ['key'],
    registers: [registry],
    collect() {
      for (const [key, left] of state().callsLeft.entries()) this.set({ key }, left);
    },
  });
  new Gauge({
    name: 'transit_upstream_shortage',
    help: 'Whether no plan gets further calls: those of the day so far are spent, or the authority refuses them. 1 or 0.',
    labelNames: ['why'],
    registers: [registry],
    collect() {
      const { shortage } = state();
      for (const why of SHORTAGES) this.set({ why }, Number(shortage === why));
    },
  });
  const gauges: [name: string, help: string, read: () => number][] = [
    [
      'transit_upstream_reserve_ratio',
      'How full the reserve of calls is: 1 is full, 0 is nothing left for now.',
      () => state().reserveFill,
    ],
    [
      'transit_upstream_stretch_ratio',
      'By how much answers stay in use longer than usual, 1 to 4.',
      () => state().stretch,
    ],
    ['transit_upstream_waiting_calls', 'Calls that wait in line for the budget.', () => state().waiting],
    [
      'transit_upstream_breaker_open',
      'Whether the circuit breaker is open: 1 or 0.',
      () => Number(state().isBreakerOpen),
    ],
  ];
  for (const [name, help, read] of gauges) gauge(registry, name, help, read);
}

function exposeLive(registry: Registry, report: () => LiveReport): void {
  new Gauge({
    name: 'transit_feed_age_seconds',
    help: 'Age of what each polled feed says, by its own header.',
    labelNames: ['feed'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { source, headerAt } of report().feeds) {
        if (headerAt !== null) this.set({ feed: source }, (Date.now() - headerAt) / 1000);
      }
    },
  });
  new Gauge({
    name: 'transit_feed_up',
    help: 'Whether the feed is believed: 1 or 0; feeds that are not polled are missing.',
    labelNames: ['feed'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { source, problem } of report().feeds) this.set({ feed: source }, Number(problem === null));
    },
  });
  new Gauge({
    name: 'transit_feed_poller',
    help: 'Whether this instance polls the feeds for all: 1 or 0.',
    registers: [registry],
    collect() {
      this.set(Number(report().isPolling));
    },
  });
  new PromCounter({
    name: 'transit_feed_comparisons_total',
    help: 'Departures of the departure monitor that were compared with the feeds, and how many of them agree in what.',
    labelNames: ['mode', 'what'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [mode, agreement] of Object.entries(report().agreement)) {
        for (const [what, departures] of Object.entries(agreement)) this.inc({ mode, what: toLabel(what) }, departures);
      }
    },
  });
}

/** A node that does not answer is missing. */
function exposeRedis(registry: Registry, redisMemory: NonNullable<MetricsSources['redisMemory']>): void {
  if (Object.keys(redisMemory).length === 0) return;
  const gauges: [name: string, help: string, field: 'usedBytes' | 'maxBytes' | 'evictedKeys'][] = [
    ['transit_redis_memory_used_bytes', 'Memory that Redis takes for its data.', 'usedBytes'],
    ['transit_redis_memory_max_bytes', 'What it may take (maxmemory); 0 is no limit.', 'maxBytes'],
    ['transit_redis_evicted_keys', 'Keys that Redis has thrown out to make room since it was started.', 'evictedKeys'],
  ];
  for (const [name, help, field] of gauges) {
    new Gauge({
      name,
      help,
      labelNames: ['redis', 'node'],
      registers: [registry],
      async collect() {
        this.reset();
        for (const [redis, read] of Object.entries(redisMemory)) {
          for (const { node, ...numbers } of await read()) this.set({ redis, node }, numbers[field]);
        }
      },
    });
  }
}

function gauge(registry: Registry, name: string, help: string, read: () => number | Promise<number>): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      this.set(await read());
    },
  });
}

function exposeCounter(registry: Registry, { name, help, labels, series }: Counter): void {
  expose(registry, { name, help, type: 'counter' }, () =>
    series.entries().map((entry) => ({ labels: named(labels, entry.labels), value: entry.value.count })),
  );
}

function exposeHistogram(registry: Registry, { name, help, labels, bounds, series }: Histogram): void {
  expose(registry, { name, help, type: 'histogram' }, () =>
    series.entries().flatMap((entry) => {
      const own = named(labels, entry.labels);
      const { counts, sum } = entry.value;
      let total = 0;
      const buckets = counts.map((inBucket, bucket) => {
        total += inBucket;
        return { metricName: `${name}_bucket`, labels: { ...own, le: bounds[bucket] ?? '+Inf' }, value: total };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels: own, value: sum },
        { metricName: `${name}_count`, labels: own, value: total },
      ];
    }),
  );
}

/**
 * A metric of our own, as the registry reads them. prom-client's counters would look up every series by its labels at
 * every scrape, and its histograms cannot be given their counts.
 */
function expose(
  registry: Registry,
  { name, help, type }: { name: string; help: string; type: 'counter' | 'histogram' },
  read: () => { metricName?: string; labels: Record<string, string | number>; value: number }[],
): void {
  const get = async () => ({ name, help, type, aggregator: 'sum', values: read() });
  registry.registerMetric({ name, get } as unknown as Metric);
}

function named(names: readonly string[], values: readonly (string | number)[]): Record<string, string | number> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import type { CarParkStatus } from '../../carparks/car-parks.ts';
import { measureBoundedMaps } from '../../core/own-memory.ts';
import type { RedisMemory } from '../../core/redis/connection.ts';
import type { StoreState } from '../../core/redis/presence.ts';
import { SHORTAGES, type Shortage } from '../../efa/query-upstream.ts';
import type { Build } from '../../http/build.ts';
import type { PressureWatch } from '../../http/pressure.ts';
import { type LiveReport, listLeftOut, MAX_COMPARED } from '../../realtime/live-report.ts';
import type { TimetableStatus } from '../../timetable/update/keep-current.ts';
import type { PunctualityState } from '../../transit/punctuality.ts';
import type { Instruments } from './instruments.ts';

/** Measurements of the layers that protect upstream. */
export interface UpstreamNumbers {
  state(): {
    isBreakerOpen: boolean;
    budgetLeft: number;
    shortage: Shortage | null;
    callsLeft: readonly number[];
  };
}

/** Current series of a metric, each with its labels. */
type Series = Iterable<readonly [labels: Record<string, string | number>, value: number]>;
/** A plain number is the value of a metric without labels. */
type Values = Series | number;

/** Default metrics of prom-client that the dashboard and alerts use. Key: the metric. Value: the one whose `collect` sets it. */
const PROCESS_METRICS = {
  process_cpu_seconds_total: 'process_cpu_user_seconds_total',
  process_resident_memory_bytes: 'process_resident_memory_bytes',
  nodejs_eventloop_lag_p99_seconds: 'nodejs_eventloop_lag_seconds',
  nodejs_heap_size_used_bytes: 'nodejs_heap_size_total_bytes',
};

/** Read on each scrape. */
export interface MetricSources {
  /** Where data comes from. */
  source: 'real' | 'sandbox';
  /** Version and commit; "unknown" by default. */
  build?: Build;
  instruments: Instruments;
  upstream: UpstreamNumbers;
  live?: () => LiveReport;
  /** Absent if they are left out. */
  carParks?: (() => CarParkStatus) | undefined;
  timetable?: () => TimetableStatus;
  punctuality?: (() => PunctualityState) | undefined;
  storeState: () => Promise<StoreState>;
  redisMemory?: (() => Promise<RedisMemory[]>) | undefined;
  pressure?: Exceeded;
}

/** Registers all Prometheus metrics. Values are computed only on a scrape. */
export function createMetrics(sources: MetricSources): Registry {
  const {
    source,
    build = { version: 'unknown', commit: 'unknown' },
    instruments,
    upstream,
    live,
    carParks,
    timetable,
    punctuality,
    storeState,
    pressure,
    redisMemory,
  } = sources;
  const registry = new Registry();
  const gauge = gaugesFor(registry);
  gauge(
    'transit_info',
    'Always 1. Labels: data source (real, or sandbox with made-up data), version and commit of the service.',
    () => [[{ source, ...build }, 1]],
    ['source', 'version', 'commit'],
  );
  exposeProcess(registry);
  for (const instrument of Object.values(instruments))
    if (typeof instrument === 'object') registry.registerMetric(instrument as unknown as Metric);
  exposeUpstream(gauge, upstream);
  if (live && live().mode !== 'off') exposeLive(gauge, live);
  if (carParks) exposeCarParks(gauge, carParks);
  if (timetable && timetable().mode !== 'off') {
    gauge('transit_timetable_up', 'Whether there is a timetable: 1 or 0.', () =>
      Number(timetable().importedAt !== null),
    );
    gauge(
      'transit_timetable_age_seconds',
      'Seconds since each timetable file was last up to date, or first requested.',
      () => timetable().files.map(({ id, currentAt }) => [{ file: id }, (Date.now() - currentAt) / 1000]),
      ['file'],
    );
  }
  if (punctuality) {
    gauge('transit_punctuality_up', 'Whether past runs are recorded: 1 or 0.', () =>
      Number(punctuality().problem === null),
    );
  }
  if (pressure) exposePressure(gauge, pressure);
  gauge('transit_store_writable', 'Whether the account store responds and accepts writes: 1 or 0.', async () =>
    Number((await storeState()) === 'writable'),
  );
  if (redisMemory) exposeRedis(gauge, redisMemory);
  return registry;
}

function exposeProcess(registry: Registry): void {
  const defaults = new Registry();
  collectDefaultMetrics({ register: defaults });
  for (const [name, setBy] of Object.entries(PROCESS_METRICS)) {
    const metric = defaults.getSingleMetric(name) as Metric & { collect?: () => unknown };
    const setter = defaults.getSingleMetric(setBy) as Metric;
    if (setter !== metric) metric.collect = () => setter.get();
    registry.registerMetric(metric);
  }
}

function exposePressure(gauge: DefineGauge, pressure: Exceeded): void {
  gauge(
    'transit_under_pressure',
    'Whether requests are refused because memory is short or the event loop is late: 1 or 0.',
    () => Number(pressure.exceeded() !== null),
  );
  const sizes = (): Series =>
    [...measureBoundedMaps()].map(([cache, { entries, bytes }]) => [
      { cache, unit: bytes === null ? 'entries' : 'bytes' },
      bytes ?? entries,
    ]);
  gauge('transit_cache_size', 'Size of each bounded map, in the unit of its bound: bytes or entries.', sizes, [
    'cache',
    'unit',
  ]);
}

function exposeUpstream(gauge: DefineGauge, { state }: UpstreamNumbers): void {
  gauge(
    'transit_upstream_calls_left',
    'Upstream calls left in this UTC day, by index of the key in UPSTREAM_API_KEY, from 0.',
    () => state().callsLeft.map((left, key) => [{ key }, left]),
    ['key'],
  );
  gauge(
    'transit_upstream_shortage',
    '1 if no upstream call is available (the calls of today so far are used up, upstream refuses them, or the breaker is open), else 0.',
    () => [
      ...SHORTAGES.map((shortage) => [{ why: shortage }, Number(state().shortage === shortage)] as const),
      [{ why: 'breaker' }, Number(state().isBreakerOpen)],
    ],
    ['why'],
  );
  gauge(
    'transit_upstream_budget_ratio',
    'Share of the calls currently available to requests that is left: 0 to 1.',
    () => state().budgetLeft,
  );
}

function exposeLive(gauge: DefineGauge, report: () => LiveReport): void {
  gauge(
    'transit_feed_age_seconds',
    'Age of each polled feed, from its header.',
    () =>
      report().feeds.flatMap(({ source, headerAt }) =>
        headerAt === null ? [] : [[{ feed: source }, (Date.now() - headerAt) / 1000]],
      ),
    ['feed'],
  );
  gauge(
    'transit_feed_up',
    'Whether the feed is trusted: 1 or 0. Feeds that are not polled are missing.',
    () => report().feeds.map(({ source, problem }) => [{ feed: source }, Number(problem === null)]),
    ['feed'],
  );
  gauge(
    'transit_feed_left_out',
    'Trips and stop updates of the newest feed that are not understood, by reason. "npm run timetable -- status" has examples.',
    () =>
      report().feeds.flatMap(({ source, leftOut }) =>
        listLeftOut(leftOut).map(({ reason, count }) => [{ feed: source, reason }, count] as const),
      ),
    ['feed', 'reason'],
  );
  gauge(
    'transit_timetable_agreement_ratio',
    'Share of the last 200 compared departures on which timetable and trip planner agree; missing before the 200th.',
    () =>
      Object.entries(report().agreement).flatMap(([mode, { compared, agreed }]) =>
        compared < MAX_COMPARED ? [] : [[{ mode }, agreed / compared] as const],
      ),
    ['mode'],
  );
}

function exposeCarParks(gauge: DefineGauge, status: () => CarParkStatus): void {
  gauge(
    'transit_carparks',
    'Car parks that upstream lists, and those with a reading of the last 15 minutes. Only requested ones are read.',
    () => [
      [{ which: 'listed' }, status().listed],
      [{ which: 'current' }, status().current],
    ],
    ['which'],
  );
  gauge('transit_carparks_calls_left', 'Calls for car parks left in this UTC day.', () => status().callsLeft);
}

/** Omits nodes that do not reply, and those without a limit. */
function exposeRedis(gauge: DefineGauge, parseMemory: () => Promise<RedisMemory[]>): void {
  const collect = async (): Promise<Values> =>
    (await parseMemory()).flatMap(({ node, usedBytes, maxBytes }) =>
      maxBytes > 0 ? [[{ node }, usedBytes / maxBytes] as const] : [],
    );
  gauge('transit_redis_memory_ratio', 'Memory used by Redis, as a share of its limit (maxmemory).', collect, ['node']);
}

interface Exceeded {
  exceeded: PressureWatch['exceeded'];
}

/** Adds a gauge to the registry; `collect` is called on each scrape. */
type DefineGauge = (name: string, help: string, collect: () => Values | Promise<Values>, labelNames?: string[]) => void;

function gaugesFor(registry: Registry): DefineGauge {
  return (name, help, collect, labelNames = []) => {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const values = await collect();
        this.reset();
        for (const [labels, value] of typeof values === 'number' ? [[{}, values] as const] : values) {
          this.set(labels, value);
        }
      },
    });
  };
}

/**
 * Serves `GET /metrics` on a separate port, because it needs no key and the balancer must not expose it. Rejects when it cannot
 * listen.
 */
export async function startMetricsServer(registry: Registry, { host, port }: { host: string; port: number }) {
  // The first exposition takes several times as long as later ones, so do it before there is load.
  await writeExposition(registry);
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end('Metrics are at /metrics.\n');
      return;
    }
    writeExposition(registry).then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      (error: Error) => response.writeHead(500).end(`${error.message}\n`),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Returns the text that Prometheus reads. Yields to the event loop after each metric, so that no request waits for more than
 * one.
 */
export async function writeExposition(registry: Registry): Promise<string> {
  const metrics: string[] = [];
  for (const { name } of registry.getMetricsAsArray()) {
    metrics.push(await registry.getSingleMetricAsString(name));
    await nextTurn();
  }
  return `${metrics.join('\n\n')}\n`;
}

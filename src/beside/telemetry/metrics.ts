import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import { measureBoundedMaps } from '../../core/own-memory.ts';
import type { RedisMemory } from '../../core/redis/connection.ts';
import type { StoreState } from '../../core/redis/presence.ts';
import { countCutNotices } from '../../efa/alerts.ts';
import { SHORTAGES, type Shortage } from '../../efa/ask.ts';
import type { Build } from '../../http/build.ts';
import type { PressureWatch } from '../../http/pressure.ts';
import { type LiveReport, MOST_COMPARED } from '../../realtime/live-report.ts';
import type { TimetableStatus } from '../../timetable/update/keep-current.ts';
import { type Instruments, toLabel } from './instruments.ts';

/** Measurements of the layers that protect upstream. */
export interface UpstreamNumbers {
  counts: { retries: number; answered: Readonly<Record<string, number>> };
  state(): {
    isBreakerOpen: boolean;
    budgetLeft: number;
    waiting: number;
    shortage: Shortage | null;
    callsLeft: readonly number[];
  };
}

/** Current series of a metric, each with its labels. */
type Series = Iterable<readonly [labels: Record<string, string | number>, value: number]>;
/** A plain number is the value of a metric without labels. */
type Values = Series | number;

/**
 * These visit every connection on every scrape. `nodejs_active_resources` has the same information for a fraction of the cost.
 */
const SLOW_DEFAULTS = [
  'process_open_fds',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
];

/** Registers all Prometheus metrics. Values are computed only on a scrape. */
export function createMetrics(sources: {
  /** Where data comes from. */
  source: 'authority' | 'sandbox';
  /** Version and commit; "unknown" by default. */
  build?: Build;
  instruments: Instruments;
  upstream: UpstreamNumbers;
  authorityClock?: { skewMs: number | null };
  live?: () => LiveReport;
  timetable?: () => TimetableStatus;
  storeState: () => Promise<StoreState>;
  redisMemory?: () => Promise<RedisMemory[]>;
  pressure?: Pick<PressureWatch, 'exceeded' | 'shrunk'>;
}): Registry {
  const {
    source,
    build = { version: 'unknown', commit: 'unknown' },
    instruments,
    upstream,
    authorityClock,
    live,
    timetable,
    storeState,
    pressure,
    redisMemory,
  } = sources;
  const registry = new Registry();
  const { gauge, counter } = definersFor(registry);
  gauge(
    'transit_info',
    'Always 1. Labels: data source (authority, or sandbox with made-up data), version and commit of the service.',
    () => [[{ source, ...build }, 1]],
    ['source', 'version', 'commit'],
  );
  collectDefaultMetrics({ register: registry });
  for (const name of SLOW_DEFAULTS) registry.removeSingleMetric(name);
  for (const instrument of Object.values(instruments))
    if (typeof instrument === 'object') registry.registerMetric(instrument as Metric);
  exposeUpstream({ gauge, counter }, upstream);
  counter(
    'transit_notices_cut_total',
    'Upstream alerts cut or dropped because of their length or number, counted on each read.',
    countCutNotices,
  );
  gauge(
    'transit_upstream_clock_skew_seconds',
    'Seconds by which upstream’s clock is ahead of ours, from the Date of its latest response.',
    () => (typeof authorityClock?.skewMs === 'number' ? authorityClock.skewMs / 1000 : []),
  );
  if (live && live().mode !== 'off') exposeLive({ gauge }, live);
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
  if (pressure) exposePressure({ gauge, counter }, pressure);
  const isStore = async (is: (state: StoreState) => boolean) => Number(is(await storeState()));
  gauge('transit_store_up', 'Whether the account store responds: 1 or 0.', () => isStore((state) => state !== 'away'));
  gauge('transit_store_writable', 'Whether the last test write to the account store succeeded: 1 or 0.', () =>
    isStore((state) => state === 'writable'),
  );
  if (redisMemory) exposeRedis(gauge, redisMemory);
  return registry;
}

function exposePressure({ gauge, counter }: Definers, pressure: Pick<PressureWatch, 'exceeded' | 'shrunk'>): void {
  gauge(
    'transit_under_pressure',
    'Whether requests are refused because memory is short or the event loop is late: 1 or 0.',
    () => Number(pressure.exceeded() !== null),
  );
  counter(
    'transit_caches_shrunk_total',
    'Times that caches were shrunk because memory ran short.',
    () => pressure.shrunk,
  );
  const entriesOfAll = (): Series => [...measureBoundedMaps()].map(([cache, { entries }]) => [{ cache }, entries]);
  gauge('transit_cache_entries', 'Entries of each bounded map.', entriesOfAll, ['cache']);
  const bytesOfAll = (): Series =>
    [...measureBoundedMaps()].flatMap(([cache, { bytes }]) => (bytes === null ? [] : [[{ cache }, bytes] as const]));
  gauge('transit_cache_bytes', 'Bytes recorded by each map that is bounded in bytes.', bytesOfAll, ['cache']);
}

function exposeUpstream({ gauge, counter }: Definers, { counts, state }: UpstreamNumbers): void {
  counter('transit_upstream_retries_total', 'Upstream calls that retry a failed one.', () => counts.retries);
  counter(
    'transit_upstream_requests_total',
    'Upstream requests by result, without those saved by the cache of finished responses.',
    () => Object.entries(counts.answered).map(([result, requests]) => [{ result: toLabel(result) }, requests]),
    ['result'],
  );
  gauge(
    'transit_upstream_calls_left',
    'Upstream calls left in this UTC day, by index of the key in UPSTREAM_API_KEY, from 0.',
    () => state().callsLeft.map((left, key) => [{ key }, left]),
    ['key'],
  );
  gauge(
    'transit_upstream_shortage',
    'Whether no upstream call is available, because those of the day so far are spent or upstream refuses them: 1 or 0.',
    () => SHORTAGES.map((why) => [{ why }, Number(state().shortage === why)]),
    ['why'],
  );
  gauge(
    'transit_upstream_budget_ratio',
    'Share of the calls available to requests at present that is left: 0 to 1.',
    () => state().budgetLeft,
  );
  gauge('transit_upstream_waiting_calls', 'Calls that wait in the queue.', () => state().waiting);
  gauge('transit_upstream_breaker_open', 'Whether the circuit breaker is open: 1 or 0.', () =>
    Number(state().isBreakerOpen),
  );
}

function exposeLive({ gauge }: Pick<Definers, 'gauge'>, report: () => LiveReport): void {
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
  gauge('transit_feed_poller', 'Whether this instance polls the feeds for all: 1 or 0.', () =>
    Number(report().isPolling),
  );
  gauge(
    'transit_timetable_agreement_ratio',
    'Share of the last 200 compared departures on which timetable and trip planner agree; missing before the 200th.',
    () =>
      Object.entries(report().agreement).flatMap(([mode, { compared, agreed }]) =>
        compared < MOST_COMPARED ? [] : [[{ mode }, agreed / compared] as const],
      ),
    ['mode'],
  );
}

/** Omits nodes that do not reply. */
function exposeRedis(gauge: Definers['gauge'], readMemory: () => Promise<RedisMemory[]>): void {
  const isUp = async () => Number((await readMemory()).length > 0);
  gauge('transit_redis_up', 'Whether Redis answers: 1 or 0.', isUp);
  for (const [field, name, help] of [
    ['usedBytes', 'transit_redis_memory_used_bytes', 'Memory used by Redis for its data.'],
    ['maxBytes', 'transit_redis_memory_max_bytes', 'Memory limit of Redis (maxmemory); 0 is no limit.'],
    ['evictedKeys', 'transit_redis_evicted_keys', 'Keys evicted by Redis since it started.'],
  ] as const) {
    const read = async (): Promise<Values> => (await readMemory()).map((one) => [{ node: one.node }, one[field]]);
    gauge(name, help, read, ['node']);
  }
}

type Definers = ReturnType<typeof definersFor>;

/** Returns functions that add a metric to the registry; `read` is called on each scrape. */
function definersFor(registry: Registry) {
  const definer =
    (Kind: typeof Gauge | typeof Counter) =>
    (name: string, help: string, read: () => Values | Promise<Values>, labelNames: string[] = []): void => {
      new Kind({
        name,
        help,
        labelNames,
        registers: [registry],
        async collect() {
          const values = await read();
          this.reset();
          for (const [labels, value] of typeof values === 'number' ? [[{}, values] as const] : values) {
            this.inc(labels, value);
          }
        },
      });
    };
  return { gauge: definer(Gauge), counter: definer(Counter) };
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

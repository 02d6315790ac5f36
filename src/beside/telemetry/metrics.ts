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

/** The layers that protect upstream, as far as they are measured. */
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

/** The series of a metric at this moment, each with its labels. */
type Series = Iterable<readonly [labels: Record<string, string | number>, value: number]>;
/** A number is the value of a metric without labels. */
type Values = Series | number;

/** They visit every connection at every scrape. `nodejs_active_resources` says the same for a fraction of the time. */
const SLOW_DEFAULTS = [
  'process_open_fds',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
];

/** Everything that Prometheus is shown. Nothing is computed before it is asked for. */
export function createMetrics(sources: {
  /** The origin of responses. */
  source: 'authority' | 'sandbox';
  /** Unknown unless given. */
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
    'Always 1. The source of responses (authority, or sandbox: made up), and the version and commit of the service.',
    () => [[{ source, ...build }, 1]],
    ['source', 'version', 'commit'],
  );
  collectDefaultMetrics({ register: registry });
  for (const name of SLOW_DEFAULTS) registry.removeSingleMetric(name);
  for (const instrument of Object.values(instruments)) registry.registerMetric(instrument as Metric);
  exposeUpstream({ gauge, counter }, upstream);
  counter(
    'transit_notices_cut_total',
    'Notices of the authority of which a part or all is not shown, for their length or number, each time they are read.',
    countCutNotices,
  );
  gauge(
    'transit_upstream_clock_skew_seconds',
    'By how much the clock of the authority is ahead of ours, by the Date of its latest response.',
    () => (typeof authorityClock?.skewMs === 'number' ? authorityClock.skewMs / 1000 : []),
  );
  if (live && live().mode !== 'off') exposeLive({ gauge }, live);
  if (timetable && timetable().mode !== 'off') {
    gauge('transit_timetable_up', 'Whether there is a timetable: 1 or 0.', () =>
      Number(timetable().importedAt !== null),
    );
    gauge(
      'transit_timetable_age_seconds',
      'Seconds since each file of the timetable was last found to be up to date, or first looked for.',
      () => timetable().files.map(({ id, currentAt }) => [{ file: id }, (Date.now() - currentAt) / 1000]),
      ['file'],
    );
  }
  if (pressure) exposePressure({ gauge, counter }, pressure);
  const isStore = async (is: (state: StoreState) => boolean) => Number(is(await storeState()));
  gauge('transit_store_up', 'Whether the account store answers: 1 or 0.', () => isStore((state) => state !== 'away'));
  gauge('transit_store_writable', 'Whether the account store takes writes, as a write has shown: 1 or 0.', () =>
    isStore((state) => state === 'writable'),
  );
  if (redisMemory) exposeRedis(gauge, redisMemory);
  return registry;
}

function exposePressure({ gauge, counter }: Definers, pressure: Pick<PressureWatch, 'exceeded' | 'shrunk'>): void {
  gauge('transit_under_pressure', 'Whether requests are refused because memory or time is short: 1 or 0.', () =>
    Number(pressure.exceeded() !== null),
  );
  counter(
    'transit_caches_shrunk_total',
    'How often the caches gave up memory because it ran short.',
    () => pressure.shrunk,
  );
  const entriesOfAll = (): Series => [...measureBoundedMaps()].map(([cache, { entries }]) => [{ cache }, entries]);
  gauge('transit_cache_entries', 'Entries of each bounded map.', entriesOfAll, ['cache']);
  const bytesOfAll = (): Series =>
    [...measureBoundedMaps()].flatMap(([cache, { bytes }]) => (bytes === null ? [] : [[{ cache }, bytes] as const]));
  gauge('transit_cache_bytes', 'Memory that each map bounded in bytes counts.', bytesOfAll, ['cache']);
}

function exposeUpstream({ gauge, counter }: Definers, { counts, state }: UpstreamNumbers): void {
  counter('transit_upstream_retries_total', 'Calls of the authority that repeat a failed one.', () => counts.retries);
  counter(
    'transit_upstream_requests_total',
    'Requests to the authority, by how they were answered; what the cache of whole responses spares is not among them.',
    () => Object.entries(counts.answered).map(([result, requests]) => [{ result: toLabel(result) }, requests]),
    ['result'],
  );
  gauge(
    'transit_upstream_calls_left',
    'Calls of the authority that are left of this UTC day, by the place of the key in UPSTREAM_API_KEY, from 0.',
    () => state().callsLeft.map((left, key) => [{ key }, left]),
    ['key'],
  );
  gauge(
    'transit_upstream_shortage',
    'Whether no request gets further calls: those of the day so far are spent, or the authority refuses them. 1 or 0.',
    () => SHORTAGES.map((why) => [{ why }, Number(state().shortage === why)]),
    ['why'],
  );
  gauge(
    'transit_upstream_budget_ratio',
    'The share that is left of the calls that requests may use for now: 1 is all, 0 is none.',
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
    'Age of what each polled feed says, by its own header.',
    () =>
      report().feeds.flatMap(({ source, headerAt }) =>
        headerAt === null ? [] : [[{ feed: source }, (Date.now() - headerAt) / 1000]],
      ),
    ['feed'],
  );
  gauge(
    'transit_feed_up',
    'Whether the feed is believed: 1 or 0; feeds that are not polled are missing.',
    () => report().feeds.map(({ source, problem }) => [{ feed: source }, Number(problem === null)]),
    ['feed'],
  );
  gauge('transit_feed_poller', 'Whether this instance polls the feeds for all: 1 or 0.', () =>
    Number(report().isPolling),
  );
  gauge(
    'transit_timetable_agreement_ratio',
    'Share of the last 200 departures compared on which timetable and trip planner agree; missing until there are so many.',
    () =>
      Object.entries(report().agreement).flatMap(([mode, { compared, agreed }]) =>
        compared < MOST_COMPARED ? [] : [[{ mode }, agreed / compared] as const],
      ),
    ['mode'],
  );
}

/** A node that does not reply is missing. */
function exposeRedis(gauge: Definers['gauge'], readMemory: () => Promise<RedisMemory[]>): void {
  const isUp = async () => Number((await readMemory()).length > 0);
  gauge('transit_redis_up', 'Whether Redis answers: 1 or 0.', isUp);
  for (const [field, name, help] of [
    ['usedBytes', 'transit_redis_memory_used_bytes', 'Memory that Redis takes for its data.'],
    ['maxBytes', 'transit_redis_memory_max_bytes', 'What it may take (maxmemory); 0 is no limit.'],
    ['evictedKeys', 'transit_redis_evicted_keys', 'Keys that Redis has thrown out to make room since it was started.'],
  ] as const) {
    const read = async (): Promise<Values> => (await readMemory()).map((one) => [{ node: one.node }, one[field]]);
    gauge(name, help, read, ['node']);
  }
}

type Definers = ReturnType<typeof definersFor>;

/** Functions that add a metric to the registry; `read` is called when the registry is read. */
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
 * `GET /metrics` on a port of its own, because the numbers are for the operator: they need no key, and the balancer must
 * not show them to everybody. Rejects when it cannot listen.
 */
export async function startMetricsServer(registry: Registry, { host, port }: { host: string; port: number }) {
  // The first time takes several times as long as the others: better now than under load.
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
 * The text that Prometheus reads. It is written metric by metric, with a turn of the event loop after each, so that no
 * request waits for more than one metric.
 */
export async function writeExposition(registry: Registry): Promise<string> {
  const metrics: string[] = [];
  for (const { name } of registry.getMetricsAsArray()) {
    metrics.push(await registry.getSingleMetricAsString(name));
    await nextTurn();
  }
  return `${metrics.join('\n\n')}\n`;
}

import type { StoreState } from '#src/core/redis/presence.ts';
import { createInstruments, type Instruments } from '#src/extensions/telemetry/instruments.ts';
import { createMetrics, type UpstreamNumbers, writeExposition } from '#src/extensions/telemetry/metrics.ts';
import type { LiveReport } from '#src/realtime/live-report.ts';
import { noTimetable } from '#src/timetable/update/keep-current.ts';

export const BUILD = { version: '1.2.3', commit: '0123456789ab' };

export const IDLE_UPSTREAM: UpstreamNumbers = {
  state: () => ({
    isBreakerOpen: false,
    budgetLeft: 1,
    shortage: null,
    callsLeft: [60_000],
  }),
};

export const IDLE_FEEDS: LiveReport = {
  mode: 'on',
  isPolling: true,
  feeds: [],
  agreement: {},
};

/** Scrapes a service as Prometheus would. */
export async function scrape(
  instruments: Instruments = createInstruments(),
  upstream: UpstreamNumbers = IDLE_UPSTREAM,
  storeState: () => Promise<StoreState> = async () => 'writable',
  feeds: LiveReport = IDLE_FEEDS,
): Promise<Scraped> {
  const registry = createMetrics({
    source: 'real',
    build: BUILD,
    instruments,
    upstream,
    live: () => feeds,
    carParks: () => ({ state: 'ok', listed: 44, current: 40, callsLeft: 2000 }),
    timetable: () => ({ ...noTimetable.status(), mode: 'on' }),
    storeState,
    redisMemory: async () => [],
    pressure: { exceeded: () => null },
  });
  return readMetrics(await writeExposition(registry));
}

export interface Scraped {
  /** The type of every metric by name, including metrics without a value. */
  types: Map<string, string>;
  /** The values by `name{label="value"}`. */
  values: Map<string, number>;
  text: string;
}

/** Parses the Prometheus text format. Throws on an invalid line. */
export function readMetrics(text: string): Scraped {
  const types = new Map<string, string>();
  const values = new Map<string, number>();
  for (const line of text.split('\n').filter((line) => line !== '' && !line.startsWith('# HELP '))) {
    const [, typed, type] = /^# TYPE ([a-z][a-z0-9_]*) (counter|gauge|histogram|summary)$/.exec(line) ?? [];
    const [, series, value] = /^([a-z][a-z0-9_]*(?:\{(?:[a-z_]+="[^"]*",?)*\})?) (\S+)$/.exec(line) ?? [];
    if (typed && type) types.set(typed, type);
    else if (series) values.set(series, Number(value));
    else throw new Error(`not the text format of Prometheus: ${line}`);
  }
  return { types, values, text };
}

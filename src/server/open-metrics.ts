import type { Config } from '../config.ts';
import type { Log } from '../core/log.ts';
import { createMetrics, type MetricSources, startMetricsServer } from '../extensions/telemetry/metrics.ts';
import { cannotListen } from './process.ts';

/** Starts the server of `/metrics`; null if the settings name no address for it. */
export async function openMetrics({ metrics: address }: Config, sources: MetricSources, log: Log<'info'>) {
  if (!address) return null;
  const server = await startMetricsServer(createMetrics(sources), address).catch((error) =>
    cannotListen(error, 'METRICS_ADDRESS', address.port),
  );
  log.info({}, `metrics are at http://${address.host}:${server.port}/metrics`);
  return server;
}

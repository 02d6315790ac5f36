import type { Logger } from 'pino';
import type { Config } from '../config.ts';

/* The OpenTelemetry packages are loaded only if they are used. */

export async function openLogExport({ collector }: Config) {
  if (!collector?.takesLogs) return null;
  const { startLogExport } = await import('../extensions/telemetry/log-export.ts');
  return startLogExport(collector);
}

export async function openTracing({ collector }: Config, logger: Logger) {
  if (!collector) return null;
  const { startTracing } = await import('../extensions/telemetry/tracing.ts');
  // Only the origin: the URL may contain a password.
  logger.info(`traces${collector.takesLogs ? ' and logs' : ''} are sent to ${new URL(collector.endpoint).origin}`);
  return startTracing(collector, logger);
}

import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { pino } from 'pino';
import { closeProvider, serviceResource } from './collector.ts';

/**
 * Sends log lines to a collector by OTLP over HTTP. While 2,048 lines wait for a slow collector, further lines are dropped;
 * standard output has all.
 */
export function startLogExport({ endpoint }: { endpoint: string }) {
  const exporter = new OTLPLogExporter({ url: `${endpoint}/v1/logs` });
  const provider = new LoggerProvider({
    resource: serviceResource(),
    processors: [new BatchLogRecordProcessor({ exporter })],
  });
  const records = provider.getLogger('log');

  return {
    /** Takes a line of pino. Its fields become attributes, and the record belongs to the trace of the current request. */
    send(line: string): void {
      const { level, time, msg, ...attributes } = JSON.parse(line);
      const severityText = pino.levels.labels[level]?.toUpperCase() ?? '';
      records.emit({ timestamp: time, severityNumber: severityOf(level), severityText, body: msg, attributes });
    },
    close: () => closeProvider(provider),
  };
}

/** Pino counts levels from 10 in tens, OpenTelemetry from 1 in fours. */
function severityOf(level: number): number {
  return 4 * (level / 10) - 3;
}

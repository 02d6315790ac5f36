import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Registry } from 'prom-client';

export interface MetricsServer {
  port: number;
  close(): Promise<void>;
}

/**
 * `GET /metrics` on a port of its own, because the numbers are for the operator: they need no key, and the balancer must
 * not show them to everybody. Rejects when it cannot listen.
 */
export async function startMetricsServer(
  registry: Registry,
  { host, port }: { host: string; port: number },
): Promise<MetricsServer> {
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
    async close() {
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

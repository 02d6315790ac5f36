import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Upstream } from './upstream-source.ts';

/** Prints the address, a key, and a command to copy for a person at a terminal. */
export function welcome(server: Server, { key, upstream }: { key: string | null; upstream: Upstream }): void {
  const { port } = server.address() as AddressInfo;
  const source = upstream.isSandbox ? 'a sandbox: every time is made up' : `data from ${upstream.source}`;
  process.stdout.write(`Open    http://localhost:${port}  (${source})
Key     ${key ?? `http://localhost:${port}/signup`}
Try     ${sampleCommand(port, key)}
`);
}

/** Logs that the data is made up, and a command to try. */
export function announceSandbox(server: Server, key: string | null, logger: Logger): void {
  const { port } = server.address() as AddressInfo;
  logger.warn('UPSTREAM_API_KEY is not set: the embedded sandbox makes up every response. Do not travel by it.');
  // Nothing works without the key, so a lower log level does not hide it.
  logger[logger.isLevelEnabled('info') ? 'info' : 'warn'](`try: ${sampleCommand(port, key)}`);
}

/** In single quotes, because JSON logs would escape double quotes and the command could not be copied. */
function sampleCommand(port: number, key: string | null): string {
  return `curl -H 'Authorization: Bearer ${key ?? 'YOUR_KEY'}' 'http://localhost:${port}/v1/departures?stop=200070&modes=all'`;
}

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request as openRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The response that a caller gets instead of the service's; `cut` breaks the connection. */
type Failure = 'cut' | { status: number; headers?: Record<string, string>; body?: string };

export interface UnreliableProxy {
  url: string;
  /** Each fails one request, in order; then all requests reach the service. */
  failures: Failure[];
  /** The headers and statuses of all requests so far. */
  requests: { url: string; headers: IncomingHttpHeaders; status: number }[];
  /** How many responses are under way. */
  open(): number;
  /** Breaks all responses that are under way. */
  cut(): void;
  close(): Promise<void>;
}

/** An HTTP proxy in front of the service at `target`. */
export async function startUnreliableProxy(target: string): Promise<UnreliableProxy> {
  const failures: Failure[] = [];
  const requests: UnreliableProxy['requests'] = [];
  const open = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const entry = { url: request.url ?? '', headers: request.headers, status: 0 };
    requests.push(entry);
    const failure = failures.shift();
    if (failure === 'cut') return void response.destroy();
    if (failure) {
      entry.status = failure.status;
      response.writeHead(failure.status, failure.headers).end(failure.body ?? '');
      return;
    }
    open.add(response);
    const { method, headers } = request;
    const onward = openRequest(target + request.url, { method, headers, agent: false }, (received) => {
      entry.status = received.statusCode ?? 0;
      response.writeHead(entry.status, received.headers);
      received.pipe(response);
      received.on('error', () => response.destroy());
    }).on('error', () => response.destroy());
    request.pipe(onward);
    response.on('close', () => {
      open.delete(response);
      onward.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failures,
    requests,
    open: () => open.size,
    cut() {
      for (const response of open) response.destroy();
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Handles a request as a made-up upstream. */
export type Handler = (request: IncomingMessage & { url: string }, response: ServerResponse) => void;

export interface TestUpstream {
  url: string;
  /** Path and query of every request so far, oldest first. */
  requests: string[];
  respondWith(answer: Handler): void;
  close(): Promise<void>;
}

/** A real HTTP server on a free loopback port whose responses the test chooses. */
export async function startUpstream(first: Handler): Promise<TestUpstream> {
  let answer = first;
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    answer(request as IncomingMessage & { url: string }, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/tp`,
    requests,
    respondWith: (next) => {
      answer = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The same JSON for every request. */
export function json(body: unknown, status = 200): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { feedResponse, findFeedName } from './feeds/feed.ts';
import { readNetwork } from './network/gtfs-network.ts';
import type { SandboxNetwork } from './network/network.ts';
import { indexNetwork, type NetworkIndex } from './network/network-index.ts';
import { createRehearsals } from './rehearsals.ts';
import { addInfoResponse } from './responses/add-info-response.ts';
import { coordResponse } from './responses/coord-response.ts';
import { departureResponse } from './responses/departure-response.ts';
import { stopFinderResponse } from './responses/stop-finder-response.ts';
import { tripResponse } from './responses/trip-response.ts';
import { seedOf } from './trait.ts';

export interface Sandbox {
  /** Base of the trip planner's endpoints, "http://127.0.0.1:41234/v1/tp". The paths of the feeds begin at the root. */
  url: string;
  /** Stops at once and cuts off responses that are under way. */
  close(): Promise<void>;
}

const BASE_PATH = '/v1/tp';

const RESPONSES = {
  departure_mon: departureResponse,
  trip: tripResponse,
  stop_finder: stopFinderResponse,
  coord: coordResponse,
  add_info: addInfoResponse,
} satisfies Record<string, (index: NetworkIndex, query: URLSearchParams, nowSeconds: number) => object>;

interface Payload {
  status: number;
  headers?: Record<string, string>;
  body: Buffer | string;
}

/**
 * Starts a stand-in for upstream on a free loopback port: the same protocol, with made-up timetables. Boards and journeys
 * change once a minute of `now`. `apiKey` is the one valid key.
 */
export async function startSandbox(options: {
  apiKey: string;
  now: () => Date;
  network?: SandboxNetwork;
}): Promise<Sandbox> {
  const { apiKey, now } = options;
  const index = indexNetwork(options.network ?? readNetwork());
  const rehearse = createRehearsals(now);
  const closing = new AbortController();

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // Either close() aborted the response, or the sandbox has a bug, which a test should see.
      if (closing.signal.aborted || response.headersSent) response.destroy();
      else send(response, failed(error));
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox');
    const endpoint = endpointOf(request, pathname);
    if (endpoint === undefined) return send(response, json(404, { code: 404, message: 'no such resource' }));
    if (request.headers.authorization !== `apikey ${apiKey}`) return send(response, unauthenticated(pathname, now()));
    const { step, query } = rehearse(endpoint, searchParams);
    if (step.isSilent) return;
    if (step.instead) return send(response, step.instead);
    const payload = await compressed(payloadOf(index, endpoint, { step, query }, now()), request);
    if (step.delayMs) await sleep(step.delayMs, undefined, { signal: closing.signal, ref: false });
    send(response, payload);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${BASE_PATH}`,
    close: async () => {
      closing.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function endpointOf(request: IncomingMessage, pathname: string) {
  if (request.method !== 'GET') return undefined;
  const name = pathname.startsWith(`${BASE_PATH}/`) ? pathname.slice(BASE_PATH.length + 1) : '';
  return isPlanner(name) ? name : findFeedName(pathname);
}

function isPlanner(name: string): name is keyof typeof RESPONSES {
  return Object.hasOwn(RESPONSES, name);
}

function payloadOf(
  index: NetworkIndex,
  endpoint: NonNullable<ReturnType<typeof endpointOf>>,
  { query, step }: ReturnType<ReturnType<typeof createRehearsals>>,
  now: Date,
): Payload {
  if (!isPlanner(endpoint)) {
    const body = feedResponse(index, endpoint, Math.floor(now.getTime() / 1000));
    return { status: 200, headers: { 'content-type': 'application/x-google-protobuf' }, body };
  }
  if (query.get('outputFormat') !== 'rapidJSON' || query.get('coordOutputFormat') !== 'EPSG:4326') {
    const body = '<?xml version="1.0" encoding="UTF-8"?><efa><error>outputFormat not supported</error></efa>';
    return { status: 200, headers: { 'content-type': 'text/xml; charset=UTF-8' }, body };
  }
  const nowSeconds = Math.floor(now.getTime() / 60_000) * 60;
  const plain = RESPONSES[endpoint](index, query, nowSeconds);
  return json(200, step.change?.(plain, endpoint, query) ?? plain);
}

/** Gzip where the client accepts it, as upstream does. */
async function compressed(payload: Payload, request: IncomingMessage): Promise<Payload> {
  if (!/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return payload;
  const body = await promisify(gzip)(payload.body, { level: 3 });
  return { ...payload, headers: { ...payload.headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }, body };
}

function send(response: ServerResponse, { status, headers, body }: Payload): void {
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
  response.end(body);
}

function unauthenticated(path: string, now: Date): Payload {
  const moment = now.toISOString();
  const transaction = (seedOf(moment + path) >>> 0).toString(16).padStart(8, '0');
  return json(401, {
    ErrorDetails: {
      TransactionId: `00000${now.getTime().toString(16)}-${transaction}`,
      ErrorDateTime: moment.replace('Z', '+00:00'),
      Message: 'The calling application is unauthenticated.',
      RequestedUrl: path,
      RequestMethod: 'GET',
    },
  });
}

function failed(error: unknown): Payload {
  return json(500, { code: 500, message: error instanceof Error ? error.message : String(error) });
}

function json(status: number, body: object): Payload {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers, body: JSON.stringify(body) };
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Authority, createAuthority } from './authority.ts';
import { type EndpointName, type Fault, type FaultChooser, type Payload, sendResponse } from './fault.ts';
import { type FeedName, findFeedName, type PositionsName, responseOf } from './feeds/feed.ts';
import { readNetwork } from './network/gtfs-network.ts';
import type { SandboxNetwork } from './network/network.ts';
import { createRehearsals } from './rehearsal/rehearsals.ts';
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

export interface SandboxOptions {
  /** The one valid key. */
  apiKey: string;
  /** The clock. Boards and journeys change once a minute. */
  now: () => Date;
  /** The network of `network/gtfs` where absent. */
  network?: SandboxNetwork;
  /** For tests. */
  fault?: FaultChooser;
}

const BASE_PATH = '/v1/tp';

const RESPONSES: Record<EndpointName, (authority: Authority, query: URLSearchParams, nowSeconds: number) => object> = {
  departure_mon: departureResponse,
  trip: tripResponse,
  stop_finder: stopFinderResponse,
  coord: coordResponse,
  add_info: addInfoResponse,
};

/** Starts a stand-in for upstream on a free loopback port: the same protocol, with made-up timetables. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const authority = createAuthority(options.network ?? readNetwork());
  const counts = new Map<EndpointName | FeedName | PositionsName, number>();
  const findStep = createRehearsals(options.now);
  const closing = new AbortController();

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // Either close() aborted the response, or the sandbox has a bug, which a test should see.
      if (closing.signal.aborted || response.headersSent) response.destroy();
      else sendResponse(response, failed(error), undefined, closing.signal);
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://sandbox');
    const endpoint = endpointOf(request, pathname);
    if (endpoint === undefined) return sendResponse(response, notFound(), undefined, closing.signal);
    if (request.headers.authorization !== `apikey ${options.apiKey}`) {
      return sendResponse(response, unauthenticated(pathname, options.now()), undefined, closing.signal);
    }
    const count = (counts.get(endpoint) ?? 0) + 1;
    counts.set(endpoint, count);
    const rehearsal = findStep(endpoint, query);
    const fault = options.fault?.({ endpoint, query, count }) ?? rehearsal.step.fault;
    const payload = payloadOf(authority, endpoint, rehearsal, options.now(), fault);
    await sendResponse(response, await compressed(payload, request, fault?.kind), fault, closing.signal);
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

function endpointOf(request: IncomingMessage, pathname: string): EndpointName | FeedName | PositionsName | undefined {
  if (request.method !== 'GET') return undefined;
  const name = pathname.startsWith(`${BASE_PATH}/`) ? pathname.slice(BASE_PATH.length + 1) : '';
  return isPlanner(name) ? name : findFeedName(pathname);
}

function isPlanner(name: string): name is EndpointName {
  return Object.hasOwn(RESPONSES, name);
}

function payloadOf(
  authority: Authority,
  endpoint: EndpointName | FeedName | PositionsName,
  { query, step }: ReturnType<ReturnType<typeof createRehearsals>>,
  clock: Date,
  fault: Fault | undefined,
): Payload {
  const now = fault?.kind === 'frozen' ? fault.at : clock;
  if (!isPlanner(endpoint)) {
    const isHalved = fault?.kind === 'halved';
    const body = responseOf(authority, endpoint, Math.floor(now.getTime() / 1000), { isHalved });
    return { status: 200, headers: { 'content-type': 'application/x-google-protobuf' }, body };
  }
  if (query.get('outputFormat') !== 'rapidJSON' || query.get('coordOutputFormat') !== 'EPSG:4326') {
    const body = '<?xml version="1.0" encoding="UTF-8"?><efa><error>outputFormat not supported</error></efa>';
    return { status: 200, headers: { 'content-type': 'text/xml; charset=UTF-8' }, body: Buffer.from(body) };
  }
  const nowSeconds = Math.floor(now.getTime() / 60_000) * 60;
  const plain = RESPONSES[endpoint](authority, query, nowSeconds);
  return json(200, step.change?.(plain, endpoint, query) ?? plain);
}

/** The faults that leave the body whole. */
const COMPRESSIBLE: readonly string[] = ['slow', 'frozen', 'halved'] satisfies Fault['kind'][];

/** Gzip where the client accepts it, as upstream does. Faults that cut the body need it readable. */
async function compressed(payload: Payload, request: IncomingMessage, fault: string | undefined): Promise<Payload> {
  const accepts = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  if (!accepts || (fault !== undefined && !COMPRESSIBLE.includes(fault))) return payload;
  const body = await promisify(gzip)(payload.body, { level: 3 });
  return { ...payload, headers: { ...payload.headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }, body };
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

function notFound(): Payload {
  return json(404, { code: 404, message: 'no such resource' });
}

function failed(error: unknown): Payload {
  return json(500, { code: 500, message: error instanceof Error ? error.message : String(error) });
}

function json(status: number, body: object): Payload {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers, body: Buffer.from(JSON.stringify(body)) };
}

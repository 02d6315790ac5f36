import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { carParkResponse } from './car-parks.ts';
import { type FeedName, feedResponse, type PositionsName, toFeedName } from './feeds/feed.ts';
import { loadNetwork } from './network/gtfs-network.ts';
import type { SandboxNetwork } from './network/network.ts';
import { indexNetwork, type NetworkIndex } from './network/network-index.ts';
import { createRehearsals, type Step } from './rehearsals.ts';
import { addInfoResponse } from './responses/add-info-response.ts';
import { coordResponse } from './responses/coord-response.ts';
import { departureResponse } from './responses/departure-response.ts';
import { stopFinderResponse } from './responses/stop-finder-response.ts';
import { tripResponse } from './responses/trip-response.ts';
import { createSchedule, isSchedule, type Publication } from './schedule/schedule.ts';
import { seedOf } from './trait.ts';

/** A running sandbox. */
export interface Sandbox {
  /**
   * The base URL of the trip planner's endpoints, such as "http://127.0.0.1:41234/v1/tp". Feeds and schedule have sibling
   * paths.
   */
  url: string;
  /** Stops at once and aborts pending responses. */
  close(): Promise<void>;
}

const BASE_PATH = '/v1/tp';
const CAR_PARK_PATH = '/v1/carpark';

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
 * Starts a substitute for upstream on a free loopback port, with the same protocol and made-up timetables. Boards and journeys
 * change once per minute of `now`. `apiKey` is the only valid key.
 */
export async function startSandbox(options: {
  apiKey: string;
  now: () => Date;
  network?: SandboxNetwork;
}): Promise<Sandbox> {
  const { apiKey, now } = options;
  const index = indexNetwork(options.network ?? loadNetwork());
  const { rehearse, feedsAt, isBroken } = createRehearsals(now);
  const publish = createSchedule(index);
  const closing = new AbortController();

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // Either close() aborted the response, or the sandbox has a bug, which a test should see.
      if (closing.signal.aborted || response.headersSent) response.destroy();
      else send(response, createFailurePayload(error));
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox');
    const endpoint = endpointOf(request.method, pathname);
    if (endpoint === undefined) return send(response, json(404, { code: 404, message: 'no such resource' }));
    if (request.headers.authorization !== `apikey ${apiKey}`)
      return send(response, createUnauthenticatedPayload(pathname, now()));
    if (endpoint.kind === 'feed') {
      return send(response, await compress(feedPayload(index, endpoint.name, feedsAt()), request));
    }
    if (endpoint.kind === 'carpark') {
      const facility = carParkResponse(searchParams.get('facility'), Math.floor(now().getTime() / 1000));
      return send(response, facility ? json(200, facility) : json(404, { code: 404, message: 'no such facility' }));
    }
    if (endpoint.kind === 'schedule') {
      const publication = await publish(pathname, now().getTime() / 1000);
      return send(response, schedulePayload(publication, request, isBroken(pathname)));
    }
    await respondAsPlanner(endpoint.name, searchParams, request, response);
  }

  async function respondAsPlanner(
    name: PlannerName,
    searchParams: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { step, query } = rehearse(name, searchParams);
    if (step.isSilent) return;
    if (step.instead) return send(response, step.instead);
    const payload = await compress(plannerPayload(index, name, { step, query }, now()), request);
    if (step.delayMs) await sleep(step.delayMs, undefined, { signal: closing.signal });
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
      const whenClosed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await whenClosed;
    },
  };
}

type PlannerName = keyof typeof RESPONSES;

type Endpoint =
  | { kind: 'planner'; name: PlannerName }
  | { kind: 'feed'; name: FeedName | PositionsName }
  | { kind: 'schedule' }
  | { kind: 'carpark' };

/** Only zips of the schedule support HEAD. */
function endpointOf(method: string | undefined, pathname: string): Endpoint | undefined {
  if (isSchedule(pathname)) return method === 'GET' || method === 'HEAD' ? { kind: 'schedule' } : undefined;
  if (method !== 'GET') return undefined;
  if (pathname === CAR_PARK_PATH) return { kind: 'carpark' };
  const planner = pathname.startsWith(`${BASE_PATH}/`) ? pathname.slice(BASE_PATH.length + 1) : '';
  if (isPlanner(planner)) return { kind: 'planner', name: planner };
  const feed = toFeedName(pathname);
  return feed && { kind: 'feed', name: feed };
}

function isPlanner(name: string): name is PlannerName {
  return Object.hasOwn(RESPONSES, name);
}

function feedPayload(index: NetworkIndex, name: FeedName | PositionsName, at: Date): Payload {
  const body = feedResponse(index, name, Math.floor(at.getTime() / 1000));
  return { status: 200, headers: { 'content-type': 'application/x-google-protobuf' }, body };
}

/** Returns the zip, or 304 if the client has it. A broken one is truncated, as after a failed publication. */
function schedulePayload({ zip, publishedSeconds }: Publication, request: IncomingMessage, isBroken: boolean): Payload {
  const published = publishedSeconds + (isBroken ? 1 : 0);
  const modifiedSince = Date.parse(request.headers['if-modified-since'] ?? '') / 1000;
  const headers = { 'last-modified': new Date(published * 1000).toUTCString(), 'cache-control': 'private' };
  if (modifiedSince >= published) return { status: 304, headers, body: '' };
  const body = isBroken ? zip.subarray(0, zip.length >> 1) : zip;
  return { status: 200, headers: { ...headers, 'content-type': 'application/zip' }, body };
}

function plannerPayload(
  index: NetworkIndex,
  name: PlannerName,
  { query, step }: { query: URLSearchParams; step: Step },
  now: Date,
): Payload {
  if (query.get('outputFormat') !== 'rapidJSON' || query.get('coordOutputFormat') !== 'EPSG:4326') {
    const body = '<?xml version="1.0" encoding="UTF-8"?><efa><error>outputFormat not supported</error></efa>';
    return { status: 200, headers: { 'content-type': 'text/xml; charset=UTF-8' }, body };
  }
  const nowSeconds = Math.floor(now.getTime() / 60_000) * 60;
  const plainResponse = RESPONSES[name](index, query, nowSeconds);
  return json(200, step.change?.(plainResponse, name, query) ?? plainResponse);
}

/** Compresses with gzip if the client accepts it, as upstream does. */
async function compress(payload: Payload, request: IncomingMessage): Promise<Payload> {
  if (!/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return payload;
  const body = await promisify(gzip)(payload.body, { level: 3 });
  return { ...payload, headers: { ...payload.headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }, body };
}

function send(response: ServerResponse, { status, headers, body }: Payload): void {
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
  response.end(body);
}

function createUnauthenticatedPayload(path: string, now: Date): Payload {
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

function createFailurePayload(error: unknown): Payload {
  return json(500, { code: 500, message: error instanceof Error ? error.message : String(error) });
}

function json(status: number, body: object): Payload {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers, body: JSON.stringify(body) };
}

import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedName, PositionsName } from './feeds/feed.ts';

export type EndpointName = 'departure_mon' | 'trip' | 'stop_finder' | 'coord' | 'add_info';

/** A fault of one response. Chosen by the code that starts the sandbox, or by a request that rehearses a failure. */
export type Fault =
  /** The true response, late. */
  | { kind: 'slow'; delayMs: number }
  /** No byte at all, not even headers, until the client gives up. */
  | { kind: 'hang-before-headers' }
  /** Headers and half of the body, then silence. */
  | { kind: 'hang-in-body' }
  /** The connection is reset before any response. */
  | { kind: 'reset' }
  /** The true response, one byte a second. */
  | { kind: 'drip' }
  /** Another response: a 500 page, a web page with 200, a 403 with `X-Error-Detail`, a 429 with `Retry-After`. */
  | { kind: 'respond'; status: number; body: string; headers?: Record<string, string> }
  /** The first half of the true response, with a matching `content-length`. */
  | { kind: 'truncated' }
  /** 200 without a body. */
  | { kind: 'empty' }
  /** 200 and JSON that is not a response of this endpoint. */
  | { kind: 'other-json'; json: unknown }
  /** The response as it was at that moment. */
  | { kind: 'frozen'; at: Date }
  /** A feed with half of its trips; other endpoints give the true response. */
  | { kind: 'halved' };

/**
 * Called once for every request with a valid key; undefined for no fault. `count` counts each endpoint's requests from
 * 1.
 */
export type FaultChooser = (request: {
  endpoint: EndpointName | FeedName | PositionsName;
  query: URLSearchParams;
  count: number;
}) => Fault | undefined;

export interface Payload {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

const DRIP_INTERVAL_MS = 1000;

/** Sends `payload` with the fault, if any. Ends early when `closed` aborts. */
export async function sendResponse(
  response: ServerResponse,
  payload: Payload,
  fault: Fault | undefined,
  closed: AbortSignal,
): Promise<void> {
  switch (fault?.kind) {
    case undefined:
    case 'frozen':
    case 'halved':
      return sendWhole(response, payload);
    case 'slow':
      await sleep(fault.delayMs, undefined, { signal: closed, ref: false });
      return sendWhole(response, payload);
    case 'hang-before-headers':
      return;
    case 'hang-in-body':
      response.writeHead(payload.status, headersOf(payload));
      response.write(payload.body.subarray(0, payload.body.length >> 1));
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'drip':
      return drip(response, payload, closed);
    case 'respond':
      return sendWhole(response, { ...fault, headers: { ...fault.headers }, body: Buffer.from(fault.body) });
    case 'truncated':
      return sendWhole(response, { ...payload, body: payload.body.subarray(0, payload.body.length >> 1) });
    case 'empty':
      return sendWhole(response, { ...payload, body: Buffer.alloc(0) });
    case 'other-json':
      return sendWhole(response, { ...payload, body: Buffer.from(JSON.stringify(fault.json)) });
  }
}

function sendWhole(response: ServerResponse, payload: Payload): void {
  response.writeHead(payload.status, headersOf(payload));
  response.end(payload.body);
}

async function drip(response: ServerResponse, payload: Payload, closed: AbortSignal): Promise<void> {
  response.writeHead(payload.status, headersOf(payload));
  for (const byte of payload.body) {
    if (response.destroyed) return;
    response.write(Buffer.from([byte]));
    await sleep(DRIP_INTERVAL_MS, undefined, { signal: closed, ref: false });
  }
  response.end();
}

function headersOf(payload: Payload): Record<string, string> {
  return { ...payload.headers, 'content-length': String(payload.body.length) };
}

import { createConcurrencyLimit, nextTurn } from '../core/event-loop-turn.ts';
import { ApiError } from '../errors/api-error.ts';
import { isOfThePast } from './departure-page.ts';
import { declined, excerpt, toUpstreamError, unexpectedResponse } from './failure.ts';
import type { DepartureMonitorPayload } from './payload.ts';
import type { CallUpstream, QueryOptions, ReceivedResponse } from './query-upstream.ts';
import { isResponseTo, type PayloadOf, parseResponse, toRequest, type UpstreamRequest } from './request.ts';
import { LimitError, parseJson, RESPONSE_LIMITS } from './response/json-reader.ts';
import { UpstreamHttp } from './upstream-http.ts';

/** More than the rate allows at once, because waiting for a connection would use up the deadline. */
const MAX_CONNECTIONS = 64;

const MAX_LARGE_AT_ONCE = 4;
/** Shared by the clients of all keys. */
const parseLarge = createConcurrencyLimit(MAX_LARGE_AT_ONCE);

/**
 * A client for the trip planner with one key. `url` is the base, ".../v1/tp". The timeout covers a whole call, body included.
 */
export function createEfaClient(
  options: { apiKey: string; timeoutMs: number } & Pick<
    ConstructorParameters<typeof UpstreamHttp>[0],
    'url' | 'proxyUrl' | 'clock' | 'now'
  >,
): { callUpstream: CallUpstream; close(): Promise<void> } {
  const { apiKey, timeoutMs, now } = options;
  const http = new UpstreamHttp({
    ...options,
    connectTimeoutMs: timeoutMs,
    connections: MAX_CONNECTIONS,
    headers: { accept: 'application/json', 'accept-encoding': 'gzip, br' },
    maxBytes: RESPONSE_LIMITS.bytes,
    parseLarge,
  });

  function send<Requested extends UpstreamRequest>(
    request: Requested,
    { signal }: QueryOptions = {},
  ): Promise<ReceivedResponse<PayloadOf<Requested>>> {
    const { endpoint, query } = toRequest(request);
    return http.get(`/${endpoint}?${new URLSearchParams(query)}`, { apiKey, timeoutMs, signal }, async (json) => {
      // One response per turn: when several arrive together, each is passed on before the next is read.
      await nextTurn();
      const [payload, retrievedAt] = [await parsePayload(json, request, apiKey), now()];
      if (
        request.kind === 'departureMonitor' &&
        isOfThePast(payload as DepartureMonitorPayload, request, retrievedAt)
      ) {
        throw unexpectedResponse('a full board on which everything had left before the requested time');
      }
      return { payload, json, retrievedAt };
    });
  }

  const callUpstream: CallUpstream = (request, options) =>
    send(request, options).catch((error) => {
      throw error instanceof ApiError ? error : toUpstreamError(error, timeoutMs);
    });

  return { callUpstream, close: () => http.close() };
}

const RECORD_KEYS = ['locations', 'stopEvents', 'journeys', 'infos'];
const KNOWN_KEYS = ['version', 'systemMessages', ...RECORD_KEYS];

/** Reads the body of a response with status 200. Throws `UPSTREAM_ERROR` if it does not answer the request. */
export async function parsePayload<Requested extends UpstreamRequest>(
  body: Buffer,
  request: Requested,
  apiKey: string,
): Promise<PayloadOf<Requested>> {
  const json = await parseJson(body).catch((error) => {
    if (error instanceof LimitError) throw unexpectedResponse(error.message);
    throw unexpectedResponse(`the response is not JSON: ${excerpt(body.toString(), apiKey)}`);
  });
  if (typeof json !== 'object' || json === null || !KNOWN_KEYS.some((key) => key in json)) {
    throw unexpectedResponse('the response is JSON of another shape');
  }
  // An error without records is a failure of upstream, not an empty response.
  if ('error' in json && !RECORD_KEYS.some((key) => key in json)) {
    throw unexpectedResponse(`the response is an error: ${excerpt(JSON.stringify(json.error), apiKey)}`);
  }
  const payload = parseResponse(request, json);
  if (!isResponseTo(request, json, payload)) {
    const hasRecords = RECORD_KEYS.some((key) => key in json);
    if (!hasRecords && payload.systemMessages.length > 0) {
      const codes = payload.systemMessages.map(({ code }) => code).join(', ');
      throw declined(`the response has no records, only unknown messages: ${excerpt(codes, apiKey)}`);
    }
    throw unexpectedResponse(
      `the response is for another request: it contains ${excerpt(Object.keys(json).join(', '), apiKey)}`,
    );
  }
  return payload;
}

import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import { pipeThrough } from '../compression.ts';
import { ApiError } from '../errors/api-error.ts';
import { nextTurn } from '../event-loop-turn.ts';
import { withTimeLimit } from '../time-limit.ts';
import type { AskAuthority, ReceivedResponse } from './ask.ts';
import { declined, excerpt, nonsense, toUpstreamError, unexpectedStatus } from './failure.ts';
import { isResponseTo, type PayloadOf, readResponse, toRequest, type UpstreamRequest } from './request.ts';
import { LimitError, RESPONSE_LIMITS, readJson } from './response/json-reader.ts';

/** More than the rate allows at once, because waiting for a connection would use up the deadline. */
const MAX_CONNECTIONS = 64;

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
]);

/** `url` is the base, ".../v1/tp". The timeout covers a whole call, body included. */
export function createEfaClient(options: { url: string; apiKey: string; timeoutMs: number; now: () => Date }): {
  ask: AskAuthority;
  close(): Promise<void>;
} {
  const { apiKey, timeoutMs, now } = options;
  const { origin, pathname } = new URL(options.url);
  const pool = new Pool(origin, { connections: MAX_CONNECTIONS, pipelining: 1, connect: { timeout: timeoutMs } });

  async function send<Asked extends UpstreamRequest>(
    request: Asked,
    signal: AbortSignal,
  ): Promise<ReceivedResponse<PayloadOf<Asked>>> {
    const { endpoint, query } = toRequest(request);
    const response = await pool.request({
      method: 'GET',
      path: `${pathname.replace(/\/$/, '')}/${endpoint}?${new URLSearchParams(query)}`,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'gzip, br',
        ...(apiKey && { authorization: `apikey ${apiKey}` }),
      },
      signal,
    });
    if (response.statusCode !== 200) {
      // When the body cannot be read, the status has to do.
      const body = await readBody(response).catch(() => Buffer.alloc(0));
      throw unexpectedStatus(response.statusCode, response.headers, body.toString(), { now: now(), apiKey });
    }
    const json = await readBody(response);
    // One response in a turn: of several that arrive together each is answered before the next one is read.
    await nextTurn();
    return { payload: await readPayload(json, request, apiKey), json, retrievedAt: now() };
  }

  const ask: AskAuthority = (request, { signal: other } = {}) =>
    withTimeLimit(timeoutMs, (signal) => send(request, signal), { signal: other }).catch((error) => {
      throw error instanceof ApiError ? error : toUpstreamError(error, timeoutMs);
    });

  return { ask, close: () => pool.destroy() };
}

/** The whole body, decoded. The limit holds for the received bytes and for the decoded ones. */
async function readBody({ body, headers }: Dispatcher.ResponseData): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > RESPONSE_LIMITS.bytes) throw nonsense(`the answer is larger than ${RESPONSE_LIMITS.bytes} bytes`);
    chunks.push(chunk);
  }
  const received = Buffer.concat(chunks);
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity' || received.length === 0) return received;

  const createDecoder = DECODERS.get(encoding);
  if (!createDecoder) throw nonsense(`the answer has the unknown content-encoding ${encoding}`);
  try {
    return await pipeThrough(createDecoder(), received, RESPONSE_LIMITS.bytes);
  } catch (error) {
    throw nonsense('the answer could not be unpacked', error);
  }
}

const RECORD_KEYS = ['locations', 'stopEvents', 'journeys'];
const KNOWN_KEYS = ['version', 'systemMessages', ...RECORD_KEYS];

async function readPayload<Asked extends UpstreamRequest>(
  body: Buffer,
  request: Asked,
  apiKey: string,
): Promise<PayloadOf<Asked>> {
  const json = await readJson(body).catch((error) => {
    if (error instanceof LimitError) throw nonsense(error.message);
    throw nonsense(`the answer is not JSON: ${excerpt(body.toString(), apiKey)}`);
  });
  if (typeof json !== 'object' || json === null || !KNOWN_KEYS.some((key) => key in json)) {
    throw nonsense('the answer is JSON of another shape');
  }
  // A response with an error and without records is a failure of upstream, not an empty response.
  if ('error' in json && !RECORD_KEYS.some((key) => key in json)) {
    throw nonsense(`the answer is an error: ${excerpt(JSON.stringify(json.error), apiKey)}`);
  }
  const payload = readResponse(request, json);
  if (!isResponseTo(request, json, payload)) {
    const hasRecords = RECORD_KEYS.some((key) => key in json);
    if (!hasRecords && payload.systemMessages.length > 0) {
      const codes = payload.systemMessages.map(({ code }) => code).join(', ');
      throw declined(`the answer has no records, and messages that are not known: ${excerpt(codes, apiKey)}`);
    }
    throw nonsense(`the answer is not one to this question: it holds ${excerpt(Object.keys(json).join(', '), apiKey)}`);
  }
  return payload;
}

import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import { pipeThrough } from '../compression.ts';
import { ApiError } from '../errors/api-error.ts';
import { createConcurrencyLimit, nextTurn } from '../event-loop-turn.ts';
import { untilAborted, withTimeLimit } from '../time-limit.ts';
import type { AskAuthority, ReceivedResponse } from './ask.ts';
import { declined, excerpt, nonsense, toUpstreamError, unexpectedStatus } from './failure.ts';
import { isResponseTo, type PayloadOf, readResponse, toRequest, type UpstreamRequest } from './request.ts';
import { LimitError, RESPONSE_LIMITS, readJson } from './response/json-reader.ts';

/** More than the rate allows at once, because waiting for a connection would use up the deadline. */
const MAX_CONNECTIONS = 64;

/** Beyond so many bytes, and where they are to be unpacked, few responses are read at once: a large one takes many times its size. */
const SMALL_BYTES = 64_000;
const MAX_LARGE_AT_ONCE = 4;
/** For the clients of all keys. */
const readLarge = createConcurrencyLimit(MAX_LARGE_AT_ONCE);

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
      const body = await readBody(response, signal, async (bytes) => bytes.toString()).catch(() => '');
      throw unexpectedStatus(response.statusCode, response.headers, body, { now: now(), apiKey });
    }
    return await readBody(response, signal, async (json) => {
      // One response in a turn: of several that arrive together each is answered before the next one is read.
      await nextTurn();
      return { payload: await readPayload(json, request, apiKey), json, retrievedAt: now() };
    });
  }

  const ask: AskAuthority = (request, { signal: other } = {}) =>
    withTimeLimit(timeoutMs, (signal) => send(request, signal), { signal: other }).catch((error) => {
      throw error instanceof ApiError ? error : toUpstreamError(error, timeoutMs);
    });

  return { ask, close: () => pool.destroy() };
}

/** Reads the whole body, decoded. The limit holds for the received bytes and for the decoded ones. */
async function readBody<Result>(
  { body, headers }: Dispatcher.ResponseData,
  signal: AbortSignal,
  read: (decoded: Buffer) => Promise<Result>,
): Promise<Result> {
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const received: Buffer[] = [];
  let size = 0;

  /** True when the body has ended. */
  async function receive(most: number): Promise<boolean> {
    while (size <= most) {
      const { done, value } = await chunks.next();
      if (done) return true;
      received.push(value);
      size += value.length;
    }
    return false;
  }

  async function finish(): Promise<Result> {
    signal.throwIfAborted();
    if (!(await receive(RESPONSE_LIMITS.bytes))) {
      body.destroy();
      throw nonsense(`the response is larger than ${RESPONSE_LIMITS.bytes} bytes`);
    }
    const bytes = Buffer.concat(received.splice(0));
    return read(encoding === 'identity' || bytes.length === 0 ? bytes : await decode(bytes, encoding));
  }

  const isSmall = (await receive(SMALL_BYTES)) && encoding === 'identity';
  return isSmall ? finish() : untilAborted(signal, readLarge(finish), () => signal.reason);
}

async function decode(bytes: Buffer, encoding: string): Promise<Buffer> {
  const createDecoder = DECODERS.get(encoding);
  if (!createDecoder) throw nonsense(`the response has the unknown content-encoding ${encoding}`);
  try {
    return await pipeThrough(createDecoder(), bytes, RESPONSE_LIMITS.bytes);
  } catch (error) {
    throw nonsense('the response could not be unpacked', error);
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
    throw nonsense(`the response is not JSON: ${excerpt(body.toString(), apiKey)}`);
  });
  if (typeof json !== 'object' || json === null || !KNOWN_KEYS.some((key) => key in json)) {
    throw nonsense('the response is JSON of another shape');
  }
  // A response with an error and without records is a failure of upstream, not an empty response.
  if ('error' in json && !RECORD_KEYS.some((key) => key in json)) {
    throw nonsense(`the response is an error: ${excerpt(JSON.stringify(json.error), apiKey)}`);
  }
  const payload = readResponse(request, json);
  if (!isResponseTo(request, json, payload)) {
    const hasRecords = RECORD_KEYS.some((key) => key in json);
    if (!hasRecords && payload.systemMessages.length > 0) {
      const codes = payload.systemMessages.map(({ code }) => code).join(', ');
      throw declined(`the response has no records, and messages that are not known: ${excerpt(codes, apiKey)}`);
    }
    throw nonsense(
      `the response is not one to this request: it holds ${excerpt(Object.keys(json).join(', '), apiKey)}`,
    );
  }
  return payload;
}

import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import type { z } from 'zod';
import { ApiError } from '../errors.ts';
import type { Freshness } from '../transit/freshness.ts';
import { excerpt, nonsense, toUpstreamError, unexpectedStatus } from './failure.ts';
import {
  type DepartureMonitorPayload,
  departureMonitorSchema,
  type LocationsPayload,
  locationsSchema,
  type TripPayload,
  tripSchema,
} from './payload.ts';
import {
  type CoordQuestion,
  type DepartureMonitorQuestion,
  type EfaRequest,
  type StopFinderQuestion,
  type TripQuestion,
  toCoordRequest,
  toDepartureMonitorRequest,
  toStopFinderRequest,
  toTripRequest,
} from './request.ts';

/** What upstream answered, and when. */
export interface EfaAnswer<Payload> {
  payload: Payload;
  retrievedAt: Date;
  /** Only of a client that keeps answers. */
  freshness?: Freshness;
}

/** On whose behalf a question is asked: the caller's plan, or nobody's who waits for it. */
export type Priority = 'background' | 'free' | 'developer' | 'pro';

/** For a client that has to choose: who asks (`free` unless given), and for how long they will wait. */
export interface AskOptions {
  priority?: Priority;
  signal?: AbortSignal;
}

/** The authority's four questions. Every method throws `ApiError` (502, 503, 504) and nothing else. */
export interface EfaClient {
  departureMonitor(
    question: DepartureMonitorQuestion,
    options?: AskOptions,
  ): Promise<EfaAnswer<DepartureMonitorPayload>>;
  coordSearch(question: CoordQuestion, options?: AskOptions): Promise<EfaAnswer<LocationsPayload>>;
  stopFinder(question: StopFinderQuestion, options?: AskOptions): Promise<EfaAnswer<LocationsPayload>>;
  tripPlan(question: TripQuestion, options?: AskOptions): Promise<EfaAnswer<TripPayload>>;
}

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** More than the rate allows to be under way: waiting for a connection would count against the deadline. */
const MAX_CONNECTIONS = 64;

const DECODERS: ReadonlyMap<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = new Map([
  ['gzip', promisify(gunzip)],
  ['br', promisify(brotliDecompress)],
  ['deflate', promisify(inflate)],
]);

/** `url` is the base, ".../v1/tp"; several keys are used in turn. The timeout covers a whole call, body included. */
export function createEfaClient(options: {
  url: string;
  apiKeys: readonly string[];
  timeoutMs: number;
  now: () => Date;
}): EfaClient & { close(): Promise<void> } {
  const { origin, pathname } = new URL(options.url);
  const pool = new Pool(origin, {
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    connect: { timeout: options.timeoutMs },
  });
  let calls = 0;

  async function ask<Payload>(
    request: EfaRequest,
    schema: z.ZodType<Payload>,
    { signal }: AskOptions = {},
  ): Promise<EfaAnswer<Payload>> {
    const apiKey = options.apiKeys[calls++ % options.apiKeys.length];
    try {
      const answer = await pool.request({
        method: 'GET',
        path: `${pathname.replace(/\/$/, '')}/${request.endpoint}?${new URLSearchParams(request.query)}`,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'gzip, br',
          ...(apiKey && { authorization: `apikey ${apiKey}` }),
        },
        signal: AbortSignal.any([AbortSignal.timeout(options.timeoutMs), ...(signal ? [signal] : [])]),
      });
      if (answer.statusCode !== 200) {
        // The status says enough when the body cannot be read.
        const body = await readBody(answer).catch(() => '');
        throw unexpectedStatus(answer.statusCode, answer.headers, body, { now: options.now(), apiKey });
      }
      const body = await readBody(answer);
      return { payload: readPayload(body, schema, apiKey), retrievedAt: options.now() };
    } catch (error) {
      throw error instanceof ApiError ? error : toUpstreamError(error, options.timeoutMs);
    }
  }

  return {
    departureMonitor: (question, manner) =>
      ask(toDepartureMonitorRequest(question, options.now()), departureMonitorSchema, manner),
    coordSearch: (question, manner) => ask(toCoordRequest(question), locationsSchema, manner),
    stopFinder: (question, manner) => ask(toStopFinderRequest(question), locationsSchema, manner),
    tripPlan: (question, manner) => ask(toTripRequest(question), tripSchema, manner),
    close: () => pool.destroy(),
  };
}

/** The whole body, decoded. The limit holds for what travels and for what it unpacks to. */
async function readBody({ body, headers }: Dispatcher.ResponseData): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw nonsense(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const received = Buffer.concat(chunks);
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity' || received.length === 0) return toText(received);

  const decode = DECODERS.get(encoding);
  if (!decode) throw nonsense(`the answer has the unknown content-encoding ${encoding}`);
  try {
    return toText(await decode(received, { maxOutputLength: MAX_ANSWER_BYTES }));
  } catch (error) {
    throw nonsense('the answer could not be unpacked', error);
  }
}

/** UTF-8, with or without a byte order mark. */
function toText(body: Buffer): string {
  return new TextDecoder().decode(body);
}

const RECORD_KEYS = ['locations', 'stopEvents', 'journeys'];
const KNOWN_KEYS = ['version', 'systemMessages', ...RECORD_KEYS];

function readPayload<Payload>(body: string, schema: z.ZodType<Payload>, apiKey: string | undefined): Payload {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw nonsense(`the answer is not JSON: ${excerpt(body, apiKey)}`);
  }
  if (typeof json !== 'object' || json === null || !KNOWN_KEYS.some((key) => key in json)) {
    throw nonsense('the answer is JSON of another shape');
  }
  // Without records and with an error it is not an empty answer: the authority itself failed.
  if ('error' in json && !RECORD_KEYS.some((key) => key in json)) {
    throw nonsense(`the answer is an error: ${excerpt(JSON.stringify(json.error), apiKey)}`);
  }
  const payload = schema.safeParse(json);
  if (!payload.success) throw nonsense('the answer has lists that are none', payload.error);
  return payload.data;
}

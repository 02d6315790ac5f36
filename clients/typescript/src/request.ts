export interface TransitOptions {
  /** The address of the service: `https://transit.example.org`. */
  url: string;
  /** An API key, in a page a publishable key or token. A function is called before each attempt, for tokens that expire. */
  key: string | (() => string | Promise<string>);
  /** Further attempts after a failed one. Default: 3. */
  retries?: number;
  /** The longest wait before another attempt. If `Retry-After` is longer, the request fails at once. Default: 60,000. */
  maxWaitMs?: number;
  /** Time limit for one attempt. Default: 15,000. */
  timeoutMs?: number;
  /** Receives each successful response, for headers such as `X-Notice` and `RateLimit`. Its body is read already. */
  onResponse?: (response: Response) => void;
}

export interface RequestOptions {
  /** When it aborts, the request throws its reason. */
  signal?: AbortSignal;
}

/** The body of an error. */
export interface Message {
  error: { code: string; message: string; docs?: string };
}

/** A request that failed after all attempts, or that no further attempt can help. */
export class TransitError extends Error {
  override readonly name = 'TransitError';
  /** The service's error code, `NO_CONNECTION`, or `UNKNOWN_RESPONSE` for one of something else, such as a proxy. */
  readonly code: string;
  /** HTTP status; 0 without a response, and when a stream ends. */
  readonly status: number;
  /** The page of the error code; null if there is none. */
  readonly docs: string | null;
  /** `X-Request-Id`, for a report to the operator; null if there is none. */
  readonly requestId: string | null;
  /** Seconds to wait, from `Retry-After`; null if there is none. */
  readonly retryAfter: number | null;
  /** Whether the same request can succeed later. */
  readonly isTemporary: boolean;

  constructor(error: Message['error'], { response, isTemporary, cause }: Failure) {
    super(error.message, { cause });
    this.code = error.code;
    this.docs = error.docs ?? null;
    this.status = response?.status ?? 0;
    this.requestId = response?.headers.get('x-request-id') ?? null;
    const retryAfter = response?.headers.get('retry-after') ?? null;
    this.retryAfter = retryAfter === null || Number.isNaN(Number(retryAfter)) ? null : Number(retryAfter);
    this.isTemporary = isTemporary;
  }
}

interface Failure {
  response?: Response;
  isTemporary: boolean;
  cause?: unknown;
}

/** Latest responses kept for `If-None-Match`: a 304 from the service's cache is not counted. */
const MAX_KEPT = 50;
/** Without a `Retry-After`. */
const FIRST_WAIT_SECONDS = 5;

export interface Sender {
  /** Sends a request until it succeeds or may not be repeated. */
  send(path: string, options?: RequestOptions & { body?: unknown }): Promise<{ body: unknown; headers: Headers }>;
  /** Sends one request for a stream. The caller reads its body. */
  open(path: string, lastEventId: string, signal: AbortSignal): Promise<Response>;
  /** Waits before the next attempt, as long as `Retry-After` says. `failures` is the number of earlier ones in a row. */
  wait(after: { error: TransitError; failures: number; signal: AbortSignal | undefined }): Promise<void>;
}

export function createSender(options: TransitOptions): Sender {
  const { key, retries = 3, maxWaitMs = 60_000, timeoutMs = 15_000, onResponse } = options;
  const base = new URL(options.url).href.replace(/\/$/, '');
  /** By path, oldest first. */
  const kept = new Map<string, { etag: string; text: string }>();

  async function headersFor(others: Record<string, string>): Promise<Headers> {
    return new Headers({ authorization: `Bearer ${typeof key === 'string' ? key : await key()}`, ...others });
  }

  async function attempt(path: string, body: unknown, signal: AbortSignal | undefined) {
    const known = kept.get(path);
    const headers = await headersFor({
      ...(known && { 'if-none-match': known.etag }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    });
    const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
    const deadline = createDeadline(signal);
    deadline.start(timeoutMs);
    try {
      const response = await fetch(base + path, { ...init, signal: deadline.signal });
      const received = await response.text();
      const text = response.status === 304 && known ? known.text : received;
      const parsed = parse(text, response);
      const etag = response.headers.get('etag');
      if (etag && body === undefined) keep(path, { etag, text });
      return { response, parsed };
    } catch (error) {
      throw signal?.aborted ? signal.reason : toTransitError(error);
    } finally {
      deadline.end();
    }
  }

  function keep(path: string, one: { etag: string; text: string }): void {
    kept.delete(path);
    kept.set(path, one);
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT) return;
      kept.delete(oldest);
    }
  }

  /** Milliseconds. Without jitter, clients that failed together would return together. */
  function waitMs({ status, retryAfter }: TransitError, failures: number): number {
    const firstMs = (retryAfter ?? FIRST_WAIT_SECONDS) * 1000;
    // A 429 says when its limit resets; other failures can last.
    const laterMs = status === 429 ? 0 : Math.min(firstMs * 2 ** failures, maxWaitMs);
    return Math.max(retryAfter === null ? 0 : firstMs, laterMs) * (1 + Math.random() / 10);
  }

  return {
    wait: ({ error, failures, signal }) => sleep(waitMs(error, failures), signal),
    async send(path, { body, signal } = {}) {
      for (let failures = 0; ; failures++) {
        try {
          const { response, parsed } = await attempt(path, body, signal);
          onResponse?.(response);
          return { body: parsed, headers: response.headers };
        } catch (error) {
          if (!(error instanceof TransitError) || !error.isTemporary || failures >= retries) throw error;
          if ((error.retryAfter ?? 0) * 1000 > maxWaitMs) throw error;
          await sleep(waitMs(error, failures), signal);
        }
      }
    },
    async open(path, lastEventId, signal) {
      const headers = await headersFor(lastEventId ? { 'last-event-id': lastEventId } : {});
      try {
        const response = await fetch(base + path, { headers, signal });
        if (!response.ok) parse(await response.text(), response);
        return response;
      } catch (error) {
        throw toTransitError(error);
      }
    },
  };
}

/** The response's body. Throws if it is an error, or not from the service. */
function parse(text: string, response: Response): unknown {
  const { status } = response;
  const body = parseJson(text);
  if (status < 400 && body !== undefined) return body;
  const { error } = (body ?? {}) as Partial<Message>;
  const unknown = { code: 'UNKNOWN_RESPONSE', message: `This response is not from the service (status ${status}).` };
  const isTemporary = status < 400 || status === 408 || status === 429 || status >= 500;
  throw new TransitError(error?.code ? error : unknown, { response, isTemporary });
}

/** Undefined if it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Every other failure of `fetch` is one of the connection. */
export function toTransitError(cause: unknown): TransitError {
  if (cause instanceof TransitError) return cause;
  const error = { code: 'NO_CONNECTION', message: 'The service did not respond.' };
  return new TransitError(error, { isTemporary: true, cause });
}

/** A signal that aborts with another one, or after the time last started. */
export function createDeadline(signal: AbortSignal | undefined) {
  const aborter = new AbortController();
  const abort = () => aborter.abort(signal?.reason);
  let timer: ReturnType<typeof setTimeout> | undefined;
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  const stop = () => clearTimeout(timer);
  return {
    signal: aborter.signal,
    start(ms: number): void {
      stop();
      timer = setTimeout(abort, ms);
    },
    stop,
    /** Aborts what is still running. */
    end(): void {
      stop();
      signal?.removeEventListener('abort', abort);
      abort();
    },
  };
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

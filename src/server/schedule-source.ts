import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import { outcomeOf } from '../efa/failure.ts';
import { BrokenDownload, UpstreamHttp } from '../efa/upstream-http.ts';
import { ApiError } from '../errors/api-error.ts';
import { FailedDownload, type ScheduleSource } from '../timetable/update/download.ts';
import { baseOf } from './upstream-source.ts';

const CONNECT_MS = 10 * SECOND_MS;
const HEAD_MS = 15 * SECOND_MS;
/** The time limit of a download. The largest file has 286 MB; the buses file has 99 MB. */
const DOWNLOAD_MS = 15 * MINUTE_MS;
const MAX_ZIP_BYTES = 800e6;
/** The pause before another attempt when the budget has no call or upstream refuses one; both may change in seconds. */
const BUDGET_WAIT_MS = 5 * SECOND_MS;
const BUDGET_ATTEMPTS = 6;

/** Takes a call from the budget; `key` is an index into the upstream keys. */
export type CallForFile = <Result>(call: (key: number) => Promise<Result>) => Promise<Result>;

/** Downloads upstream's schedule files. For a known file it sends HEAD first, then a conditional GET. */
export function openScheduleSource(options: {
  /** URL of the trip planner. */
  url: string;
  apiKeys: readonly string[];
  proxyUrl: string | null;
  callForFeed: CallForFile;
  now: () => number;
  downloadMs?: number;
  maxBytes?: number;
}): ScheduleSource & { close(): Promise<void> } {
  const { url, apiKeys, proxyUrl, callForFeed, now, downloadMs = DOWNLOAD_MS, maxBytes = MAX_ZIP_BYTES } = options;
  const http = new UpstreamHttp({
    url: baseOf(url),
    connections: 1,
    connectTimeoutMs: CONNECT_MS,
    proxyUrl,
    headers: { accept: 'application/zip, application/octet-stream, */*' },
    maxBytes,
    now,
  });

  async function call<Result>(make: (apiKey: string) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await callForFeed((key) => make(apiKeys[key] ?? ''));
      } catch (error) {
        if (!isShort(error) || attempt === BUDGET_ATTEMPTS) throw error;
        await sleep(BUDGET_WAIT_MS);
      }
    }
  }

  return {
    async fetch(path, file, knownVersion) {
      // A file that came from a folder has a version that is not an HTTP date.
      const ifModifiedSince = knownVersion?.endsWith(' GMT') ? knownVersion : null;
      try {
        if (ifModifiedSince) {
          const head = (apiKey: string) => http.head(path, { apiKey, timeoutMs: Math.min(HEAD_MS, downloadMs) });
          const headers = await call(head).catch(() => null);
          if (headers?.['last-modified'] === ifModifiedSince) return null;
        }
        const get = (apiKey: string) => http.download(path, { apiKey, timeoutMs: downloadMs, ifModifiedSince }, file);
        // Try once more: a download breaks off if upstream replaces the file.
        const headers = await call(get).catch((error) => {
          if (error instanceof BrokenDownload) return call(get);
          throw error;
        });
        return headers && { lastModified: headers['last-modified'] ?? null };
      } catch (error) {
        throw await toFailedDownload(error, file);
      }
    },
    close: () => http.close(),
  };
}

/** Whether the budget had no call left, or upstream refused it because of the rate or quota. */
function isShort(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.isBudgetExhausted || outcomeOf(error) === 'rate-limited');
}

/**
 * Converts an error to `FailedDownload`. The message is that of the upstream failure; it never contains the key. Rethrows unexpected
 * errors.
 */
async function toFailedDownload(error: unknown, file: string): Promise<FailedDownload> {
  const { message, name, code, cause } = error as NodeJS.ErrnoException;
  if (error instanceof ApiError) {
    const isRefused = outcomeOf(error) === 'key-refused';
    const failure = isShort(error) ? 'no-calls' : isRefused ? 'key-refused' : 'unusable';
    return new FailedDownload(failure, cause instanceof Error ? cause.message : message, error);
  }
  if (error instanceof BrokenDownload) return new FailedDownload('unusable', message, error);
  const receivedBytes = (await stat(file).catch(() => null))?.size ?? 0;
  if (receivedBytes > 0)
    return new FailedDownload('unusable', `stopped after ${receivedBytes} bytes: ${message}`, error);
  if (name === 'TimeoutError' || code) return new FailedDownload('unreachable', message, error);
  throw error;
}

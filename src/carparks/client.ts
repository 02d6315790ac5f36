import { SECOND_MS } from '../core/clock.ts';
import { UpstreamStatusError } from '../efa/failure.ts';
import { type ChargedCalls, ChargedHttp } from '../efa/upstream-http.ts';
import { ApiError } from '../errors/api-error.ts';
import { type FacilityReport, parseFacilityList, parseReport } from './facility.ts';

/**
 * Why a call has no result. `not enabled`: the key may not use the product; `gone`: there is no such car park; `refused`: too
 * many calls; `busy`: our own budget has none left; `away`: no response; `unusable`: unexpected status or body.
 */
export type CarParkFailure = 'not enabled' | 'gone' | 'refused' | 'busy' | 'away' | 'unusable';

/** A call without a result. The message never contains the key. */
export class FailedCall extends Error {
  override readonly name = 'FailedCall';
  readonly failure: CarParkFailure;
  /** How long upstream refuses calls; null if it gives no time. */
  readonly pauseMs: number | null;

  constructor(
    failure: CarParkFailure,
    message: string,
    { cause, pauseMs = null }: { cause?: unknown; pauseMs?: number | null } = {},
  ) {
    super(message, { cause });
    this.failure = failure;
    this.pauseMs = pauseMs;
  }
}

export const CAR_PARK_PATH = '/v1/carpark';
export const facilityPath = (id: string) => `${CAR_PARK_PATH}?facility=${encodeURIComponent(id)}`;

const MAX_BYTES = 1024 * 1024;
const CONNECTIONS = 4;

/** Fetches car parks from upstream. They are a product with its own quota. Throws only `FailedCall`. */
export class CarParkClient {
  readonly #http: ChargedHttp;

  constructor(calls: ChargedCalls) {
    const headers = { accept: 'application/json', 'accept-encoding': 'gzip' };
    this.#http = new ChargedHttp(calls, { connections: CONNECTIONS, headers, maxBytes: MAX_BYTES });
  }

  /** Resolves to the name of each car park by its ID. */
  fetchList(): Promise<Map<string, string>> {
    return this.#fetch(CAR_PARK_PATH, parseFacilityList);
  }

  fetchReport(id: string): Promise<FacilityReport> {
    return this.#fetch(facilityPath(id), (json) => parseReport(id, json));
  }

  async #fetch<Result>(path: string, parse: (json: unknown) => Result | null): Promise<Result> {
    try {
      // Converted before the budget sees it: a used-up quota of this product must not stop the calls for boards.
      return await this.#http.get(path, 'background', async (body) => parseBody(body, parse), toFailedCall);
    } catch (error) {
      throw toFailedCall(error);
    }
  }

  close(): Promise<void> {
    return this.#http.close();
  }
}

function parseBody<Result>(body: Buffer, parse: (json: unknown) => Result | null): Result {
  let json: unknown;
  try {
    json = JSON.parse(body.toString());
  } catch {
    throw new FailedCall('unusable', 'the response is not JSON');
  }
  const result = parse(json);
  if (result === null) throw new FailedCall('unusable', 'the response has another form');
  return result;
}

function toFailedCall(error: unknown): FailedCall {
  if (error instanceof FailedCall) return error;
  const { message, cause } = error as Error;
  if (cause instanceof UpstreamStatusError) {
    const { status, pauseSeconds } = cause;
    if (pauseSeconds !== null) {
      return new FailedCall('refused', cause.message, { cause: error, pauseMs: pauseSeconds * SECOND_MS });
    }
    if (status === 401 || status === 403) return new FailedCall('not enabled', cause.message, { cause: error });
    return new FailedCall(status === 404 ? 'gone' : 'unusable', cause.message, { cause: error });
  }
  // The budget refuses calls with this code.
  if (error instanceof ApiError && error.code === 'UPSTREAM_UNAVAILABLE')
    return new FailedCall('busy', message, { cause: error });
  if (error instanceof ApiError)
    return new FailedCall('unusable', String((cause as Error)?.message ?? message), { cause: error });
  return new FailedCall('away', message, { cause: error });
}

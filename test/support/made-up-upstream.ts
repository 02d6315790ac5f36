import { type Clock, sleep } from '#src/core/clock.ts';
import { UpstreamStatusError } from '#src/efa/failure.ts';
import type { CallUpstream } from '#src/efa/query-upstream.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { receivedResponse } from '#test/support/received-response.ts';

/** An upstream without a network: tests choose its behaviour, and it records when it was called. */
export interface MadeUpUpstream {
  callUpstream: CallUpstream;
  /** The times of all calls so far. */
  calls: number[];
  latencyMs: number;
  /** Makes the outcome of each call after the latency; by default a board with the number of the call. */
  outcome: (request: object) => unknown;
}

/** The real client has its own deadline too. */
const TIMEOUT_MS = 8000;

export function createMadeUpUpstream(clock: Clock, latencyMs = 200): MadeUpUpstream {
  const callUpstream: CallUpstream = async (request) => {
    upstream.calls.push(clock.now());
    const number = upstream.calls.length;
    if (upstream.latencyMs > 0) await sleep(clock, Math.min(upstream.latencyMs, TIMEOUT_MS));
    if (upstream.latencyMs > TIMEOUT_MS) throw timeoutFailure();
    const outcome = upstream.outcome(request);
    if (outcome instanceof Error) throw outcome;
    return receivedResponse(request, outcome ?? { stopEvents: [{ number }] }, new Date(clock.now()));
  };
  const upstream: MadeUpUpstream = {
    calls: [],
    latencyMs,
    outcome: () => undefined,
    callUpstream,
  };
  return upstream;
}

/** A failure with the gateway's own status. */
export function statusFailure(status: number, pauseSeconds: number | null = null): ApiError {
  const cause = new UpstreamStatusError(status, `upstream answered ${status}`, pauseSeconds);
  return new ApiError(pauseSeconds === null ? 'UPSTREAM_ERROR' : 'UPSTREAM_UNAVAILABLE', 'no', { cause });
}

export function timeoutFailure(): ApiError {
  return new ApiError('UPSTREAM_TIMEOUT', 'no response');
}

export function connectionLost(): ApiError {
  const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  return new ApiError('UPSTREAM_ERROR', 'no connection', { cause });
}

/** A log that only the test reads. */
export function createTestLog() {
  const lines: { level: string; message: string }[] = [];
  const write = (level: string) => (_fields: object, message: string) => void lines.push({ level, message });
  return { lines, info: write('info'), warn: write('warn'), error: write('error') };
}

import type { EfaAnswer, EfaClient } from '#src/efa/client.ts';
import { UpstreamStatusError } from '#src/efa/failure.ts';
import { ApiError } from '#src/errors.ts';
import { type Clock, sleep } from '#src/upstream/clock.ts';

/** An authority without a network: what it does is chosen, when it was asked is remembered. */
export interface MadeUpClient extends EfaClient {
  /** Moment of every call so far. */
  calls: number[];
  latencyMs: number;
  /** What each call comes to, after the latency; by default an answer with the number of the call. */
  outcome: (question: object) => unknown;
}

/** As the real client, it gives up by itself. */
const TIMEOUT_MS = 8000;

export function createMadeUpClient(clock: Clock, latencyMs = 200): MadeUpClient {
  async function ask(question: object): Promise<EfaAnswer<never>> {
    client.calls.push(clock.now());
    const number = client.calls.length;
    if (client.latencyMs > 0) await sleep(clock, Math.min(client.latencyMs, TIMEOUT_MS));
    if (client.latencyMs > TIMEOUT_MS) throw timeoutFailure();
    const outcome = client.outcome(question);
    if (outcome instanceof Error) throw outcome;
    const payload = outcome ?? { systemMessages: [], locations: [], stopEvents: [], journeys: [], number };
    return { payload: payload as never, retrievedAt: new Date(clock.now()) };
  }
  const client: MadeUpClient = {
    calls: [],
    latencyMs,
    outcome: () => undefined,
    departureMonitor: ask,
    coordSearch: ask,
    stopFinder: ask,
    tripPlan: ask,
  };
  return client;
}

/** The gateway answered with a status of its own. */
export function statusFailure(status: number, pauseSeconds: number | null = null): ApiError {
  const cause = new UpstreamStatusError(status, `upstream answered ${status}`, pauseSeconds);
  return new ApiError(pauseSeconds === null ? 'UPSTREAM_ERROR' : 'UPSTREAM_UNAVAILABLE', 'no', { cause });
}

export function timeoutFailure(): ApiError {
  return new ApiError('UPSTREAM_TIMEOUT', 'no answer');
}

export function connectionLost(): ApiError {
  const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  return new ApiError('UPSTREAM_ERROR', 'no connection', { cause });
}

/** A log that nobody reads but the test. */
export function createTestLog() {
  const lines: { level: string; message: string }[] = [];
  const write = (level: string) => (_fields: object, message: string) => void lines.push({ level, message });
  return { lines, info: write('info'), warn: write('warn'), error: write('error') };
}

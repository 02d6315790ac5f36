import type { Ask } from '../efa/ask.ts';
import { ApiError } from '../errors/api-error.ts';
import { checkStop, type Verdicts } from './verdict.ts';

/** Checks stops in the background, so that the next answer knows more of them. */
export interface CheckQueue {
  /** Ignores stops that are in the queue already, and all stops while it is full. */
  add(stopIds: readonly string[]): void;
  close(): void;
}

const MAX_STOPS = 1000;
const PAUSE_MS = 1000;
/** The pause after a check that failed, or for which there was no call. */
const PAUSE_AFTER_FAILURE_MS = 30_000;

/**
 * Makes one check at a time, with a pause before each. The budget refuses background calls unless there are calls to
 * spare.
 */
export function createCheckQueue(options: {
  ask: Ask;
  verdicts: Verdicts;
  now: () => Date;
  sleep: (ms: number) => Promise<unknown>;
  log: { error(fields: object, message: string): void };
}): CheckQueue {
  const { ask, verdicts, now, sleep, log } = options;
  const stops = new Set<string>();
  let isWorking = false;
  let isClosed = false;

  async function work(): Promise<void> {
    isWorking = true;
    for (let pauseMs = PAUSE_MS; stops.size > 0; ) {
      await sleep(pauseMs);
      const [stopId] = stops;
      if (stopId === undefined) break;
      const failure = await check(stopId);
      pauseMs = failure ? PAUSE_AFTER_FAILURE_MS : PAUSE_MS;
      // Without a call to spare the stop stays. After a failure it goes, or it could be asked about for ever.
      if (failure?.code !== 'UPSTREAM_UNAVAILABLE') stops.delete(stopId);
    }
    isWorking = false;
  }

  /** Why the authority could not be asked; null when it was. */
  async function check(stopId: string): Promise<ApiError | null> {
    let failure: ApiError | null = null;
    const askInBackground: Ask = async (request) => {
      try {
        return await ask(request, { priority: 'background' });
      } catch (error) {
        if (error instanceof ApiError) failure = error;
        throw error;
      }
    };
    try {
      await verdicts.load([stopId]);
      await checkStop(askInBackground, verdicts, stopId, now());
    } catch (error) {
      log.error({ err: error }, 'the check of a stop failed');
    }
    return failure;
  }

  return {
    add(stopIds) {
      if (isClosed) return;
      for (const stopId of stopIds) if (stops.size < MAX_STOPS) stops.add(stopId);
      if (!isWorking && stops.size > 0) work();
    },
    close() {
      isClosed = true;
      stops.clear();
    },
  };
}

import type { Ask } from '../efa/ask.ts';
import { ApiError } from '../errors/api-error.ts';
import { checkStop, type Verdicts } from './verdict.ts';

/** Checks stops in the background, so that the next response knows more of them. */
export interface CheckQueue {
  /** For these accounts. Ignores stops that are in the queue already, and all stops while it is full. */
  add(stopIds: readonly string[], accounts?: ReadonlySet<string>): void;
  close(): void;
}

const MAX_STOPS = 1000;
const PAUSE_MS = 1000;
/** The pause after a check that failed, or for which there was no call. */
const PAUSE_AFTER_FAILURE_MS = 30_000;

/**
 * Makes one check at a time, with a pause before each. The budget refuses background calls unless there are calls to
 * spare, and stops whose accounts have caused as many calls as they paid for are not checked: nobody pays for a check that
 * nobody waits for.
 */
export function createCheckQueue(options: {
  ask: Ask;
  verdicts: Verdicts;
  /** Whether calls of the accounts would have to be paid by them. */
  isCharged?: (accounts: ReadonlySet<string>) => boolean;
  now: () => Date;
  sleep: (ms: number) => Promise<unknown>;
  log: { error(fields: object, message: string): void };
}): CheckQueue {
  const { ask, verdicts, isCharged = () => false, now, sleep, log } = options;
  /** The accounts for which each stop is checked. */
  const stops = new Map<string, ReadonlySet<string>>();
  let isWorking = false;
  let isClosed = false;

  async function work(): Promise<void> {
    isWorking = true;
    for (let pauseMs = PAUSE_MS; stops.size > 0; ) {
      await sleep(pauseMs);
      const [next] = stops;
      if (next === undefined) break;
      const [stopId, accounts] = next;
      if (isCharged(accounts)) {
        stops.delete(stopId);
        continue;
      }
      const failure = await check(stopId, accounts);
      pauseMs = failure ? PAUSE_AFTER_FAILURE_MS : PAUSE_MS;
      // Without a call to spare the stop stays. After a failure it goes, or it could be asked about for ever.
      if (failure?.code !== 'UPSTREAM_UNAVAILABLE') stops.delete(stopId);
    }
    isWorking = false;
  }

  /** Why upstream could not be asked; null when it was. */
  async function check(stopId: string, accounts: ReadonlySet<string>): Promise<ApiError | null> {
    let failure: ApiError | null = null;
    const askInBackground: Ask = async (request) => {
      try {
        return await ask(request, { priority: 'background', accounts });
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
    add(stopIds, accounts = new Set()) {
      if (isClosed) return;
      for (const stopId of stopIds) if (stops.size < MAX_STOPS && !stops.has(stopId)) stops.set(stopId, accounts);
      if (!isWorking && stops.size > 0) work();
    },
    close() {
      isClosed = true;
      stops.clear();
    },
  };
}

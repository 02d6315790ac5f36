import type { Ask } from '../efa/ask.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Log } from '../log.ts';

const MAX_STOPS = 1000;
const PAUSE_MS = 1000;
/** The pause after a check that failed, or for which there was no call. */
const PAUSE_AFTER_FAILURE_MS = 30_000;

/**
 * Checks stops in the background, so that the next response knows more of them: one at a time, with a pause before each.
 * The budget refuses background calls unless there are calls to spare, and stops whose accounts have caused as many calls
 * as they paid for are not checked: nobody pays for a check that nobody waits for.
 */
export class CheckQueue {
  readonly #options;
  /** The accounts for which each stop is checked. */
  readonly #stops = new Map<string, ReadonlySet<string>>();
  #isWorking = false;
  #isClosed = false;

  constructor(options: {
    ask: Ask;
    /** Asks upstream about a stop. */
    check: (ask: Ask, stopId: string) => Promise<unknown>;
    /** Says whether calls of the accounts would have to be paid by them. */
    isCharged?: (accounts: ReadonlySet<string>) => boolean;
    sleep: (ms: number) => Promise<unknown>;
    log: Log<'error'>;
  }) {
    this.#options = options;
  }

  /** Adds stops for these accounts, but for those that are in the queue already; none while the queue is full. */
  add(stopIds: readonly string[], accounts: ReadonlySet<string> = new Set()): void {
    if (this.#isClosed) return;
    for (const stopId of stopIds) {
      if (this.#stops.size < MAX_STOPS && !this.#stops.has(stopId)) this.#stops.set(stopId, accounts);
    }
    if (!this.#isWorking && this.#stops.size > 0) void this.#work();
  }

  close(): void {
    this.#isClosed = true;
    this.#stops.clear();
  }

  async #work(): Promise<void> {
    const { isCharged, sleep } = this.#options;
    this.#isWorking = true;
    for (let pauseMs = PAUSE_MS; this.#stops.size > 0; ) {
      await sleep(pauseMs);
      const [next] = this.#stops;
      if (next === undefined) break;
      const [stopId, accounts] = next;
      if (isCharged?.(accounts)) {
        this.#stops.delete(stopId);
        continue;
      }
      const failure = await this.#check(stopId, accounts);
      pauseMs = failure ? PAUSE_AFTER_FAILURE_MS : PAUSE_MS;
      // Without a call to spare the stop stays. After a failure it goes, or it could be asked about for ever.
      if (failure?.code !== 'UPSTREAM_UNAVAILABLE') this.#stops.delete(stopId);
    }
    this.#isWorking = false;
  }

  /** Returns why upstream could not be asked; null when it was. */
  async #check(stopId: string, accounts: ReadonlySet<string>): Promise<ApiError | null> {
    const { ask, check, log } = this.#options;
    let failure: ApiError | null = null;
    const askInBackground: Ask = (request) =>
      ask(request, { priority: 'background', accounts }).catch((error) => {
        if (error instanceof ApiError) failure = error;
        throw error;
      });
    try {
      await check(askInBackground, stopId);
    } catch (error) {
      log.error({ err: error }, 'the check of a stop failed');
    }
    return failure;
  }
}

import type { Worker } from 'node:worker_threads';
import { SECOND_MS } from '../core/clock.ts';
import { hasLittleMemory } from '../core/memory-limit.ts';
import { ApiError } from '../errors/api-error.ts';
import { serviceUnavailable } from '../errors/messages.ts';
import type { Timetable } from '../timetable/timetable.ts';
import { type EngineOptions, JourneyEngine } from './engine.ts';

/** How long the engine of a replaced timetable stays: a request may first wait for feeds, and then for its search. */
const REPLACED_MS = 10 * SECOND_MS;

/** The cause of an error after which the same places can be searched again. */
const REPLACED = 'the timetable of the request has been replaced';

/**
 * The engine of the timetable in use. While that is replaced, the next one has an engine too, and each request searches the timetable
 * with which it began. So no search waits for new threads, which take seconds to start on a busy machine. Little memory has no room
 * for both: the thread of the old timetable goes over to the new one, which takes a fraction of a second because its code is
 * compiled, and searches begin again there (see `withNewestTimetable`).
 */
export class JourneyEngines {
  readonly #options: EngineOptions;
  readonly #hasLittleMemory: boolean;
  readonly #engines = new Map<Timetable, JourneyEngine>();
  #isClosed = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#hasLittleMemory = hasLittleMemory(options.memoryLimit);
  }

  /** Starts the threads of a timetable that comes into use, if there is room. Resolves when they search fast. */
  async prepare(timetable: Timetable): Promise<void> {
    if (this.#engines.size === 0 || !this.#hasLittleMemory) await this.#open(timetable);
  }

  /**
   * Ends the threads of all other timetables once their requests are over. With little memory, has them search this one instead.
   */
  use(timetable: Timetable): void {
    const inherited: Worker[] = [];
    for (const [other, engine] of this.#engines) {
      if (other === timetable) continue;
      const end = () => {
        this.#engines.delete(other);
        void engine.close(REPLACED);
      };
      if (!this.#hasLittleMemory) setTimeout(end, REPLACED_MS).unref();
      else if (this.#engines.delete(other)) inherited.push(...engine.release(REPLACED));
    }
    void this.#open(timetable, inherited);
  }

  async #open(timetable: Timetable, inherited: Worker[] = []): Promise<void> {
    if (this.#isClosed) return;
    const engine = this.#engines.get(timetable) ?? new JourneyEngine(timetable, this.#options, inherited);
    this.#engines.set(timetable, engine);
    await engine.prepared;
  }

  /** Throws `SERVICE_UNAVAILABLE` if the timetable has been replaced. */
  get(timetable: Timetable): JourneyEngine {
    const engine = this.#engines.get(timetable);
    if (!engine) throw serviceUnavailable(REPLACED);
    return engine;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#engines.values()].map((engine) => engine.close()));
  }
}

/**
 * Runs a search. Repeats it, with its places looked up again, if the timetable was replaced meanwhile: stops have new numbers.
 */
export async function withNewestTimetable<Found>(search: () => Promise<Found>): Promise<Found> {
  try {
    return await search();
  } catch (err) {
    if (!(err instanceof ApiError) || err.cause !== REPLACED) throw err;
    return search();
  }
}

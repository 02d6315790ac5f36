import { SECOND_MS } from '../core/clock.ts';
import { hasLittleMemory } from '../core/memory-limit.ts';
import { shrinkCaches } from '../core/own-memory.ts';
import { serviceUnavailable } from '../errors/messages.ts';
import type { Timetable } from '../timetable/timetable.ts';
import { type EngineOptions, JourneyEngine } from './engine.ts';

/** How long the engine of a replaced timetable stays: a request may first wait for feeds, and then for its search. */
const REPLACED_MS = 10 * SECOND_MS;

/**
 * The engine of the timetable in use. While that is replaced, the next one has an engine too, and each request searches the timetable
 * with which it began. So no search waits for new threads, which take seconds to start on a busy machine.
 */
export class JourneyEngines {
  readonly #options: EngineOptions;
  readonly #engines = new Map<Timetable, JourneyEngine>();
  #isClosed = false;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** Starts the threads of a timetable that comes into use. Resolves when it can be searched. */
  async prepare(timetable: Timetable): Promise<void> {
    if (this.#isClosed) return;
    const engine = this.#engines.get(timetable) ?? this.#start(timetable);
    await engine.prepared;
  }

  #start(timetable: Timetable): JourneyEngine {
    // With the state's timetable, a second engine takes some 100 MB more for a moment.
    if (this.#engines.size > 0 && hasLittleMemory(this.#options.memoryLimit)) shrinkCaches(0);
    const engine = new JourneyEngine(timetable, this.#options);
    this.#engines.set(timetable, engine);
    return engine;
  }

  /** Ends the threads of all other timetables once the requests that have them are over. */
  use(timetable: Timetable): void {
    void this.prepare(timetable);
    for (const [other, engine] of this.#engines) {
      if (other === timetable) continue;
      const end = () => {
        this.#engines.delete(other);
        void engine.close();
      };
      setTimeout(end, REPLACED_MS).unref();
    }
  }

  /** Throws `SERVICE_UNAVAILABLE` if the timetable was replaced long ago. */
  get(timetable: Timetable): JourneyEngine {
    const engine = this.#engines.get(timetable);
    if (!engine) throw serviceUnavailable('the timetable of the request has been replaced');
    return engine;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#engines.values()].map((engine) => engine.close()));
  }
}

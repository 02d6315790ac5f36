import { LRUCache } from 'lru-cache';
import type { EfaClient } from '../efa/client.ts';
import { type DepartureMonitorPayload, stopEventSchema, stopPointSchema } from '../efa/payload.ts';
import { findMode } from '../efa/product-class.ts';
import { ApiError } from '../errors.ts';
import { MODES, type Mode, sortModes } from '../transit/mode.ts';
import { nextWeekdayMorning } from '../transit/time.ts';

/** Whether anything stops at a stop, and which modes were seen leaving there. */
export interface Verdict {
  isAlive: boolean;
  modes: readonly Mode[];
}

const ALIVE_TTL_MS = 24 * 60 * 60_000;
const DEAD_TTL_MS = 6 * 60 * 60_000;
const MAX_STOPS = 50_000;

type DepartureMonitor = Pick<EfaClient, 'departureMonitor'>;

/** What is remembered of stops, in this process. */
export interface Verdicts {
  find(stopId: string): Verdict | null;
  learn(stopId: string, verdict: Verdict): void;
}

export function createVerdicts(now: () => Date): Verdicts {
  const known = new LRUCache<string, Verdict>({
    max: MAX_STOPS,
    ttlResolution: 0,
    perf: { now: () => now().getTime() },
  });
  return {
    find: (stopId) => known.get(stopId) ?? null,
    learn(stopId, { isAlive, modes }) {
      const seen = known.get(stopId)?.modes ?? [];
      known.set(
        stopId,
        { isAlive, modes: sortModes([...seen, ...modes]) },
        { ttl: isAlive ? ALIVE_TTL_MS : DEAD_TTL_MS },
      );
    },
  };
}

/** The same client; every departures answer that passes teaches which stops are alive. */
export function learnFromDepartures<Client extends DepartureMonitor>(efa: Client, verdicts: Verdicts): Client {
  return {
    ...efa,
    async departureMonitor(question) {
      const answer = await efa.departureMonitor(question);
      const modes = modesSeen(answer.payload);
      if (answer.payload.stopEvents.length > 0)
        verdicts.learn(stopAnswered(answer.payload) ?? question.stopId, { isAlive: true, modes });
      return answer;
    },
  };
}

/**
 * Asks the authority what stops there: now and, when nothing does, on the next weekday morning, for nights and
 * school holidays pass. Null when it cannot be known at present.
 */
export async function checkStop(
  efa: DepartureMonitor,
  verdicts: Verdicts,
  stopId: string,
  now: Date,
): Promise<Verdict | null> {
  const known = verdicts.find(stopId);
  if (known) return known;
  try {
    for (const at of [null, nextWeekdayMorning(now)]) {
      const { payload } = await efa.departureMonitor({ stopId, modes: MODES, at });
      if (payload.stopEvents.length > 0) return remember({ isAlive: true, modes: modesSeen(payload) });
    }
    return remember({ isAlive: false, modes: [] });
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }

  function remember(verdict: Verdict): Verdict {
    verdicts.learn(stopId, verdict);
    return verdict;
  }
}

const vehicleSchema = stopEventSchema.pick({ transportation: true });

/** Cancelled departures count: they show that the stop is in use. */
function modesSeen({ stopEvents }: DepartureMonitorPayload): Mode[] {
  return sortModes(
    stopEvents.flatMap((event) => {
      const { product } = vehicleSchema.safeParse(event).data?.transportation ?? {};
      return findMode(product?.class ?? product?.iconId ?? 0) ?? [];
    }),
  );
}

/** The stop that upstream answered for: it may have resolved a platform to its station. */
function stopAnswered({ locations }: DepartureMonitorPayload): string | null {
  return stopPointSchema.safeParse(locations[0]).data?.id ?? null;
}

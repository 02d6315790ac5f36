import { addPage, type Timeline } from '#src/boards/timeline.ts';
import type { DeparturePage } from '#src/efa/departure-page.ts';
import type { Departure } from '#src/transit/departure.ts';
import { MODES, type Mode } from '#src/transit/mode.ts';
import { departure, pageOf } from '#test/support/departure.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const NOW = new Date('2026-01-14T03:00:00Z').getTime();
export const at = (minute: number) => NOW + minute * MINUTE;

/** A departure planned so many minutes after 03:00. */
export function event(minute: number, more: Partial<Departure> = {}): Departure {
  return departure({ runId: `run ${minute}`, plannedAt: at(minute), ...more });
}

/** A page retrieved at `retrieved`, asked for `askedFor` (minutes after 03:00; absent for the present). */
export function page(
  departures: Departure[],
  more: Partial<Record<'askedFor' | 'retrieved' | 'count', number>> = {},
  modes: readonly Mode[] = MODES,
): DeparturePage {
  const { askedFor, retrieved = 0, count = 40 } = more;
  const moment = askedFor === undefined ? null : at(askedFor);
  return pageOf(departures, { askedFor: moment, retrievedAt: at(retrieved), modes, eventCount: count });
}

export const timelineOf = (...pages: DeparturePage[]) => pages.reduce<Timeline>(addPage, []);

import { addPage, type PageAnswer, type Timeline, type TimelineEvent, toPage } from '#src/live/timeline/timeline.ts';
import { MODES, type Mode } from '#src/transit/mode.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const NOW = new Date('2026-01-14T03:00:00Z').getTime();
export const at = (minute: number) => NOW + minute * MINUTE;

/** A departure planned so many minutes after 03:00. */
export function event(minute: number, more: Partial<TimelineEvent> = {}): TimelineEvent {
  return { runId: `run ${minute}`, stopId: 'P1', mode: 'bus', plannedAt: at(minute), ...more };
}

/** An answer retrieved at `retrieved`, asked for `askedFor` (minutes after 03:00; null for the present). */
export function answer(
  events: TimelineEvent[],
  more: Partial<Record<'askedFor' | 'retrieved' | 'count', number>> = {},
  modes: readonly Mode[] = MODES,
): PageAnswer<TimelineEvent> {
  const planned = events.map(({ plannedAt }) => plannedAt);
  return {
    askedFor: more.askedFor === undefined ? null : at(more.askedFor),
    modes,
    retrievedAt: at(more.retrieved ?? 0),
    events,
    eventCount: more.count ?? 40,
    lastPlannedAt: planned.length > 0 ? Math.max(...planned) : null,
  };
}

export const timelineOf = (...answers: PageAnswer<TimelineEvent>[]) =>
  answers.reduce<Timeline<TimelineEvent>>((timeline, one) => addPage(timeline, toPage(one)), []);

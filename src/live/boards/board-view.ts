import type { Mode } from '../../transit/mode.ts';
import { type Change, type LivingFeed, overlayStop } from '../overlay/overlay.ts';
import type { Verdict } from '../overlay/verdict.ts';
import { readTimeline } from '../timeline/timeline.ts';
import { findTimelineQuestion, type TimelineQuestion } from '../timeline/timeline-question.ts';
import type { BoardEvent } from './board-event.ts';
import { runKey, type StopTimeline } from './stop-timelines.ts';

/** A departure of the timetable, and what the feeds say of it. */
export interface BoardCall {
  event: BoardEvent;
  verdict: Verdict;
}

/** Which departures of a stop a caller wants. */
export interface WantedCalls {
  stopId: string;
  modes: readonly Mode[];
  /** The moment asked for, in milliseconds since 1970; null for the present. */
  at: number | null;
  limit: number;
  /** Whether the departure is one of those that `limit` counts. */
  counts(call: BoardCall): boolean;
}

/** What timeline and feeds say of a board at one moment. */
export interface BoardView {
  calls: BoardCall[];
  /** What the departure monitor has to be asked first; null when the board is whole. */
  question: TimelineQuestion | null;
  /** What the departure monitor has to be asked about, of what the board shows. */
  changes: Change[];
}

const MINUTE_MS = 60_000;
/** A vehicle that is later than this is not looked for any more. */
const MAX_LATE_MS = 120 * MINUTE_MS;

export function viewBoard(
  stop: StopTimeline,
  wanted: WantedCalls,
  context: { living: readonly LivingFeed[]; now: number; maxAgeMs: number; alsoAsked: readonly Mode[] },
): BoardView {
  const { living, now } = context;
  const from = wanted.at ?? now;
  const stretch = readTimeline(stop.timeline, wanted, context);
  const events = stretch.events.filter(({ plannedAt }) => plannedAt >= from - MAX_LATE_MS);
  const planned = events.map((event) => ({
    ...event,
    lastLiveAt: stop.lastLive.get(runKey(event)) ?? event.lastLiveAt,
  }));
  const timetable = { stopIds: stretch.stopIds.add(stop.stopId), calls: planned, coveredUntil: stretch.until };
  const { verdicts, changes } = overlayStop(timetable, living, now);
  const calls = events.map((event, index) => ({ event, verdict: verdicts[index] as Verdict }));

  const counted = calls.filter(wanted.counts);
  // What leaves after the listed part of the timetable may leave after something that is not listed.
  const inOrder = counted.filter((call) => stretch.isEnd || leavesAt(call) < stretch.until);
  const countedEvents = new Set(inOrder.map(({ event }) => event));
  const { question } = findTimelineQuestion(
    stop.timeline,
    { ...wanted, counts: (event) => countedEvents.has(event) },
    context,
  );
  const last = counted.map(leavesAt).sort((one, other) => one - other)[wanted.limit - 1];
  return { calls, question, changes: changes.filter(({ at }) => at <= (last ?? stretch.until)) };
}

/** The best-known time, in milliseconds since 1970. */
function leavesAt({ event, verdict }: BoardCall): number {
  return verdict.kind === 'live' ? verdict.leavesAt : event.plannedAt;
}

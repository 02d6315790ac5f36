import type { Mode } from '../../transit/mode.ts';
import { sortModes } from '../../transit/mode.ts';
import { readTimeline, type Stretch, type Timeline, type TimelineEvent } from './timeline.ts';

/** What a board needs of a timeline. Moments in milliseconds since 1970. */
export interface WantedBoard<Event extends TimelineEvent> {
  modes: readonly Mode[];
  /** The moment asked for; null for the present. */
  at: number | null;
  limit: number;
  /** Whether the event counts towards the limit: of the right route, not cancelled, not gone. */
  counts(event: Event): boolean;
}

/** The question that the departure monitor has to be asked before the board can be answered. */
export interface TimelineQuestion {
  /** Null for the present. */
  at: number | null;
  modes: Mode[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const EVENTS_PER_PAGE = 40;
/** A timetable is asked for again at this age, and when calls are short at the other. */
const MAX_AGE_MS = 2 * HOUR_MS;
const MAX_AGE_IF_SHORT_MS = 6 * HOUR_MS;
/** The authority may list by estimated time, and only what leaves within the hour has estimates. */
const OVERLAP_MS = 2 * MINUTE_MS;
const LIVE_MS = HOUR_MS;

/** How old a timetable may be. `stretch` is 1 while there are calls enough, and up to 4 the shorter they are. */
export function timetableAgeMs(stretch: number): number {
  const shortage = Math.min(1, Math.max(0, (stretch - 1) / 3));
  return MAX_AGE_MS + shortage * (MAX_AGE_IF_SHORT_MS - MAX_AGE_MS);
}

/**
 * What to ask so that the timeline holds `limit` events that count; null when it does, or when nothing leaves later.
 * `alsoAsked` are the modes of other boards of the stop: one answer for all of them is cheaper than one for each.
 */
export function findTimelineQuestion<Event extends TimelineEvent>(
  timeline: Timeline<Event>,
  wanted: WantedBoard<Event>,
  { now, maxAgeMs, alsoAsked }: { now: number; maxAgeMs: number; alsoAsked: readonly Mode[] },
): { stretch: Stretch<Event>; question: TimelineQuestion | null } {
  const from = wanted.at ?? now;
  const stretch = readTimeline(timeline, wanted, { now, maxAgeMs });
  const found = stretch.events.filter(wanted.counts).length;
  if (stretch.isEnd || (found >= wanted.limit && stretch.until > from)) return { stretch, question: null };
  const modes = chooseModes(timeline, wanted.modes, alsoAsked, wanted.limit - found);
  if (stretch.until <= from) return { stretch, question: { at: wanted.at, modes } };
  const overlapMs = stretch.until - now < LIVE_MS ? OVERLAP_MS : 0;
  const at = Math.max(from, stretch.until - overlapMs, stretch.lastFrom + MINUTE_MS);
  return { stretch, question: { at, modes } };
}

/** The modes of all boards of the stop, unless a page of them is known to hold too few of the wanted ones. */
function chooseModes(
  timeline: Timeline<TimelineEvent>,
  wanted: readonly Mode[],
  alsoAsked: readonly Mode[],
  missing: number,
): Mode[] {
  const all = sortModes([...wanted, ...alsoAsked]);
  const known = timeline.findLast(
    ({ modes, events }) => events.length > 0 && all.every((mode) => modes.includes(mode)),
  );
  if (!known) return all;
  const ofAll = known.events.filter(({ mode }) => all.includes(mode)).length;
  const ofWanted = known.events.filter(({ mode }) => wanted.includes(mode)).length;
  const expected = ofAll === 0 ? 0 : (EVENTS_PER_PAGE * ofWanted) / ofAll;
  return expected >= missing ? all : sortModes(wanted);
}

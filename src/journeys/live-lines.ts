import { int32At } from '../core/columns.ts';
import type { LiveTimetable } from '../realtime/live-timetable.ts';
import type { Snapshot } from '../realtime/snapshot.ts';
import { MAY_ALIGHT, MAY_BOARD } from '../timetable/call-flags.ts';
import { serviceDayStart } from '../timetable/service-day.ts';
import { MODES } from '../transit/modes.ts';
import { type DaySpan, firstRunsAt, indexRuns, USUAL_SPAN } from './day-lines.ts';
import {
  callAt,
  createDraft,
  freeColumns,
  freeLines,
  type Lines,
  lastPosition,
  mirrorLines,
  mirrorRun,
  tripOf,
} from './raptor/lines.ts';

/**
 * The next run may leave up to this long before the vehicle arrives, and riders still stay on: a feed may report a late vehicle
 * before it reports the same for its next run.
 */
const MAX_OVERLAP_SECONDS = 300;
const DAY_SECONDS = 86_400;
/** The columns get room for this many times the runs in the feeds, because the next feeds may have more. */
const SPARE = 1.5;

/** A run in a snapshot, by its index there. */
export interface LiveRunRef {
  snapshot: Snapshot;
  run: number;
}

/** Lines of the timetable alone, or followed by the runs of snapshots. */
export interface LinesWithRefs {
  lines: Lines;
  /** The run of a snapshot behind a run of the lines; null for a run that no feed has. */
  refOf(run: number): LiveRunRef | null;
  /** Whether a run of the lines has a live time at a position. */
  isLive(run: number, position: number): boolean;
}

/** The runs of snapshots as lines of one day. */
interface LivePart {
  lines: Lines;
  /** The run of a snapshot behind each run of the lines. */
  refs: LiveRunRef[];
  /** The runs of the timetable that feeds have changed or cancelled. `day` is relative to that of the lines. */
  changed: { trip: number; day: number }[];
}

/**
 * The lines of a day in both directions, as planned and with the runs of snapshots. Lines with snapshots begin with the planned
 * runs; the runs of the newest snapshots are written behind these.
 */
export function createDayLines(
  planned: Lines,
  {
    day,
    span = USUAL_SPAN,
    tripCount,
    mirrored = null,
  }: { day: number; span?: DaySpan; tripCount: number; mirrored?: Lines | null },
) {
  const base = serviceDayStart(day) / 1000;
  let mirroredPlanned = mirrored;
  let live: { lines: LinesWithRoom; mirrored: LinesWithRoom | null; part: LivePart } | null = null;
  let findRunOf: ((trip: number, day: number) => number) | null = null;

  /**
   * Writes the runs of the snapshots. The lines of `live()` change in place while they have room. They are the planned ones if the
   * snapshots have no run of these days, as on most days but today: copies would take twice the memory.
   */
  function adopt(current: LiveTimetable): void {
    const part = draftSnapshots(current, { day, span, base, stopCount: planned.stopCount });
    findRunOf ??= indexRuns(planned, tripCount, span);
    const findPlanned = findRunOf;
    const find = ({ trip, day: offset }: LivePart['changed'][0]) => findPlanned(trip, offset);
    if (part.lines.runCount === 0 && part.changed.every((changed) => find(changed) < 0)) {
      freePart(part);
      freeLive();
      return;
    }
    if (live) freePart(live.part);
    if (live && !fits(live.lines, part.lines)) freeLive();
    live ??= { lines: withRoom(planned, roomFor(planned, part.lines)), mirrored: null, part };
    live.part = part;
    const { lines, mirrored } = live;
    append(lines, part.lines, planned.nextRuns);
    for (const changed of part.changed) {
      const run = find(changed);
      if (run >= 0) lines.usable[run] = 0;
    }
    linkRuns(lines, planned.nextRuns, find);
    if (mirrored) mirrorLive(mirrored, live);
  }

  /** Frees the columns of a part. The lines have copies of them, so nothing else uses them. */
  function freePart({ lines }: LivePart): void {
    freeColumns(Object.values(lines));
  }

  function freeLive(): void {
    if (live) freePart(live.part);
    if (live) freeLines(live.lines, planned);
    if (live?.mirrored) freeLines(live.mirrored, mirroredPlanned);
    live = null;
  }

  /** Writes the runs of the snapshots into the mirrored lines too, and frees them: both directions have copies then. */
  function mirrorLive(mirrored: LinesWithRoom, { lines, part }: NonNullable<typeof live>): void {
    const mirroredPart = mirrorLines(part.lines);
    append(mirrored, mirroredPart, null);
    freeColumns(Object.values(mirroredPart));
    freePart(part);
    const { plannedRuns, runCount, nextRuns } = lines;
    mirrored.usable.set(lines.usable.subarray(0, plannedRuns).toReversed());
    mirrored.nextRuns.fill(-1, 0, runCount);
    for (let run = 0; run < runCount; run++) {
      const next = int32At(nextRuns, run);
      if (next >= 0) mirrored.nextRuns[mirrorRun(lines, next)] = mirrorRun(lines, run);
    }
  }

  const refOf = (run: number): LiveRunRef | null => live?.part.refs[run - planned.plannedRuns] ?? null;

  return {
    planned: () => planned,
    mirroredPlanned() {
      mirroredPlanned ??= mirrorLines(planned);
      return mirroredPlanned;
    },
    adopt,
    live: () => live?.lines ?? planned,
    mirroredLive() {
      if (!live) return this.mirroredPlanned();
      if (!live.mirrored) {
        live.mirrored = withRoom(this.mirroredPlanned(), roomOf(live.lines));
        mirrorLive(live.mirrored, live);
      }
      return live.mirrored;
    },
    refOf,
    isLive(run: number, position: number): boolean {
      const ref = refOf(run);
      return ref?.snapshot.isLive(ref.snapshot.callsOf(ref.run)[0] + position) ?? false;
    },
    /** Releases the snapshots. The lines must adopt others before the next search. */
    forget(): void {
      if (live) live.part.refs = [];
    },
    free(): void {
      freeLive();
      freeLines(planned);
      if (mirroredPlanned) freeLines(mirroredPlanned);
    },
  };
}

/** How many lines, runs and calls the columns of lines can take. */
interface Room {
  lines: number;
  runs: number;
  calls: number;
}

function roomOf({ modes, trips, stops }: Lines): Room {
  return { lines: modes.length, runs: trips.length, calls: stops.length };
}

/** Room for these lines behind the planned ones, and some more. */
function roomFor({ plannedLines, plannedRuns, firstCall }: Lines, part: Lines): Room {
  const more = (count: number) => Math.ceil(count * SPARE) + 1024;
  return {
    lines: plannedLines + more(part.lineCount),
    runs: plannedRuns + more(part.runCount),
    calls: int32At(firstCall, plannedLines) + more(part.stops.length),
  };
}

function fits(into: Lines, part: Lines): boolean {
  const room = roomOf(into);
  return (
    room.lines >= into.plannedLines + part.lineCount &&
    room.runs >= into.plannedRuns + part.runCount &&
    room.calls >= int32At(into.firstCall, into.plannedLines) + part.stops.length
  );
}

/** Planned lines with room behind them for those of feeds. */
type LinesWithRoom = Lines & { usable: Uint8Array };

const COLUMNS_OF_RUNS = ['starts', 'arrivals', 'departures', 'lineOfRun', 'nextRuns', 'trips', 'days'] as const;

/** Copies planned lines into columns with this room. */
function withRoom(lines: Lines, room: Room): LinesWithRoom {
  const { plannedLines, plannedRuns } = lines;
  const callCount = int32At(lines.firstCall, plannedLines);
  const columns = COLUMNS_OF_RUNS.map((name) => [name, extend(lines[name], plannedRuns, room.runs)]);
  return {
    ...lines,
    ...(Object.fromEntries(columns) as Pick<Lines, (typeof COLUMNS_OF_RUNS)[number]>),
    modes: extend(lines.modes, plannedLines, room.lines),
    firstCall: extend(lines.firstCall, plannedLines + 1, room.lines + 1),
    firstRun: extend(lines.firstRun, plannedLines + 1, room.lines + 1),
    stops: extend(lines.stops, callCount, room.calls),
    flags: extend(lines.flags, callCount, room.calls),
    hops: extend(lines.hops, callCount, room.calls),
    usable: new Uint8Array(room.runs),
  };
}

function extend<Column extends Int32Array | Int8Array | Uint8Array | Uint16Array>(
  column: Column,
  used: number,
  length: number,
): Column {
  const extended = new (column.constructor as new (length: number) => Column)(length);
  extended.set(column.subarray(0, used));
  return extended;
}

/**
 * Writes lines behind the planned ones, in place of those that were there. `nextRuns` are those of the planned runs; null leaves
 * them.
 */
function append(into: LinesWithRoom, part: Lines, nextRuns: Int32Array | null): void {
  const { plannedLines, plannedRuns } = into;
  const callCount = int32At(into.firstCall, plannedLines);
  into.lineCount = plannedLines + part.lineCount;
  into.runCount = plannedRuns + part.runCount;
  into.modes.set(part.modes, plannedLines);
  into.stops.set(part.stops, callCount);
  into.flags.set(part.flags, callCount);
  into.hops.set(part.hops, callCount);
  for (let line = 1; line <= part.lineCount; line++) {
    into.firstCall[plannedLines + line] = callCount + int32At(part.firstCall, line);
    into.firstRun[plannedLines + line] = plannedRuns + int32At(part.firstRun, line);
  }
  for (const name of ['starts', 'arrivals', 'departures', 'trips', 'days'] as const)
    into[name].set(part[name], plannedRuns);
  for (let run = 0; run < part.runCount; run++) {
    into.lineOfRun[plannedRuns + run] = plannedLines + int32At(part.lineOfRun, run);
  }
  if (nextRuns) into.nextRuns.set(nextRuns.subarray(0, plannedRuns));
  into.nextRuns.fill(-1, plannedRuns, into.runCount);
  into.usable.fill(1);
  const visits = part.visits.slice();
  for (let at = 0; at < visits.length; at += 2) visits[at] = plannedLines + int32At(visits, at);
  // Columns of the former snapshots, which nothing else uses.
  if (into.live) freeColumns(Object.values(into.live));
  into.live = { firstVisit: part.firstVisit.slice(), visits, offsets: part.offsets.slice() };
}

/** Links changed runs to the runs before and after them, as planned, if the vehicle can still make both. */
function linkRuns(
  lines: LinesWithRoom,
  plannedNext: Int32Array,
  find: (run: { trip: number; day: number }) => number,
): void {
  const { plannedRuns, runCount, nextRuns, usable } = lines;
  const changedRunOf = new Map<number, number>();
  for (let run = plannedRuns; run < runCount; run++) {
    const planned = find(tripOf(lines, run));
    if (planned >= 0) changedRunOf.set(planned, run);
  }
  for (let run = 0; run < plannedRuns; run++) {
    const planned = int32At(plannedNext, run);
    if (planned < 0 || (usable[run] && usable[planned])) continue;
    const current = changedRunOf.get(run) ?? (usable[run] ? run : -1);
    const next = changedRunOf.get(planned) ?? (usable[planned] ? planned : -1);
    if (current >= 0) nextRuns[current] = next >= 0 && canContinue(lines, run, current, next) ? next : -1;
  }
}

/**
 * Whether the vehicle still runs to the end of its run, and arrives there not much later than the next run is to leave. A run whose
 * last stop is skipped counts as cut short, unless the next run skips that stop too.
 */
function canContinue(lines: Lines, plannedRun: number, run: number, next: number): boolean {
  const endOf = (one: number) => callAt(lines, one, lastPosition(lines, one));
  const [plannedEnd, end, start] = [endOf(plannedRun), endOf(run), callAt(lines, next, 0)];
  const mayAlight = ({ flags }: typeof end) => (flags & MAY_ALIGHT) !== 0;
  const isCutShort = mayAlight(plannedEnd) && !mayAlight(end) && (start.flags & MAY_BOARD) !== 0;
  return !isCutShort && end.arrivesAt <= start.departsAt + MAX_OVERLAP_SECONDS;
}

/** Makes lines of all runs in the snapshots that belong to the days of the span. */
function draftSnapshots(
  live: LiveTimetable,
  { day, span, base, stopCount }: { day: number; span: DaySpan; base: number; stopCount: number },
): LivePart {
  const { timetable, snapshots } = live;
  const earliestEnd = firstRunsAt(day, span) / 1000 - base;
  // A run that only a feed has belongs to no day; it is included if it leaves before this.
  const latestStart = (span.last + 1) * DAY_SECONDS;
  const changed: LivePart['changed'] = [];
  const added: LiveRunRef[] = [];
  const callCount = snapshots.reduce((sum, { sections }) => sum + sections.stop.length, 0);
  const offsets = new Int32Array(callCount * 2);
  const runCount = snapshots.reduce((sum, one) => sum + one.runCount, 0);
  const draft = createDraft(offsets, { runs: runCount, calls: callCount });
  let used = 0;
  for (const snapshot of snapshots) {
    const { runTrip, runDay } = snapshot.sections;
    let groups: Group[] = [];
    let lastPattern = -1;
    for (let run = 0; run < snapshot.runCount; run++) {
      const trip = runTrip.valueAt(run);
      const offset = trip < 0 ? 0 : runDay.valueAt(run) - day;
      if (offset < span.first || offset > span.last) continue;
      if (trip >= 0) changed.push({ trip, day: offset });
      if (snapshot.isCancelled(run) || !isOfDay(snapshot, run)) continue;
      // Runs of one pattern follow each other, because runs are sorted by trip.
      const pattern = trip < 0 ? -1 : timetable.patternOf(trip);
      if (pattern < 0 || pattern !== lastPattern) groups = closeGroups(groups);
      lastPattern = pattern;
      groupOf(groups, snapshot, run).runs.push({ ref: { snapshot, run }, trip, day: offset });
    }
    closeGroups(groups);
  }
  const { sources, ...drafted } = draft.finish(stopCount);
  // The buffer had room for the runs of all days; keep the used part.
  const lines = { ...drafted, offsets: new Int32Array(offsets.buffer.transfer(used * offsets.BYTES_PER_ELEMENT)) };
  return { lines, refs: Array.from(sources, (source) => added[source] as LiveRunRef), changed };

  function isOfDay(snapshot: Snapshot, run: number): boolean {
    const { sections, about } = snapshot;
    const [first, end] = snapshot.callsOf(run);
    const toDay = about.base - base;
    if (sections.arrival.valueAt(end - 1) + toDay < earliestEnd) return false;
    return sections.runTrip.valueAt(run) >= 0 || sections.departure.valueAt(first) + toDay < latestStart;
  }

  /** The group of runs with the same stops and call flags; a new one if there is none. */
  function groupOf(groups: Group[], snapshot: Snapshot, run: number): Group {
    const [first, end] = snapshot.callsOf(run);
    const stops = snapshot.sections.stop.subarray(first, end);
    const flags = snapshot.sections.flags.subarray(first, end);
    const known = groups.find((group) => isEqual(group.stops, stops) && isEqual(group.flags, flags));
    if (known) return known;
    const group = { stops, flags, mode: MODES.indexOf(live.routeOf(snapshot, run).mode), runs: [] };
    groups.push(group);
    return group;
  }

  /** Makes lines of the groups. Returns an empty list for the next groups. */
  function closeGroups(groups: readonly Group[]): Group[] {
    for (const { stops, flags, mode, runs } of groups) {
      for (const { ref, trip, day: offset } of runs) {
        const { snapshot, run } = ref;
        const { arrival, departure } = snapshot.sections;
        const [first, end] = snapshot.callsOf(run);
        const count = end - first;
        const start = departure.valueAt(first);
        for (let at = 0; at < count; at++) {
          offsets[used + at] = arrival.valueAt(first + at) - start;
          offsets[used + count + at] = departure.valueAt(first + at) - start;
        }
        const startsAt = start + snapshot.about.base - base;
        draft.addRun({ trip, day: offset, start: startsAt, arrivals: used, departures: used + count });
        added.push(ref);
        used += count * 2;
      }
      draft.closeLines(stops, flags, mode);
    }
    return [];
  }
}

interface Group {
  stops: Int32Array;
  flags: Uint8Array;
  mode: number;
  runs: { ref: LiveRunRef; trip: number; day: number }[];
}

function isEqual(one: Int32Array | Uint8Array, other: Int32Array | Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { Int32Column } from '../../core/columns.ts';
import { identityOf, type Snapshot } from '../../realtime/snapshot.ts';
import { hash32 } from '../../timetable/packed-timetable.ts';
import { serviceDayStart, toMoment } from '../../timetable/service-day.ts';
import type { Timetable } from '../../timetable/timetable.ts';
import { CANCELLED, UNKNOWN } from './day-runs.ts';

/** A prediction counts only if it was published at most this long before the time that it predicts. */
const MAX_AHEAD_SECONDS = 5 * 60;
/** Times outside this range are ignored, as in `realtime/prediction`. */
const MAX_LATE_SECONDS = 12 * 3600;
const MAX_EARLY_SECONDS = 30 * 60;
/** Rules that derive a time from other calls. They do not apply to a call that the vehicle has passed. */
const DERIVED = new Set(['delay before', 'delay of the trip', 'cannot be there yet', 'before the first update']);
/** A run that no feed has had for this long is over. */
const GONE_MS = 20 * MINUTE_MS;
/** Keys of runs repeat after this many days, more than any feed reaches ahead. */
const DAYS_APART = 1024;

/** What is recorded of a run of the timetable. While the run is under way, only its past calls are known. */
export interface FinishedRun {
  day: number;
  lineId: string;
  identity: number;
  /** The planned stops, and their planned times in seconds of the service day: departures, and the last arrival. */
  stopIds: readonly string[];
  seconds: Int32Column;
  late: Int32Column;
}

/** A run that a feed still has, or had within the last 20 minutes. */
interface OpenRun {
  trip: number;
  day: number;
  late: Int32Column;
  seenAt: number;
}

/**
 * Records how late each call is, from the snapshots of the feeds: the last prediction before the vehicle passes the call, or the
 * actual time if the feed still has it. A call is unknown if its last prediction is more than five minutes ahead. Runs that
 * only a feed has are not recorded, because they have no planned times.
 */
export class Recorder {
  #timetable: Timetable | null = null;
  #identity = '';
  readonly #open = new Map<number, OpenRun>();

  /** Switches to another timetable. Returns all runs of the previous one; unfinished ones may go on under other indices. */
  use(timetable: Timetable, now: number): FinishedRun[] {
    const finished = this.finish(now, { isAll: true });
    this.#timetable = timetable;
    this.#identity = identityOf(timetable);
    return finished;
  }

  /** Records one snapshot of a feed. A snapshot for another timetable is ignored. */
  record(snapshot: Snapshot): void {
    if (snapshot.about.timetable !== this.#identity) return;
    const { runTrip, runDay, runUpdate } = snapshot.sections;
    for (let run = 0; run < snapshot.tripCount; run++) {
      // Without its own update, a run's times come from the vehicle's previous run.
      if (runUpdate.valueAt(run) >= 0) this.#recordRun(snapshot, run, runTrip.valueAt(run), runDay.valueAt(run));
    }
  }

  #recordRun(snapshot: Snapshot, run: number, trip: number, day: number): void {
    const timetable = this.#timetable as Timetable;
    const { position, plannedArrival, plannedDeparture, arrival, departure } = snapshot.sections;
    const key = trip * DAYS_APART + (day % DAYS_APART);
    let open = this.#open.get(key);
    if (!open) {
      const { length } = timetable.stopsOf(timetable.patternOf(trip));
      open = { trip, day, late: new Int32Column(length).fill(UNKNOWN), seenAt: 0 };
      this.#open.set(key, open);
    }
    open.seenAt = Math.max(open.seenAt, snapshot.headerAt);
    const { late } = open;
    const isCancelled = snapshot.isCancelled(run);
    const [first, end] = snapshot.callsOf(run);
    for (let call = first; call < end; call++) {
      const at = position.valueAt(call);
      if (at < 0) continue;
      const isLast = at === late.length - 1;
      const planned = (isLast ? plannedArrival : plannedDeparture).valueAt(call);
      const recorded = late.valueAt(at);
      const hasPassed = recorded > CANCELLED && planned + recorded <= 0;
      if (isCancelled || snapshot.isSkipped(call)) {
        if (!hasPassed) late[at] = CANCELLED;
      } else if (snapshot.isLive(call)) {
        // A vehicle that left its first stop early may be taken for one that has not begun.
        if (hasPassed && DERIVED.has(snapshot.ruleOf(call))) continue;
        const best = (isLast ? arrival : departure).valueAt(call);
        const seconds = best - planned;
        const isNear = best <= MAX_AHEAD_SECONDS;
        const isPossible = seconds <= MAX_LATE_SECONDS && seconds >= -MAX_EARLY_SECONDS;
        late[at] = isNear && isPossible ? seconds : UNKNOWN;
      } else if (recorded === CANCELLED && !snapshot.hasLeft(call)) late[at] = UNKNOWN;
    }
  }

  /** Removes and returns the runs that are over, which no feed has any more; with `isAll`, all runs. */
  finish(now: number, { isAll = false } = {}): FinishedRun[] {
    const finished: FinishedRun[] = [];
    for (const [key, run] of this.#open) {
      const isOver = run.seenAt < now - GONE_MS && this.#endOf(run) < now;
      if (!isAll && !isOver) continue;
      this.#open.delete(key);
      finished.push(...this.#describe(run, now));
    }
    return finished;
  }

  /** The unfinished runs of a line, as recorded so far. */
  listOpen(lineId: string, now: number): FinishedRun[] {
    const timetable = this.#timetable;
    if (!timetable) return [];
    return [...this.#open.values()]
      .filter(({ trip }) => timetable.routeOf(timetable.patternOf(trip)).lineId.toUpperCase() === lineId)
      .flatMap((run) => this.#describe(run, now));
  }

  #endOf({ trip, day, late }: OpenRun): number {
    return (this.#timetable as Timetable).callAt({ trip, day, position: late.length - 1 }).arrivesAt;
  }

  /** The run with its past calls; empty if nothing is known about them. */
  #describe({ trip, day, late }: OpenRun, now: number): FinishedRun[] {
    const timetable = this.#timetable as Timetable;
    const planned = toPlannedRun(timetable, trip, day);
    const over = Int32Column.from(late, (value, at) => {
      const overSeconds = planned.seconds.valueAt(at) + (value > CANCELLED ? value : 0);
      return value === UNKNOWN || toMoment(day, overSeconds) > now ? UNKNOWN : value;
    });
    if (over.every((value) => value === UNKNOWN)) return [];
    return [{ ...planned, identity: hash32(timetable.tripIdOf(trip)) >>> 0 || 1, late: over }];
  }
}

/** A run by its plan, with the identity 0. */
export function toPlannedRun(timetable: Timetable, trip: number, day: number): Omit<FinishedRun, 'late'> {
  const dayStart = serviceDayStart(day);
  const calls = timetable.calls(trip, day);
  return {
    day,
    lineId: timetable.routeOf(timetable.patternOf(trip)).lineId.toUpperCase(),
    identity: 0,
    stopIds: calls.map(({ stop }) => timetable.stop(stop).id),
    seconds: Int32Column.from(calls, ({ departsAt, arrivesAt }, at) =>
      Math.round(((at === calls.length - 1 ? arrivesAt : departsAt) - dayStart) / SECOND_MS),
    ),
  };
}

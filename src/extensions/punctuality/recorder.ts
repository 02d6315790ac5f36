import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { identityOf, type Snapshot } from '../../realtime/snapshot.ts';
import { hash32 } from '../../timetable/packed-timetable.ts';
import { serviceDayStart } from '../../timetable/service-day.ts';
import type { Timetable } from '../../timetable/timetable.ts';
import { CANCELLED, UNKNOWN } from './day-runs.ts';

/** A prediction counts if it was published no earlier than this before the time that it predicts. */
const MAX_AHEAD_SECONDS = 5 * 60;
/** Times outside are no predictions, as in `realtime/prediction`. */
const MAX_LATE_SECONDS = 12 * 3600;
const MAX_EARLY_SECONDS = 30 * 60;
/** What the feed says of other calls does not change that the vehicle has passed this one. */
const DERIVED = new Set(['delay before', 'delay of the trip', 'cannot be there yet', 'before the first update']);
/** A run that no feed has had for this long is over. */
const GONE_MS = 20 * MINUTE_MS;
/** More days than any run is known ahead. */
const DAYS_APART = 1024;

/** A run of the timetable as recorded so far. */
export interface FinishedRun {
  day: number;
  lineId: string;
  identity: number;
  /** The planned stops, and their planned times in seconds of the service day: departures, and the last arrival. */
  stopIds: readonly string[];
  seconds: readonly number[];
  late: Int32Array;
}

interface OpenRun {
  trip: number;
  day: number;
  late: Int32Array;
  seenAt: number;
}

/**
 * Records the last prediction of each call before the vehicle passes it, from the snapshots of the feeds, or the time at which it
 * did while the feed keeps that. What the feeds do not have is unknown, and so is a call whose last prediction is older: a
 * gap in the feeds is a gap. Runs that only a feed has are not recorded, because no timetable says when they should be where.
 */
export class Recorder {
  #timetable: Timetable | null = null;
  #identity = '';
  readonly #open = new Map<number, OpenRun>();

  /** Records by this timetable from now on. Returns the runs of the one before, which may go on under other indices. */
  use(timetable: Timetable, now: number): FinishedRun[] {
    const finished = this.finish(now, { isAll: true });
    this.#timetable = timetable;
    this.#identity = identityOf(timetable);
    return finished;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Takes one publication of a feed. One of another timetable is ignored. */
  record(snapshot: Snapshot): void {
    if (snapshot.about.timetable !== this.#identity) return;
    const { runTrip, runDay, runUpdate } = snapshot.sections;
    for (let run = 0; run < snapshot.tripCount; run++) {
      // Without an update of its own, only the vehicle's run before is known.
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
      open = { trip, day, late: new Int32Array(length).fill(UNKNOWN), seenAt: 0 };
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
      const recorded = late[at] as number;
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

  /** Takes out the runs that are over: no feed has them any more. */
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

  /** What is recorded so far of a line's runs that are not over. */
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

  /** The run with the calls that are over now; none if nothing is known of them. */
  #describe({ trip, day, late }: OpenRun, now: number): FinishedRun[] {
    const timetable = this.#timetable as Timetable;
    const dayStart = serviceDayStart(day);
    const calls = timetable.calls(trip, day);
    const seconds = calls.map(({ departsAt, arrivesAt }, at) =>
      Math.round(((at === calls.length - 1 ? arrivesAt : departsAt) - dayStart) / SECOND_MS),
    );
    const over = late.map((value, at) => {
      const overAt = dayStart + ((seconds[at] as number) + (value > CANCELLED ? value : 0)) * SECOND_MS;
      return value === UNKNOWN || overAt > now ? UNKNOWN : value;
    });
    if (over.every((value) => value === UNKNOWN)) return [];
    return [
      {
        day,
        lineId: timetable.routeOf(timetable.patternOf(trip)).lineId.toUpperCase(),
        identity: hash32(timetable.tripIdOf(trip)) >>> 0 || 1,
        stopIds: calls.map(({ stop }) => timetable.stop(stop).id),
        seconds,
        late: over,
      },
    ];
  }
}

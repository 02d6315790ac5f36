import { Numbers } from '../../core/growing-numbers.ts';
import type { Feed } from '../feed/feed.ts';
import { NONE } from '../feed/packed-feed.ts';
import { RUN, type SnapshotNumbers } from '../snapshot.ts';
import { CALL, type RunColumns } from './run-columns.ts';

interface ListedRun {
  /** -1 if the timetable lacks it. */
  trip: number;
  day: number;
  like: number;
  route: number;
  update: number;
  /** The identifier of the run in the feed. */
  id: string;
  /** `RUN` bits. */
  flags: number;
  /** Of its update, in seconds since 1970, or `NONE`. */
  timestamp: number;
}

const COPIED = ['stop', 'position', 'plannedArrival', 'plannedDeparture', 'arrival', 'departure', 'state', 'rule'] as const;
const COLUMNS = [...COPIED, 'plannedStop', 'flags', 'occupancy', 'update'] as const;

/** Collects the predicted runs of a feed and sorts them into the columns of a snapshot. */
export class RunList {
  readonly #runs: (ListedRun & { firstCall: number; count: number; isDropped: boolean })[] = [];
  readonly #known = new Map<number, number>();
  readonly #columns = Object.fromEntries(COLUMNS.map((name) => [name, new Numbers()])) as Record<
    (typeof COLUMNS)[number],
    Numbers
  >;

  get length(): number {
    return this.#runs.length;
  }

  /** The index of the run of a trip on a day; -1 if it is not listed. */
  find(trip: number, day: number): number {
    return this.#known.get(keyOf(trip, day)) ?? -1;
  }

  about(run: number): ListedRun & { isCancelled: boolean } {
    const one = this.#runs[run] as ListedRun;
    return { ...one, isCancelled: (one.flags & RUN.cancelled) !== 0 };
  }

  isDropped(run: number): boolean {
    return this.#runs[run]?.isDropped ?? true;
  }

  drop(run: number): void {
    const one = this.#runs[run];
    if (one) one.isDropped = true;
  }

  /** When the vehicle arrives at the end of a run that is not cut short, if that is live; else `NONE`. */
  lastArrival(run: number): number {
    const one = this.#runs[run];
    if (!one || one.flags & RUN.cancelled) return NONE;
    const last = one.firstCall + one.count - 1;
    const isLive = (this.#columns.state.values[last] as number) & CALL.live;
    return isLive ? (this.#columns.arrival.values[last] as number) : NONE;
  }

  /** Copies the columns. `flagsAt` returns what riders may do at a call that the vehicle makes. */
  add(
    run: ListedRun,
    columns: RunColumns,
    flagsAt: (at: number) => number = () => 0,
    occupancyAt: (at: number) => number = () => 0,
  ): void {
    const { count, state, update } = columns;
    const own = this.#columns;
    let isLive = false;
    for (const name of COPIED) own[name].appendFrom(columns[name], count);
    own.update.appendFrom(update, count);
    own.plannedStop.appendFrom(columns.plannedStop, count);
    for (let at = 0; at < count; at++) {
      const bits = state[at] as number;
      isLive ||= (bits & CALL.live) !== 0;
      own.flags.push(bits & (CALL.skipped | CALL.left) ? 0 : flagsAt(at));
      own.occupancy.push(occupancyAt(at));
    }
    if (run.trip >= 0) this.#known.set(keyOf(run.trip, run.day), this.#runs.length);
    const firstCall = own.stop.length - count;
    this.#runs.push({ ...run, flags: isLive ? run.flags | RUN.live : run.flags, firstCall, count, isDropped: false });
  }

  finish(feed: Feed): { numbers: SnapshotNumbers; addedIds: string[] } {
    const order = this.#runs.filter(({ isDropped }) => !isDropped).sort(compareRuns);
    const callCount = order.reduce((sum, { count }) => sum + count, 0);
    const firstCall = new Int32Array(order.length + 1);
    const sorted = Object.fromEntries(COLUMNS.map((name) => [name, new Int32Array(callCount)])) as Record<
      (typeof COLUMNS)[number],
      Int32Array
    >;
    let to = 0;
    for (const [index, { firstCall: from, count }] of order.entries()) {
      firstCall[index] = to;
      for (const name of COLUMNS) sorted[name].set(this.#columns[name].values.subarray(from, from + count), to);
      to += count;
    }
    firstCall[order.length] = to;
    const { update, plannedStop, ...calls } = sorted;
    return {
      numbers: {
        ...calls,
        firstCall,
        runTrip: order.map(({ trip }) => trip),
        runDay: order.map(({ day }) => day),
        runFlags: order.map(({ flags }) => flags),
        runLike: order.map(({ like }) => like),
        runRoute: order.map(({ route }) => route),
        runUpdate: order.map((run) => run.update),
        ...listVisits(sorted.stop, plannedStop, firstCall),
        ...listLoads(feed, update),
      },
      addedIds: order.filter(({ trip }) => trip < 0).map(({ id }) => id),
    };
  }
}

function keyOf(trip: number, day: number): number {
  return trip * 2 ** 16 + day;
}

/** Runs of the timetable by trip and day, then the others by identifier. */
function compareRuns(one: ListedRun, other: ListedRun): number {
  if (one.trip < 0 && other.trip < 0) return one.id < other.id ? -1 : one.id > other.id ? 1 : 0;
  if (one.trip < 0 || other.trip < 0) return other.trip - one.trip;
  return one.trip - other.trip || one.day - other.day;
}

/** The calls at each stop. A call that has moved is also listed at its planned stop. */
function listVisits(stop: Int32Array, plannedStop: Int32Array, firstCall: Int32Array) {
  const runOf = new Int32Array(stop.length);
  for (let run = 0; run + 1 < firstCall.length; run++) runOf.fill(run, firstCall[run], firstCall[run + 1]);
  let highest = -1;
  for (let call = 0; call < stop.length; call++) {
    highest = Math.max(highest, stop[call] as number, plannedStop[call] as number);
  }
  const starts = new Int32Array(highest + 2);
  const count = (at: number) => {
    if (at >= 0) starts[at + 1] = (starts[at + 1] as number) + 1;
  };
  for (let call = 0; call < stop.length; call++) {
    count(stop[call] as number);
    if (plannedStop[call] !== stop[call]) count(plannedStop[call] as number);
  }
  const visitStop: number[] = [];
  const visitStart: number[] = [];
  for (let at = 0; at <= highest; at++) {
    if (starts[at + 1] !== 0) {
      visitStop.push(at);
      visitStart.push(starts[at] as number);
    }
    starts[at + 1] = (starts[at + 1] as number) + (starts[at] as number);
  }
  const total = starts[highest + 1] ?? 0;
  visitStart.push(total);
  const visits = new Int32Array(total);
  const visitRun = new Int32Array(total);
  const visit = (at: number, call: number) => {
    if (at < 0) return;
    const to = starts[at] as number;
    starts[at] = to + 1;
    visits[to] = call;
    visitRun[to] = runOf[call] as number;
  };
  for (let call = 0; call < stop.length; call++) {
    visit(stop[call] as number, call);
    if (plannedStop[call] !== stop[call]) visit(plannedStop[call] as number, call);
  }
  return { visitStop, visitStart, visits, visitRun };
}

/** The loads of carriages by call, of the few updates that have some. */
function listLoads(feed: Feed, update: Int32Array) {
  const ofUpdate = new Map(feed.carriages());
  const loadCall: number[] = [];
  const loadStart: number[] = [];
  const loads: number[] = [];
  for (let call = 0; call < update.length && ofUpdate.size > 0; call++) {
    const ofCall = (update[call] as number) < 0 ? undefined : ofUpdate.get(update[call] as number);
    if (!ofCall) continue;
    loadCall.push(call);
    loadStart.push(loads.length);
    loads.push(...ofCall.map((load) => (load === null ? 0 : load + 1)));
  }
  loadStart.push(loads.length);
  return { loadCall, loadStart, loads };
}

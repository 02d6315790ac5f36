import { Int32Column } from '../../core/columns.ts';
import type { Feed } from '../feed/feed.ts';
import { NONE } from '../feed/packed-feed.ts';
import { RUN, type SnapshotNumbers } from '../snapshot.ts';
import { CALL, type CallColumns, COLUMN_NAMES, createColumns, type RunColumns } from './run-columns.ts';

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
  /** The timestamp of the update in seconds since 1970, or `NONE`. */
  timestamp: number;
}

/** Keeps the columns of the last feed for the next one, because allocating new memory is slow. */
export interface ColumnPool {
  columns: CallColumns | null;
}

/** Collects the predicted runs of a feed for the columns of a snapshot. */
export class RunList {
  readonly #runs: (ListedRun & { firstCall: number; count: number; isDropped: boolean })[] = [];
  readonly #known = new Map<number, number>();
  readonly #pool: ColumnPool;
  #columns: CallColumns;
  #callCount = 0;

  /** Makes room for the expected number of calls, somewhat more than there are updates. */
  constructor(updateCount: number, pool: ColumnPool) {
    const length = Math.ceil(updateCount * 1.3) + 1024;
    this.#pool = pool;
    this.#columns = pool.columns && pool.columns.stop.length >= length ? pool.columns : createColumns(length);
    pool.columns = this.#columns;
  }

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

  /** When the vehicle arrives at the last call, in seconds after the header; `NONE` if the run is cancelled or that time is not live. */
  lastArrival(run: number): number {
    const one = this.#runs[run];
    if (!one || one.flags & RUN.cancelled) return NONE;
    const last = one.firstCall + one.count - 1;
    const isLive = this.#columns.state.valueAt(last) & CALL.live;
    return isLive ? this.#columns.arrival.valueAt(last) : NONE;
  }

  /** Adds a run and copies its columns. Clears the flags of calls where the vehicle does not stop or has left. */
  add(run: ListedRun, columns: RunColumns): void {
    const { count } = columns;
    const firstCall = this.#callCount;
    this.#reserve(count);
    for (const name of COLUMN_NAMES) this.#columns[name].set(columns[name].subarray(0, count), firstCall);
    this.#callCount += count;
    const { state, flags, stop } = this.#columns;
    let isLive = 0;
    for (let call = firstCall; call < this.#callCount; call++) {
      const bits = state.valueAt(call);
      isLive |= bits & CALL.live;
      if (bits & (CALL.skipped | CALL.left) || stop.valueAt(call) < 0) flags[call] = 0;
    }
    if (run.trip >= 0) this.#known.set(keyOf(run.trip, run.day), this.#runs.length);
    this.#runs.push({ ...run, flags: isLive ? run.flags | RUN.live : run.flags, firstCall, count, isDropped: false });
  }

  #reserve(count: number): void {
    const { length } = this.#columns.stop;
    if (this.#callCount + count <= length) return;
    const larger = createColumns(Math.max(this.#callCount + count, length * 2));
    for (const name of COLUMN_NAMES) larger[name].set(this.#columns[name]);
    this.#columns = larger;
    this.#pool.columns = larger;
  }

  finish(feed: Feed): { numbers: SnapshotNumbers; addedIds: string[] } {
    const runs = this.#runs.filter(({ isDropped }) => !isDropped).sort(compareRuns);
    const columns = Object.fromEntries(
      COLUMN_NAMES.map((name) => [name, this.#columns[name].subarray(0, this.#callCount)]),
    ) as CallColumns;
    const runOf = new Int32Column(this.#callCount).fill(-1);
    for (const [run, { firstCall, count }] of runs.entries()) runOf.fill(run, firstCall, firstCall + count);
    const { update, plannedStop, ...calls } = columns;
    return {
      numbers: {
        ...calls,
        firstCall: runs.map(({ firstCall }) => firstCall),
        callCount: runs.map(({ count }) => count),
        runTrip: runs.map(({ trip }) => trip),
        runDay: runs.map(({ day }) => day),
        runFlags: runs.map(({ flags }) => flags),
        runLike: runs.map(({ like }) => like),
        runRoute: runs.map(({ route }) => route),
        runUpdate: runs.map((run) => run.update),
        ...listVisits(calls.stop, plannedStop, runOf),
        ...listLoads(feed, update),
      },
      addedIds: runs.filter(({ trip }) => trip < 0).map(({ id }) => id),
    };
  }
}

function keyOf(trip: number, day: number): number {
  return trip * 2 ** 16 + day;
}

/** Sorts runs of the timetable by trip and day, then the others by identifier. */
function compareRuns(one: ListedRun, other: ListedRun): number {
  if (one.trip < 0 && other.trip < 0) return one.id < other.id ? -1 : one.id > other.id ? 1 : 0;
  if (one.trip < 0 || other.trip < 0) return other.trip - one.trip;
  return one.trip - other.trip || one.day - other.day;
}

/** Lists the calls at each stop. A call that has moved is also listed at its planned stop. `runOf` is -1 for dropped runs. */
function listVisits(stop: Int32Column, plannedStop: Int32Column, runOf: Int32Column) {
  let highest = -1;
  for (let call = 0; call < stop.length; call++) {
    highest = Math.max(highest, stop.valueAt(call), plannedStop.valueAt(call));
  }
  const starts = new Int32Column(highest + 2);
  for (let call = 0; call < stop.length; call++) {
    const [at, planned] = [stop.valueAt(call), plannedStop.valueAt(call)];
    if (runOf[call] === -1) continue;
    if (at >= 0) starts[at + 1] = starts.valueAt(at + 1) + 1;
    if (planned !== at && planned >= 0) starts[planned + 1] = starts.valueAt(planned + 1) + 1;
  }
  const visitStop: number[] = [];
  const visitStart: number[] = [];
  for (let at = 0; at <= highest; at++) {
    if (starts[at + 1] !== 0) {
      visitStop.push(at);
      visitStart.push(starts.valueAt(at));
    }
    starts[at + 1] = starts.valueAt(at + 1) + starts.valueAt(at);
  }
  const total = starts[highest + 1] ?? 0;
  visitStart.push(total);
  const visits = new Int32Column(total);
  const visitRun = new Int32Column(total);
  const visit = (at: number, call: number) => {
    const to = starts.valueAt(at);
    starts[at] = to + 1;
    visits[to] = call;
    visitRun[to] = runOf.valueAt(call);
  };
  for (let call = 0; call < stop.length; call++) {
    const [at, planned] = [stop.valueAt(call), plannedStop.valueAt(call)];
    if (runOf[call] === -1) continue;
    if (at >= 0) visit(at, call);
    if (planned !== at && planned >= 0) visit(planned, call);
  }
  return { visitStop, visitStart, visits, visitRun };
}

/** Lists the loads of carriages by call. Few updates have any. */
function listLoads(feed: Feed, update: Int32Column) {
  const ofUpdate = new Map(feed.carriages());
  const loadCall: number[] = [];
  const loadStart: number[] = [];
  const loads: number[] = [];
  for (let call = 0; call < update.length && ofUpdate.size > 0; call++) {
    const ofCall = update.valueAt(call) < 0 ? undefined : ofUpdate.get(update.valueAt(call));
    if (!ofCall) continue;
    loadCall.push(call);
    loadStart.push(loads.length);
    loads.push(...ofCall.map((load) => (load === null ? 0 : load + 1)));
  }
  loadStart.push(loads.length);
  return { loadCall, loadStart, loads };
}

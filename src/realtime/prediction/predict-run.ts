import { Float64Column, type Int32Column } from '../../core/columns.ts';
import { BOOK_TO_BOARD, MAY_BOARD, toCallFlags } from '../../timetable/call-flags.ts';
import { DROP_OFF_SHIFT, NONE, RIDERS_MASK, STOP } from '../feed/packed-feed.ts';
import { plannedBy } from './match-calls.ts';
import { CALL, type RunColumns, ruleNumber } from './run-columns.ts';

/*
 * Computes the times of one run from its planned calls and its matched stop updates. A backward pass limits how late each call
 * can be, a forward pass sets the times. README.md has a row for every rule.
 */

const MAX_LATE_SECONDS = 12 * 3600;
const MAX_EARLY_SECONDS = 30 * 60;
/** The limit for replaced runs, whose calls may be far from the planned times. */
const MAX_MOVED_SECONDS = 2 * 86_400;
/** The most that a vehicle may begin its run early. */
const MAX_BEFORE_START_SECONDS = 15 * 60;
/** The feed and the timetable are of one version if their planned times differ by at most this. */
const SAME_TIMETABLE_SECONDS = 60;
/**
 * Between two calls, a vehicle takes at least this share of the planned time. The share is small: if a late call is followed by
 * one that is nearly on time, the calls between them keep the whole delay.
 */
const LEAST_SHARE = 1 / 6;
const SCHEDULED = 0;
const SKIPPED = 1;
const NO_DATA = 2;
/** A stop of a run without fixed times. */
const UNSCHEDULED = 3;
const FAR = 2 ** 30;

/** What decides the times of a run besides its planned calls and its updates. Calls are indices in the columns. */
export interface TripFacts {
  /** For trains, planned time plus delay takes precedence over the time in the feed, as in the trip planner. */
  isTrain: boolean;
  /** The feed lists all calls, and its times may be far from the planned ones. */
  isReplaced: boolean;
  /** The delay of the whole trip in seconds, or `NONE`. */
  delay: number;
  /** Whether the vehicle goes on as another run after its last call. */
  continues: boolean;
  /** The call that the vehicle has reached or approaches, by its position report; -1 if unknown. */
  reached: number;
  /** The call at which it stands; -1 if none. */
  standsAt: number;
}

const [TIME, DELAY, BEFORE, TRIP_DELAY, NOT_YET, BEFORE_FIRST, ORDER, STANDING] = [
  ruleNumber('time of the feed'),
  ruleNumber('delay of the feed'),
  ruleNumber('delay before'),
  ruleNumber('delay of the trip'),
  ruleNumber('cannot be there yet'),
  ruleNumber('before the first update'),
  ruleNumber('order'),
  ruleNumber('standing'),
] as const;

/** The latest departure of each call, given the calls after it, is `limit + planned * LEAST_SHARE`. Reused for all runs. */
let limits = new Float64Column(64);

/**
 * Fills arrival, departure, state and rule of the columns. Returns false if the trip says nothing about its run; the columns are
 * then incomplete.
 */
export function predictRun(columns: RunColumns, rows: Int32Column, base: number, facts: TripFacts): boolean {
  const { count } = columns;
  if (facts.delay !== NONE && !isWithin(facts.delay)) {
    facts.delay = NONE;
    columns.impossible++;
  }
  applyEstimates(columns, rows, base, facts);
  const first = firstListed(columns);
  if (facts.delay === NONE && !saysAnything(columns, rows, facts)) return false;
  if (limits.length < count) limits = new Float64Column(count * 2);
  stand(columns, facts);
  passBack(columns);
  passForward(columns, first, facts);
  markEnds(columns, facts);
  return true;
}

/**
 * Whether the trip says anything about a call: its time, another stop, that it is skipped or without data, or what riders may do
 * there. In a replaced run, a listed call is enough.
 */
function saysAnything(columns: RunColumns, rows: Int32Column, { isReplaced }: TripFacts): boolean {
  const { count, state, stop, plannedStop, update } = columns;
  const says = isReplaced ? CALL.listed : CALL.own | CALL.skipped | CALL.noData;
  for (let at = 0; at < count; at++) {
    if (state.valueAt(at) & says || stop[at] !== plannedStop[at]) return true;
    const row = update.valueAt(at);
    if (row >= 0 && rows[row * STOP.words + STOP.riders] !== NONE) return true;
  }
  return false;
}

/** Sets the times of calls that have an update. */
function applyEstimates(columns: RunColumns, rows: Int32Column, base: number, facts: TripFacts): void {
  const { count, plannedArrival, plannedDeparture, arrival, departure, state, rule, update, occupancy, flags } =
    columns;
  let startsAt = plannedDeparture.valueAt(0) - MAX_BEFORE_START_SECONDS;
  for (let at = 0; at < count; at++) {
    if (update.valueAt(at) < 0) continue;
    const row = update.valueAt(at) * STOP.words;
    const status = rows.valueAt(row + STOP.occupancy);
    if (status >= 0 && status < 255) occupancy[at] = status + 1;
    flags[at] = changeFlags(flags.valueAt(at), rows.valueAt(row + STOP.riders));
    const relationship = rows.valueAt(row + STOP.relationship);
    state[at] = CALL.listed;
    if (relationship === SKIPPED) state[at] = CALL.skipped | CALL.listed;
    if (relationship === NO_DATA) state[at] = CALL.noData | CALL.listed;
    if (relationship !== NONE && relationship !== SCHEDULED && relationship !== UNSCHEDULED) continue;
    const [planned, plannedArrives] = [plannedDeparture.valueAt(at), plannedArrival.valueAt(at)];
    let departs = estimate(rows, row + STOP.departureDelay, base, planned, facts);
    let arrives = estimate(rows, row + STOP.arrivalDelay, base, plannedArrives, facts);
    if (departs === NONE && arrives === NONE) continue;
    // At a first stop, the feed may give the arrival of the vehicle's previous run.
    if (arrives !== NONE && !isPossible(arrives - plannedArrives, facts)) arrives = NONE;
    if (departs === NONE && arrives === NONE) {
      columns.impossible++;
      continue;
    }
    if (departs === NONE) departs = Math.max(arrives, planned);
    else if (arrives === NONE) arrives = Math.min(departs, plannedArrives + departs - planned);
    if (!isPossible(departs - planned, facts) || (!facts.isReplaced && departs < startsAt)) {
      columns.impossible++;
      continue;
    }
    if (at === 0) startsAt = Math.min(startsAt, departs);
    arrival[at] = arrives;
    departure[at] = departs;
    state[at] = CALL.live | CALL.own | CALL.listed;
    rule[at] = isTime(rows, row) ? TIME : DELAY;
  }
}

/** The flags of a call, changed where the feed's `riders` says whether riders may board or alight. */
function changeFlags(flags: number, riders: number): number {
  if (riders === NONE) return flags;
  const [pickup, dropOff] = [riders & RIDERS_MASK, riders >> DROP_OFF_SHIFT];
  const changed = toCallFlags(pickup - 1, dropOff - 1);
  const ofBoarding = MAY_BOARD | BOOK_TO_BOARD;
  return ((pickup > 0 ? changed : flags) & ofBoarding) | ((dropOff > 0 ? changed : flags) & ~ofBoarding);
}

function isPossible(late: number, { isReplaced }: TripFacts): boolean {
  return isReplaced ? Math.abs(late) <= MAX_MOVED_SECONDS : isWithin(late);
}

const isWithin = (late: number) => late <= MAX_LATE_SECONDS && late >= -MAX_EARLY_SECONDS;

function isTime(rows: Int32Column, row: number): boolean {
  return rows[row + STOP.departureSeconds] !== NONE || rows[row + STOP.arrivalSeconds] !== NONE;
}

/**
 * The arrival or departure, in seconds after the header; `NONE` if the feed has neither time nor delay. The delay is at index
 * `at`, the time in the next word.
 */
function estimate(rows: Int32Column, at: number, base: number, planned: number, { isTrain }: TripFacts): number {
  const [delay, seconds] = [rows.valueAt(at), rows.valueAt(at + 1)];
  const time = seconds === NONE ? NONE : (seconds >>> 0) - base;
  if (delay === NONE) return time;
  const byFeed = plannedBy(rows, at, base);
  const isSameTimetable = byFeed === NONE || Math.abs(byFeed - planned) <= SAME_TIMETABLE_SECONDS;
  return time === NONE || (isTrain && isSameTimetable) ? planned + delay : time;
}

function firstListed({ count, state }: RunColumns): number {
  for (let at = 0; at < count; at++) if (state.valueAt(at) & CALL.listed) return at;
  return -1;
}

/** A vehicle that stands at a stop has not left it, if the feed still has an update for that stop. */
function stand(columns: RunColumns, { standsAt }: TripFacts): void {
  const { plannedDeparture, arrival, departure, state, rule } = columns;
  const flags = (state[standsAt] ?? 0) & (CALL.listed | CALL.skipped);
  if (flags !== CALL.listed || departure.valueAt(standsAt) >= 0) return;
  // Without an estimate it leaves as planned, or now if that is past.
  const isUnknown = departure[standsAt] === NONE;
  if (isUnknown) arrival[standsAt] = 0;
  departure[standsAt] = isUnknown ? Math.max(0, plannedDeparture.valueAt(standsAt)) : 0;
  state[standsAt] = state.valueAt(standsAt) | CALL.live | CALL.own;
  rule[standsAt] = STANDING;
}

/** Sets `limits`, so that each later call with its own time is reached in at least `LEAST_SHARE` of the planned time. */
function passBack({ count, plannedArrival, arrival, state }: RunColumns): void {
  let limit = FAR;
  for (let at = count - 1; at >= 0; at--) {
    limits[at] = limit;
    if (state.valueAt(at) & CALL.own) {
      limit = Math.min(limit, arrival.valueAt(at) - plannedArrival.valueAt(at) * LEAST_SHARE);
    }
  }
}

function passForward(columns: RunColumns, first: number, facts: TripFacts): void {
  const { count, plannedArrival, plannedDeparture, arrival, departure, state, rule } = columns;
  const isBegun = hasBegun(columns, first, facts);
  let delay = facts.delay;
  let delayRule = TRIP_DELAY;
  /** The earliest arrival of a call, given the calls before it, is `reach + planned * LEAST_SHARE`. */
  let [reach, reachOfDerived] = [-FAR, -FAR];
  let latest = -FAR;
  for (let at = 0; at < count; at++) {
    const flags = state.valueAt(at);
    const [planned, plannedArrives] = [plannedDeparture.valueAt(at), plannedArrival.valueAt(at)];
    if (flags & CALL.own) {
      const own = departure.valueAt(at);
      const soonest = Math.max(latest, Math.ceil(reachOfDerived + plannedArrives * LEAST_SHARE));
      const arrives = Math.max(arrival.valueAt(at), soonest);
      const departs = Math.max(own, arrives);
      if (departs !== own) rule[at] = ORDER;
      arrival[at] = arrives;
      departure[at] = latest = departs;
      reach = Math.max(reach, departs - planned * LEAST_SHARE);
      // The delay from the feed, without the correction above: two times out of order must not make later calls later.
      delay = own - planned;
      delayRule = BEFORE;
      continue;
    }
    if (flags & CALL.noData) delay = NONE;
    const stands = planned - plannedArrives;
    let arrives = plannedArrives;
    let isLive = false;
    if (at < first && isBegun) {
      state[at] = flags & CALL.skipped ? flags : flags | CALL.left;
    } else if (at < first && state.valueAt(first) & CALL.own) {
      [arrives, isLive] = beforeFirst(columns, at, first);
      if (isLive) rule[at] = BEFORE_FIRST;
    } else if (delay !== NONE) {
      arrives = plannedArrives + delay;
      isLive = true;
      rule[at] = delayRule;
    }
    const soonest = Math.max(latest, Math.ceil(reach + plannedArrives * LEAST_SHARE));
    if (arrives < soonest) {
      // After a stop without data the vehicle keeps its planned running times from the last known one.
      arrives = delay === NONE && at > first ? Math.max(soonest, sinceLast(columns, at, latest)) : soonest;
      if (!isLive) rule[at] = NOT_YET;
      isLive = true;
    }
    let departs = arrives + stands;
    const limit = Math.floor(limits.valueAt(at) + planned * LEAST_SHARE);
    if (departs > limit && limit < FAR / 2) {
      departs = Math.max(Math.min(departs, limit), soonest);
      arrives = Math.min(arrives, departs);
      rule[at] = ORDER;
      isLive = true;
    }
    const isShown = (flags & CALL.skipped) === 0 && (state.valueAt(at) & CALL.left) === 0;
    if (isLive && isShown) state[at] = state.valueAt(at) | CALL.live;
    else rule[at] = 0;
    arrival[at] = arrives;
    departure[at] = latest = departs;
    const own = departs - planned * LEAST_SHARE;
    reach = Math.max(reach, own);
    if (isShown) reachOfDerived = Math.max(reachOfDerived, own);
  }
}

/** The arrival if the vehicle keeps its planned running time from the call before. */
function sinceLast({ plannedArrival, plannedDeparture }: RunColumns, at: number, latest: number): number {
  return latest + plannedArrival.valueAt(at) - plannedDeparture.valueAt(at - 1);
}

/**
 * Whether the run has begun, so that the calls before the first listed one have been left. True if its planned start is past, its
 * vehicle is under way, or the feed lists all calls. Else true for a run that starts within 15 minutes, if a call has a time and
 * the feed lists neither of the first two calls.
 */
function hasBegun({ count, plannedDeparture, state }: RunColumns, first: number, facts: TripFacts): boolean {
  const begins = plannedDeparture.valueAt(0);
  if (facts.isReplaced || facts.reached > 0 || begins <= 0) return true;
  if (first <= 1 || begins > MAX_BEFORE_START_SECONDS) return false;
  for (let at = first; at < count; at++) if (state.valueAt(at) & CALL.own) return true;
  return false;
}

/** The arrival at a call before the first listed one, in a run that has not begun: as planned, or late enough for the first listed call. */
function beforeFirst(columns: RunColumns, at: number, first: number): [arrives: number, isLive: boolean] {
  const { plannedArrival, plannedDeparture, arrival } = columns;
  const planned = plannedArrival.valueAt(at);
  const running = plannedArrival.valueAt(first) - plannedDeparture.valueAt(at);
  const late = arrival.valueAt(first) - running - plannedDeparture.valueAt(at);
  return late > 0 ? [planned + late, true] : [planned, false];
}

/**
 * Marks the last call as the end if the vehicle skips all stops after it and does not continue as another run, and the first call
 * as the start if it skips all stops before it.
 */
function markEnds({ count, state }: RunColumns, { continues }: TripFacts): void {
  let last = count - 1;
  while (last >= 0 && state.valueAt(last) & CALL.skipped) last--;
  if (last >= 0 && last < count - 1 && !continues) state[last] = state.valueAt(last) | CALL.end;
  let first = 0;
  while (first < count && state.valueAt(first) & CALL.skipped) first++;
  if (first > 0 && first < count) state[first] = state.valueAt(first) | CALL.start;
}

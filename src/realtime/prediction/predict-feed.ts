import { Int32Column, int32At, Uint8Column } from '../../core/columns.ts';
import { MAY_ALIGHT, MAY_BOARD } from '../../timetable/call-flags.ts';
import { isEmptyRoute } from '../../timetable/import/passenger-trips.ts';
import { filesOfFeed } from '../../timetable/schedule-files.ts';
import { toDayNumber } from '../../timetable/service-day.ts';
import { withoutDate } from '../../transit/trip-id.ts';
import { type Feed, STOPPED_AT, TRIP_RELATIONSHIPS, type TripRelationship } from '../feed/feed.ts';
import { NONE, STOP, TRIP, VEHICLE } from '../feed/packed-feed.ts';
import type { FeedSourceId } from '../polling/feed-source.ts';
import { identityOf, type LeftOutOfFeed, packSnapshot, RUN } from '../snapshot.ts';
import { givenTime, matchCalls, plannedTime, UNKNOWN_STOP, UNMATCHED, type Updates } from './match-calls.ts';
import type { PlannedRuns } from './planned-runs.ts';
import { predictRun, type TripFacts } from './predict-run.ts';
import { CALL, RunColumns, ruleNumber } from './run-columns.ts';
import { RunList } from './run-list.ts';

/** The maximum difference between the times of an update and those of its run. */
const HALF_A_DAY_SECONDS = 12 * 3600;
/** The maximum difference between the time of an added call and the header. */
const MAX_APART_SECONDS = 2 * 86_400;
const MAX_EXAMPLES = 10;
/** A vehicle with an older position report does not count as standing, because it may have moved on. */
const MAX_REPORT_AGE_SECONDS = 120;
/** The maximum number of following runs of a late vehicle that are made late too. */
const MAX_NEXT_RUNS = 20;

/** Relationships of trips whose calls come from the feed. */
const LISTS_CALLS: ReadonlySet<TripRelationship> = new Set(['ADDED', 'UNSCHEDULED', 'NEW', 'REPLACEMENT']);

interface FeedTrip {
  /** Its row in the feed. */
  row: number;
  id: string;
  relationship: TripRelationship;
  updates: Updates;
}

/**
 * Predicts all runs of a feed, as a packed snapshot. `positions` is the newest feed of positions of the same vehicles, or null.
 * The same inputs give the same snapshot.
 */
export function predictFeed(
  runs: PlannedRuns,
  { source, feed, positions = null }: { source: FeedSourceId; feed: Feed; positions?: Feed | null },
): SharedArrayBuffer {
  const { timetable } = runs;
  const { sections } = timetable;
  const files = filesOfFeed(source);
  const base = Math.floor(feed.headerAt / 1000);
  const columns = new RunColumns();
  const calls = new Int32Column(512);
  const list = new RunList(feed.stops.length / STOP.words, runs.pool);
  const leftOut: LeftOutOfFeed = {};
  const stopOfText = new Int32Column(feed.textCount).fill(NONE);
  const vehicles = positions ? indexVehicles(positions) : null;
  /** The index in `list` of each run that the timetable lacks, by identifier and start. */
  const added = new Map<string, number>();
  const cancelledIds: string[] = [];
  let [compared, found] = [0, 0];
  let lastDate: { date: number; day: number | null } = { date: NONE, day: null };

  function leaveOut(reason: string, example: string | (() => string)): void {
    leftOut[reason] ??= { count: 0, examples: [] };
    const { examples } = leftOut[reason];
    leftOut[reason].count++;
    if (examples.length < MAX_EXAMPLES) examples.push(typeof example === 'string' ? example : example());
  }

  /** The service day of a date, which is a number such as 20261130. Cached, because nearly all trips of a feed have the same one. */
  function dayOf(date: number): number | null {
    if (date === NONE) return null;
    if (date !== lastDate.date) lastDate = { date, day: toDayNumber(String(date).padStart(8, '0')) };
    return lastDate.day;
  }

  function stopOf(text: number): number {
    let stop = stopOfText[text] ?? -1;
    if (stop === NONE) {
      stop = runs.stopOf(feed.textOf(text) ?? '');
      stopOfText[text] = stop;
    }
    return stop;
  }

  for (let row = 0; row < feed.trips.length; row += TRIP.words) {
    const relationship = TRIP_RELATIONSHIPS[Math.max(0, feed.trips.valueAt(row + TRIP.relationship))] ?? 'UNKNOWN';
    const id = feed.textOf(feed.trips[row + TRIP.tripId]) ?? '';
    const { first, count } = feed.updatesOf(row);
    const updates: Updates = { rows: feed.stops, first, count, stopOf, base };
    predictTrip({ row, id, relationship, updates });
  }
  addNextRuns();
  return pack();

  function predictTrip(trip: FeedTrip) {
    const { relationship, id, row } = trip;
    if (relationship === 'UNKNOWN') return leaveOut('unknown relationship', id);
    const trips = runs.tripsOf(id, files);
    if (relationship === 'DUPLICATED') return predictDuplicate(trip, trips);
    const isTimetabled = !LISTS_CALLS.has(relationship);
    const isEmpty = isEmptyRoute(feed.textOf(feed.trips[row + TRIP.routeId]));
    const isCompared = isTimetabled && !isEmpty;
    if (isCompared) compared++;
    if (trips.length === 0) {
      if (isCancellation(relationship)) cancelledIds.push(id);
      // Not added: a REPLACEMENT that the timetable lacks is a train without passengers, or is also in the feed of TrainLink.
      if (!isTimetabled && relationship !== 'REPLACEMENT') predictAdded(trip, id);
      else if (!isEmpty) leaveOut('trip not in the timetable', id);
      return;
    }
    if (relationship === 'NEW') return leaveOut('new trip with the identifier of a planned one', id);
    const run = findRun(trip, trips);
    if (!run) return leaveOut('trip does not run then', id);
    // The trip may not fit: a feed made from another timetable uses the same identifiers for other runs.
    if (predictKnown(trip, run) && isCompared) found++;
  }

  /** The run that an update belongs to: on its start date if the times fit, else on the nearest day; null if no run is near. */
  function findRun({ row, updates }: FeedTrip, trips: readonly number[]): { trip: number; day: number } | null {
    const { trips: rows, headerAt } = feed;
    const startDate = rows.valueAt(row + TRIP.startDate);
    const startTime = rows.valueAt(row + TRIP.startTimeSeconds);
    const startDay = dayOf(startDate);
    const time = firstTime(updates);
    const isKnown = time !== NONE;
    let moment = isKnown ? base + time : base;
    if (!isKnown && startDay !== null && startTime !== NONE) moment = runs.dayStart(startDay) + startTime;
    if (startDay !== null) {
      const fits = (trip: number) =>
        timetable.runsOn(trip, startDay) && (!isKnown || apart(trip, startDay, moment) <= HALF_A_DAY_SECONDS);
      // All runs of a frequency have the same identifier and differ only in their start.
      const apartOf = (trip: number) =>
        startTime !== NONE
          ? Math.abs(sections.tripStart.valueAt(trip) - startTime)
          : isKnown
            ? apart(trip, startDay, moment)
            : 0;
      let best = -1;
      for (const trip of trips) if (fits(trip) && (best < 0 || apartOf(trip) < apartOf(best))) best = trip;
      if (best >= 0) return { trip: best, day: startDay };
    }
    let nearest: { trip: number; day: number; apart: number } | null = null;
    for (const trip of trips) {
      const day = runs.nearestDay(trip, moment, headerAt);
      if (day && (!nearest || day.apart < nearest.apart)) nearest = { trip, ...day };
    }
    return nearest && nearest.apart <= HALF_A_DAY_SECONDS ? nearest : null;
  }

  function apart(trip: number, day: number, moment: number): number {
    const start = runs.dayStart(day) + sections.tripStart.valueAt(trip);
    const last = sections.tripArrivals.valueAt(trip) + runs.callCount(trip) - 1;
    return Math.max(0, start - moment, moment - start - int32At(sections.offsets, last));
  }

  /** Predicts a run of the timetable. False if the trip does not fit it: the trip has updates, and none matches a call. */
  function predictKnown(trip: FeedTrip, run: { trip: number; day: number }): boolean {
    const { row, id, relationship, updates } = trip;
    const isCancelled = isCancellation(relationship);
    const about = { trip: run.trip, day: run.day, like: -1, route: -1, update: row, id };
    const timestamp = feed.trips.valueAt(row + TRIP.timestamp);
    const known = list.find(run.trip, run.day);
    if (known >= 0) {
      leaveOut('several updates of one run', id);
      const other = list.about(known);
      const wins = other.isCancelled === isCancelled ? timestamp > other.timestamp : other.isCancelled;
      if (!wins) return true;
    }
    runs.fill(columns, run.trip, run.day, base);
    const pattern = sections.tripPattern.valueAt(run.trip);
    const isTrain = isTrainPattern(pattern);
    if (isTrain) cutToMinutes(columns, base);
    if (isCancelled) {
      for (let at = 0; at < columns.count; at++) skipCall(at);
      if (known >= 0) list.drop(known);
      list.add({ ...about, flags: RUN.cancelled, timestamp }, columns);
      return true;
    }
    const { matched, inserted } = matchUpdates(trip, pattern);
    const isMerged = inserted > 0;
    const facts: TripFacts = {
      isTrain,
      isReplaced: LISTS_CALLS.has(relationship) && matched + inserted > 0,
      delay: feed.trips.valueAt(row + TRIP.delay),
      continues: isTrain && timetable.nextTrip(run.trip, run.day) !== null,
      ...locateVehicle(id, pattern),
    };
    const saysAnything = predictRun(columns, feed.stops, base, facts);
    if (columns.impossible > 0) leaveOut('impossible time', id);
    if (saysAnything) {
      // Only now, because an update that says nothing must not replace another one.
      if (known >= 0) list.drop(known);
      list.add({ ...about, flags: isMerged ? RUN.replaced : 0, timestamp }, columns);
    }
    return matched > 0 || updates.count === 0;
  }

  function isTrainPattern(pattern: number): boolean {
    return timetable.routeOf(pattern).mode === 'train';
  }

  function skipCall(at: number): void {
    columns.arrival[at] = columns.plannedArrival.valueAt(at);
    columns.departure[at] = columns.plannedDeparture.valueAt(at);
    columns.state[at] = CALL.skipped;
  }

  /** Finds the call of each update, and inserts the calls that only the feed has. Returns how many were matched and inserted. */
  function matchUpdates(
    { id, updates, relationship }: FeedTrip,
    pattern: number,
  ): { matched: number; inserted: number } {
    const isReplaced = LISTS_CALLS.has(relationship);
    const { patternCalls, callSequence } = sections;
    const sequences = callSequence.subarray(patternCalls[pattern], patternCalls[pattern + 1]);
    matchCalls(columns, updates, runs, { sequences, isLoop: runs.isLoop(pattern) }, calls);
    let [matched, inserted] = [0, 0];
    for (let index = 0; index < updates.count; index++) {
      const call = calls.valueAt(index);
      const row = (updates.first + index) * STOP.words;
      if (call >= 0) {
        matched++;
        moveCall(call, row);
      } else if (call === UNKNOWN_STOP) leaveOut('stop not in the timetable', () => `${id} ${stopIdAt(row)}`);
      else if (isExtraCall(row, isReplaced)) inserted++;
      else {
        calls[index] = UNKNOWN_STOP;
        leaveOut('update of no call', () => `${id} ${stopIdAt(row)}`);
      }
    }
    if (inserted > 0) insertCalls(updates, inserted);
    if (isReplaced && matched + inserted > 0) {
      for (let at = 0; at < columns.count; at++) if (columns.update[at] === -1) leaveOutCall(at);
    }
    return { matched, inserted };
  }

  function stopIdAt(row: number): string {
    const sequence = feed.stops.valueAt(row + STOP.sequence);
    return feed.textOf(feed.stops[row + STOP.stopId]) ?? (sequence === NONE ? '' : `#${sequence}`);
  }

  /** Sets the stop of a call today, which may be another platform of the station or another stop. */
  function moveCall(call: number, row: number): void {
    const assigned = feed.stops.valueAt(row + STOP.assignedStopId);
    const text = assigned === NONE ? feed.stops.valueAt(row + STOP.stopId) : assigned;
    const stop = text === NONE ? -1 : stopOf(text);
    // The ID of the whole station does not say that the platform has changed.
    if (stop >= 0 && stop !== sections.stopParent[columns.stop.valueAt(call)]) columns.stop[call] = stop;
  }

  /**
   * Whether an unmatched update is a call that only the feed has. A second update for a planned stop is not, unless the feed
   * lists all calls.
   */
  function isExtraCall(row: number, isReplaced: boolean): boolean {
    const relationship = feed.stops.valueAt(row + STOP.relationship);
    const time = givenTime(feed.stops, row, base);
    const text = feed.stops.valueAt(row + STOP.stopId);
    if (relationship > 0 || text === NONE || time === NONE || Math.abs(time) > MAX_APART_SECONDS) return false;
    if (isReplaced) return true;
    const stop = stopOf(text);
    for (let at = 0; at < columns.count; at++) {
      if (runs.isSameStation(columns.plannedStop.valueAt(at), stop)) return false;
    }
    return true;
  }

  /** Inserts the calls that only the feed has, each after the call of the update before it. */
  function insertCalls({ first, count }: Updates, inserted: number): void {
    const { stop, plannedArrival, plannedDeparture, update, flags, count: before } = columns;
    const old = {
      stop: new Int32Column(stop.subarray(0, before)),
      plannedStop: new Int32Column(columns.plannedStop.subarray(0, before)),
      plannedArrival: new Int32Column(plannedArrival.subarray(0, before)),
      plannedDeparture: new Int32Column(plannedDeparture.subarray(0, before)),
      update: new Int32Column(update.subarray(0, before)),
      flags: new Uint8Column(flags.subarray(0, before)),
    };
    const behind: number[][] = [];
    let last = -1;
    const next = calls.subarray(0, count).findIndex((call) => call >= 0);
    for (let index = 0; index < count; index++) {
      const call = calls.valueAt(index);
      if (call >= 0) last = call;
      if (call !== UNMATCHED) continue;
      // A call before all matched ones comes after the calls that the vehicle has left.
      const at = last < 0 && next >= 0 ? calls.valueAt(next) - 1 : last;
      behind[at + 1] ??= [];
      behind[at + 1]?.push(first + index);
    }
    columns.reset(before + inserted);
    let to = 0;
    for (let at = 0; at <= before; at++) {
      for (const extra of behind[at] ?? []) {
        const row = extra * STOP.words;
        const planned = plannedTime(feed.stops, row, base);
        const time = givenTime(feed.stops, row, base);
        columns.stop[to] = stopOf(feed.stops.valueAt(row + STOP.stopId));
        columns.plannedStop[to] = columns.stop.valueAt(to);
        columns.position[to] = -1;
        columns.flags[to] = MAY_BOARD | MAY_ALIGHT;
        columns.plannedDeparture[to] = planned === NONE ? time : planned;
        columns.plannedArrival[to] = columns.plannedDeparture.valueAt(to);
        columns.update[to++] = extra;
      }
      if (at === before) break;
      columns.stop[to] = old.stop.valueAt(at);
      columns.plannedStop[to] = old.plannedStop.valueAt(at);
      columns.position[to] = at;
      columns.flags[to] = old.flags.valueAt(at);
      columns.plannedArrival[to] = old.plannedArrival.valueAt(at);
      columns.plannedDeparture[to] = old.plannedDeparture.valueAt(at);
      columns.update[to++] = old.update.valueAt(at);
    }
  }

  /**
   * Marks as skipped a planned call that the feed does not list for a replaced run. A past call before the first listed one
   * counts as left, because feeds may drop such calls.
   */
  function leaveOutCall(at: number): void {
    let first = 0;
    while (first < columns.count && columns.update[first] === -1) first++;
    const isLeft = at < first && columns.plannedDeparture.valueAt(at) <= 0;
    columns.state[at] = isLeft ? CALL.left : CALL.skipped;
  }

  /**
   * Predicts a DUPLICATED trip: a second vehicle on a planned trip, at another time. The feed may have updates for only some of
   * its calls.
   */
  function predictDuplicate(trip: FeedTrip, trips: readonly number[]) {
    const { trips: rows } = feed;
    const [like] = trips;
    if (like === undefined) return leaveOut('copy of no trip', trip.id);
    const name = feed.textOf(rows[trip.row + TRIP.newTripId]);
    const given = rows.valueAt(trip.row + TRIP.newStartTimeSeconds);
    const planned = sections.tripStart.valueAt(like);
    // Without properties, the start of the update is that of the copy.
    const time = name === null && given === NONE ? rows.valueAt(trip.row + TRIP.startTimeSeconds) : given;
    if (name === null && (time === NONE || time === planned)) return leaveOut('copy of no trip', trip.id);
    const id = name ?? `${trip.id} ${time}`;
    const date = rows.valueAt(trip.row + TRIP.newStartDate);
    const run = findRun(trip, trips);
    const day = dayOf(date) ?? run?.day;
    const later = time === NONE ? 0 : time - planned;
    const starts = day === undefined ? NONE : runs.dayStart(day) + planned + later;
    if (day === undefined || Math.abs(starts - base) > MAX_APART_SECONDS)
      return leaveOut('trip does not run then', trip.id);
    runs.fill(columns, like, day, base);
    for (let at = 0; at < columns.count; at++) {
      columns.plannedArrival[at] = columns.plannedArrival.valueAt(at) + later;
      columns.plannedDeparture[at] = columns.plannedDeparture.valueAt(at) + later;
    }
    const pattern = sections.tripPattern.valueAt(like);
    const route = sections.patternRoute.valueAt(pattern);
    const { inserted } = matchUpdates(trip, pattern);
    if (inserted > 0) orderPlanned(columns);
    addPredicted(trip, { id, like, route, isTrain: isTrainPattern(pattern) });
  }

  /** Predicts a run that only the feed has. Its identifier may be that of a planned trip with a suffix. */
  function predictAdded(trip: FeedTrip, id: string) {
    const suffixAt = id.lastIndexOf('_');
    const [like] = suffixAt < 0 ? [] : runs.tripsOf(id.slice(0, suffixAt), files);
    const run = like === undefined ? null : findRun(trip, [like]);
    if (like !== undefined && run) {
      runs.fill(columns, like, run.day, base);
      return addLike(trip, { id, like });
    }
    const route = timetable.findRouteIndex(feed.textOf(feed.trips[trip.row + TRIP.routeId]), files);
    if (route === null) return leaveOut('added trip without a known route', id);
    columns.reset(0);
    calls.fill(UNMATCHED, 0, trip.updates.count);
    addFromFeed(trip, { id, like: -1, route, isTrain: timetable.routeAt(route).mode === 'train' });
  }

  function addLike(trip: FeedTrip, { id, like }: { id: string; like: number }): void {
    const pattern = sections.tripPattern.valueAt(like);
    const { patternCalls, callSequence } = sections;
    const sequences = callSequence.subarray(patternCalls[pattern], patternCalls[pattern + 1]);
    matchCalls(columns, trip.updates, runs, { sequences, isLoop: runs.isLoop(pattern) }, calls);
    addFromFeed(trip, { id, like, route: sections.patternRoute.valueAt(pattern), isTrain: isTrainPattern(pattern) });
  }

  /** Adds a run with the calls in the feed. Their planned times come from `columns` where known. */
  function addFromFeed(
    trip: FeedTrip,
    { id, like, route, isTrain }: { id: string; like: number; route: number; isTrain: boolean },
  ) {
    const { first, count } = trip.updates;
    const plannedCalls = Array.from({ length: columns.count }, (_, at) => ({
      stop: columns.stop.valueAt(at),
      arrives: columns.plannedArrival.valueAt(at),
      departs: columns.plannedDeparture.valueAt(at),
    }));
    const listed: { stop: number; arrives: number; departs: number; update: number; position: number }[] = [];
    for (let index = 0; index < count; index++) {
      const row = (first + index) * STOP.words;
      const text = feed.stops.valueAt(row + STOP.stopId);
      const known = calls.valueAt(index) < 0 ? undefined : plannedCalls[calls.valueAt(index)];
      const stop = text === NONE ? (known?.stop ?? -1) : stopOf(text);
      const time = givenTime(feed.stops, row, base);
      const isTimed = time !== NONE && Math.abs(time) <= MAX_APART_SECONDS;
      if (stop < 0) {
        leaveOut('stop not in the timetable', () => `${id} ${stopIdAt(row)}`);
        continue;
      }
      if (!isTimed && !known) continue;
      const byFeed = plannedTime(feed.stops, row, base);
      const departs = known?.departs ?? (byFeed === NONE ? time : byFeed);
      const position = known ? calls.valueAt(index) : -1;
      listed.push({ stop, arrives: known?.arrives ?? departs, departs, update: first + index, position });
    }
    if (listed.length < 2) return leaveOut('added trip with fewer than two calls', id);
    columns.reset(listed.length);
    for (const [at, call] of listed.entries()) {
      columns.stop[at] = columns.plannedStop[at] = call.stop;
      columns.position[at] = call.position;
      columns.flags[at] = MAY_BOARD | MAY_ALIGHT;
      columns.plannedArrival[at] = call.arrives;
      columns.plannedDeparture[at] = call.departs;
      columns.update[at] = call.update;
    }
    addPredicted(trip, { id, like, route, isTrain });
  }

  /** Adds the run in `columns`, which the timetable lacks. */
  function addPredicted(
    trip: FeedTrip,
    { id, like, route, isTrain }: { id: string; like: number; route: number; isTrain: boolean },
  ) {
    const facts: TripFacts = {
      isTrain,
      isReplaced: LISTS_CALLS.has(trip.relationship),
      delay: feed.trips.valueAt(trip.row + TRIP.delay),
      continues: false,
      ...locateVehicle(id, like < 0 ? null : sections.tripPattern.valueAt(like)),
    };
    if (isTrain) cutToMinutes(columns, base);
    if (!predictRun(columns, feed.stops, base, facts)) {
      for (let at = 0; at < columns.count; at++) {
        columns.arrival[at] = columns.plannedArrival.valueAt(at);
        columns.departure[at] = columns.plannedDeparture.valueAt(at);
      }
    }
    const timestamp = feed.trips.valueAt(trip.row + TRIP.timestamp);
    const [date, time] = [feed.trips[trip.row + TRIP.startDate], feed.trips[trip.row + TRIP.startTimeSeconds]];
    const key = `${id} ${trip.relationship === 'DUPLICATED' ? '' : `${date} ${time}`}`;
    const known = added.get(key);
    if (known !== undefined) {
      leaveOut('several updates of one run', id);
      if (timestamp <= list.about(known).timestamp) return;
      list.drop(known);
    }
    added.set(key, list.length);
    list.add({ trip: -1, day: 0, like, route, update: trip.row, id, flags: RUN.replaced, timestamp }, columns);
  }

  /** A vehicle that arrives late begins its next run late, unless that run has an update of its own. */
  function addNextRuns(): void {
    const late = ruleNumber('next run of the vehicle');
    for (let run = 0, count = list.length; run < count; run++) {
      let { trip } = list.about(run);
      const { day } = list.about(run);
      if (trip < 0 || list.isDropped(run) || sections.tripBlock.valueAt(trip) === 0) continue;
      let ends = list.lastArrival(run);
      for (let chained = 0; ends !== NONE && chained < MAX_NEXT_RUNS; chained++) {
        const next = runs.nextInBlock(trip, day);
        if (next < 0 || list.find(next, day) >= 0) break;
        runs.fill(columns, next, day, base);
        if (isTrainPattern(sections.tripPattern.valueAt(next))) cutToMinutes(columns, base);
        const delay = ends - columns.plannedDeparture.valueAt(0);
        if (delay <= 0) break;
        for (let at = 0; at < columns.count; at++) {
          columns.arrival[at] = columns.plannedArrival.valueAt(at) + delay;
          columns.departure[at] = columns.plannedDeparture.valueAt(at) + delay;
          columns.state[at] = CALL.live;
          columns.rule[at] = late;
        }
        const about = { trip: next, day, like: -1, route: -1, update: -1, id: '', flags: 0, timestamp: NONE };
        list.add(about, columns);
        ends = columns.arrival.valueAt(columns.count - 1);
        trip = next;
      }
    }
  }

  function pack(): SharedArrayBuffer {
    const { numbers, addedIds } = list.finish(feed);
    const about = { source, base, timetable: identityOf(timetable), addedIds, cancelledIds, compared, found, leftOut };
    return packSnapshot(about, numbers);
  }

  /**
   * The call that the vehicle has reached or stands at, from its position report. `pattern` gives the sequence numbers of the
   * planned calls in `columns`.
   */
  function locateVehicle(id: string, pattern: number | null): { reached: number; standsAt: number } {
    const row = vehicles?.get(withoutDate(id));
    if (row === undefined) return { reached: -1, standsAt: -1 };
    const { vehicles: rows } = positions as Feed;
    const sequence = rows.valueAt(row + VEHICLE.sequence);
    const text = (positions as Feed).textOf(rows[row + VEHICLE.stopId]);
    const stop = text === null ? -1 : runs.stopOf(text);
    const isThere = (at: number) => stop >= 0 && runs.isSameStation(columns.stop.valueAt(at), stop);
    const hasNumber = (at: number) => {
      const position = columns.position.valueAt(at);
      if (pattern === null || position < 0) return false;
      return sections.callSequence[sections.patternCalls.valueAt(pattern) + position] === sequence;
    };
    // If the sequence number belongs to another stop, the feed numbers the calls of another timetable, and the stop decides.
    const byNumber = sequence === NONE ? -1 : findCall((at) => hasNumber(at) && (stop < 0 || isThere(at)));
    const reached = byNumber >= 0 ? byNumber : findCall(isThere);
    if (!isStanding(row)) return { reached, standsAt: -1 };
    const listed = findCall((at) => columns.update.valueAt(at) >= 0 && isThere(at));
    return { reached, standsAt: byNumber >= 0 ? byNumber : listed };
  }

  /** The first call in `columns` for which the condition holds; -1 if none. */
  function findCall(meets: (at: number) => boolean): number {
    for (let at = 0; at < columns.count; at++) if (meets(at)) return at;
    return -1;
  }

  function isStanding(row: number): boolean {
    const { vehicles } = positions as Feed;
    const reported = vehicles.valueAt(row + VEHICLE.reportedSeconds) >>> 0;
    return vehicles[row + VEHICLE.status] === STOPPED_AT && Math.abs(base - reported) <= MAX_REPORT_AGE_SECONDS;
  }
}

/** Maps run IDs to rows of vehicles. The date in the IDs is ignored, because the two feeds may be of different publications. */
function indexVehicles(positions: Feed): Map<string, number> {
  const rows = new Map<string, number>();
  for (let row = 0; row < positions.vehicles.length; row += VEHICLE.words) {
    const id = positions.textOf(positions.vehicles[row + VEHICLE.tripId]);
    if (id !== null) rows.set(withoutDate(id), row);
  }
  return rows;
}

function isCancellation(relationship: TripRelationship): boolean {
  return relationship === 'CANCELED' || relationship === 'DELETED';
}

/** The first usable time of the updates, relative to the header: the planned one if known, else the live one; `NONE` if there is none. */
function firstTime({ rows, first, count, base }: Updates): number {
  for (let row = first * STOP.words; row < (first + count) * STOP.words; row += STOP.words) {
    const planned = plannedTime(rows, row, base);
    const time = planned === NONE ? givenTime(rows, row, base) : planned;
    if (time !== NONE && Math.abs(time) <= MAX_APART_SECONDS) return time;
  }
  return NONE;
}

/** Limits the planned times of inserted calls to those of the calls before and after them. */
function orderPlanned({ count, position, plannedArrival, plannedDeparture }: RunColumns): void {
  const isInserted = (at: number) => position[at] === -1;
  const setPlanned = (at: number, seconds: number) => {
    plannedArrival[at] = plannedDeparture[at] = seconds;
  };
  for (let at = count - 2; at >= 0; at--) {
    if (isInserted(at)) setPlanned(at, Math.min(plannedDeparture.valueAt(at), plannedArrival.valueAt(at + 1)));
  }
  for (let at = 1; at < count; at++) {
    if (isInserted(at)) setPlanned(at, Math.max(plannedArrival.valueAt(at), plannedDeparture.valueAt(at - 1)));
  }
}

/** Rounds planned times down to the minute, because the trip planner adds the delay of a train to its planned minute. */
function cutToMinutes({ count, plannedArrival, plannedDeparture }: RunColumns, base: number): void {
  for (const column of [plannedArrival, plannedDeparture]) {
    for (let at = 0; at < count; at++) {
      const seconds = base + column.valueAt(at);
      column[at] = seconds - (seconds % 60) - base;
    }
  }
}

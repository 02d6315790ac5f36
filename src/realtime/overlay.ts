import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../clock.ts';
import type { RunCall } from '../efa/calls.ts';
import { type CallState, type Carriages, type Departure, isCancelled, leavesAt } from '../transit/departure.ts';
import type { Mode } from '../transit/mode.ts';
import {
  type Feed,
  type StopTime,
  type StopUpdate,
  type TripRelationship,
  type TripUpdate,
  toCarriages,
  toOccupancy,
} from './feed/feed.ts';
import { type CallMatch, findDelay, findPlannedAt, isOnServiceDay, matchCalls, plannedAtOf } from './join.ts';
import type { FeedSourceId } from './polling/feed-source.ts';

/** A feed that is alive (see feed-health.ts), and the modes whose runs it carries. */
export interface LivingFeed {
  source: FeedSourceId;
  modes: readonly Mode[];
  feed: Feed;
}

/** A stop's timetable, as far as the departure monitor has listed it. */
export interface StopTimetable {
  /** The stop itself and its platforms, as far as they are known. */
  stopIds: ReadonlySet<string>;
  /** Departures with their last live state, from the departure monitor or a feed; else as the departure monitor listed them. */
  calls: readonly Departure[];
  /** Every departure before this moment is listed: milliseconds since 1970. */
  coveredUntil: number;
}

/** A change that the feeds do not give in full, so a page has to be requested from the departure monitor: once for each key. */
export interface Change {
  key: string;
  /** The planned time of the departure, or the time of the one that is not listed: milliseconds since 1970. */
  at: number;
}

/** Says whether a change is only a train without updates. Mostly it is on time, so the request can wait when calls are short. */
export function isAboutSilence({ key }: Change): boolean {
  return key.startsWith(SILENT);
}

/** The state of a call by the feeds. */
interface OverlaidCall {
  state: CallState;
  /** Names the change that a page has to be requested for; null when the state is known in full. */
  change: string | null;
}

/** A feed that gives a vehicle a larger delay is wrong. */
const MAX_SHIFT_MS = 12 * HOUR_MS;
/** A train that is due and has no updates. */
const SILENT = 'no updates';
/** A train due within this time should have updates by now. */
const IMMINENT_MS = 2 * MINUTE_MS;
/** A vehicle leaves early by this at most: one that was expected later has not left when it is gone from the feed. */
const EARLY_MS = MINUTE_MS;
/** Buses run ahead of their timetable; trains wait. */
const EARLY_BUS_MS = 3 * MINUTE_MS;

/** The stop updates of these trips are their calls. A duplicated trip is not among them: it has the identifier of another one. */
const CALLS_ARE_LISTED: readonly TripRelationship[] = ['SCHEDULED', 'REPLACEMENT', 'ADDED', 'UNSCHEDULED', 'NEW'];

const SCHEDULED: OverlaidCall = { state: { kind: 'scheduled' }, change: null };
const CANCELLED: OverlaidCall = { state: { kind: 'cancelled' }, change: null };
const DEPARTED: OverlaidCall = { state: { kind: 'departed' }, change: null };

/**
 * Lays the living feeds over a stop's timetable: one state for each call, in the same order, and the changes. A departure is
 * live only if one of the feeds makes it so.
 */
export function overlayStop(stop: StopTimetable, feeds: readonly LivingFeed[], now: number) {
  const found = new Map<Departure, OverlaidCall>();
  const matched = new Set<StopUpdate>();

  for (const [runId, ofRun] of Map.groupBy(stop.calls, (call) => call.runId)) {
    for (const { modes, feed } of feeds) {
      const ofModes = ofRun.filter(({ mode }) => modes.includes(mode));
      for (const trip of runId === null || ofModes.length === 0 ? [] : feed.findTrips(runId)) {
        const calls = ofModes.filter((call) => isOnServiceDay(trip, call.plannedAt, feed.headerAt));
        const matches = matchCalls(calls, trip.stopUpdates, stop.stopIds);
        calls.forEach((call, index) => {
          const match = matches[index] ?? null;
          if (match) matched.add(match.update);
          const isSettled = (found.get(call)?.state.kind ?? 'scheduled') !== 'scheduled';
          if (!isSettled) found.set(call, findByTrip(call, trip, match, feed.headerAt, now));
        });
      }
    }
  }
  const all = stop.calls.map((call) => found.get(call) ?? findWithoutTrip(call, now));
  const changes: Change[] = all.flatMap(({ change }, index) => {
    const { runId, plannedAt } = stop.calls[index] as Departure;
    return change === null ? [] : { key: `${change}, ${runId}, ${plannedAt}`, at: plannedAt };
  });
  const unlisted = feeds.flatMap(({ feed }) => listUnlistedCalls(stop, feed, matched, now));
  return { states: all.map(({ state }) => state), changes: [...changes, ...unlisted] };
}

function findByTrip(
  call: Departure,
  trip: TripUpdate,
  match: CallMatch | null,
  headerAt: number,
  now: number,
): OverlaidCall {
  if (trip.relationship === 'CANCELED' || trip.relationship === 'DELETED') return CANCELLED;
  if (!CALLS_ARE_LISTED.includes(trip.relationship)) return isCancelled(call) ? CANCELLED : askAbout(trip.relationship);
  if (match) return findByUpdate(call, trip, match, headerAt);
  if (isCancelled(call)) return CANCELLED;
  if (trip.stopUpdates.length === 0) return findWithoutTrip(call, now);
  if (call.mode === 'train' || trip.relationship !== 'SCHEDULED') return findForMissingStop(call, trip, now);
  return findByOtherStops(call, trip, headerAt, now);
}

function findByUpdate(
  call: Departure,
  trip: TripUpdate,
  { update, isMoved }: CallMatch,
  headerAt: number,
): OverlaidCall {
  if (update.relationship === 'SKIPPED') return CANCELLED;
  if (update.relationship === 'NO_DATA') return isCancelled(call) ? CANCELLED : SCHEDULED;
  if (update.relationship !== 'SCHEDULED') return askAbout(`stop ${update.relationship}`);
  if (isCancelled(call)) return { ...CANCELLED, change: 'runs again' };
  const endsHere = update === trip.stopUpdates.at(-1) && !isGiven(update.departure);
  if (endsHere && trip.relationship !== 'SCHEDULED') return askAbout('ends here');
  const expectedAt = findMoment('departure', call.plannedAt, update, call.mode);
  if (expectedAt === null) return SCHEDULED;
  const byFeed = live(call, expectedAt, headerAt, update.occupancy);
  return isMoved ? { ...byFeed, change: `moved to ${update.stopId}` } : byFeed;
}

/** The run has updates but none for this stop: it has passed, or it calls elsewhere. */
function findForMissingStop(call: Departure, trip: TripUpdate, now: number): OverlaidCall {
  const dueAt = leavesAt(call);
  const hasLeft = trip.relationship === 'SCHEDULED' ? dueAt <= now + EARLY_MS : dueAt < now - MINUTE_MS;
  return hasLeft ? DEPARTED : askAbout(`${trip.relationship} without a call here`);
}

/** By GTFS-realtime a stop without an update is as late as the last stop before it that has one. */
function findByOtherStops(call: Departure, trip: TripUpdate, headerAt: number, now: number): OverlaidCall {
  const timed = trip.stopUpdates.filter((update) => findPlannedAt(update) !== null);
  const isEarlier = (update: StopUpdate) => (findPlannedAt(update) ?? 0) < call.plannedAt;
  const earlier = timed.findLast((update) => isEarlier(update) && update.relationship !== 'SKIPPED');
  if (earlier) {
    const delaySeconds = earlier.relationship === 'SCHEDULED' ? findDelay(earlier) : null;
    return delaySeconds === null ? SCHEDULED : live(call, call.plannedAt + delaySeconds * SECOND_MS, headerAt);
  }
  const mayHaveLeft = leavesAt(call) <= now + EARLY_BUS_MS;
  if (timed.length > 0) return mayHaveLeft ? DEPARTED : askAbout('no call here');
  return call.state.kind === 'live' ? askAbout('no call here') : SCHEDULED;
}

/** No living feed has updates of the run. */
function findWithoutTrip(call: Departure, now: number): OverlaidCall {
  if (isCancelled(call)) return CANCELLED;
  if (call.runId === null) return SCHEDULED;
  if (call.state.kind === 'live') return leavesAt(call) <= now + EARLY_MS ? DEPARTED : askAbout('gone from the feed');
  const dueMs = call.plannedAt - now;
  const isImminent = dueMs >= -MINUTE_MS && dueMs <= IMMINENT_MS;
  return call.mode === 'train' && isImminent ? askAbout(SILENT) : SCHEDULED;
}

/** Lists the calls of added and replaced trips that the departure monitor has not listed. */
function listUnlistedCalls(stop: StopTimetable, feed: Feed, matched: ReadonlySet<StopUpdate>, now: number): Change[] {
  return [...stop.stopIds].flatMap((stopId) =>
    feed.findUntimetabledTrips(stopId).flatMap((trip) =>
      trip.stopUpdates.flatMap((update) => {
        const { at } = update.departure;
        const isDeparture = update.stopId === stopId && at !== null && update.relationship !== 'SKIPPED';
        if (!isDeparture || matched.has(update) || at < now || at > stop.coveredUntil) return [];
        return { key: `not listed, ${trip.tripId}, ${stopId}`, at };
      }),
    ),
  );
}

/** The timetable is all that we can show until a page is requested from the departure monitor, which knows more. */
function askAbout(change: string): OverlaidCall {
  return { ...SCHEDULED, change };
}

function live(call: Departure, leavesAt: number, headerAt: number, occupancy: number | null = null): OverlaidCall {
  if (Math.abs(leavesAt - call.plannedAt) > MAX_SHIFT_MS) return SCHEDULED;
  return { state: { kind: 'live', leavesAt, occupancy: toOccupancy(occupancy), headerAt }, change: null };
}

/**
 * Finds when the vehicle arrives or leaves: by the other of the two where the update has only that, null where it has none. The trip
 * planner's estimates for trains are the planned time plus the delay, even where the feed's timetable has other seconds;
 * for all other modes they are the feed's time.
 */
function findMoment(which: 'arrival' | 'departure', plannedAt: number, update: StopUpdate, mode: Mode): number | null {
  const [own, other] = which === 'arrival' ? [update.arrival, update.departure] : [update.departure, update.arrival];
  const delaySeconds = own.delaySeconds ?? other.delaySeconds;
  const delayed = delaySeconds === null ? null : plannedAt + delaySeconds * SECOND_MS;
  const at = isGiven(own) ? own.at : other.at;
  const plannedByFeed = which === 'arrival' ? plannedAtOf(own) : findPlannedAt(update);
  const isSameTimetable = plannedByFeed === null || Math.abs(plannedByFeed - plannedAt) <= MINUTE_MS;
  const moment = mode === 'train' && isSameTimetable ? (delayed ?? at) : (at ?? delayed);
  // A vehicle of which only the arrival is known does not leave before it is planned to.
  return moment !== null && which === 'departure' && !isGiven(own) ? Math.max(moment, plannedAt) : moment;
}

function isGiven({ at, delaySeconds }: StopTime): boolean {
  return at !== null || delaySeconds !== null;
}

type Run = Pick<Departure, 'runId' | 'mode'>;
type PlannedCall = Pick<RunCall, 'stopId' | 'arrival' | 'departure' | 'nextRunId'>;

/**
 * Lays the living feeds over the calls of a run, which are in order and as the authority said at `saidAt`. The authority's
 * estimates count as live for `keptMs`. `asOf` is the oldest moment of what is shown as live; null where nothing is.
 * `isByFeed` says that a feed knows the run.
 */
export function overlayCalls(
  run: Run,
  calls: readonly RunCall[],
  { saidAt, keptMs, feeds, now }: { saidAt: number; keptMs: number; feeds: readonly LivingFeed[]; now: number },
): { calls: RunCall[]; asOf: number | null; isByFeed: boolean } {
  const overlaid = splitAtRuns(run, calls).map((part) => {
    for (const { trip, feed } of findTrips(part, feeds)) {
      const byTrip = overlayTrip(part, trip, Math.max(saidAt, feed.headerAt));
      if (byTrip) return { calls: byTrip, asOf: feed.headerAt, isByFeed: true };
    }
    const isKept = now - saidAt <= keptMs;
    return {
      calls: isKept ? part.calls : part.calls.map((call) => asPassed(call, saidAt)),
      asOf: saidAt,
      isByFeed: false,
    };
  });
  const isLive = (call: RunCall) => call.arrival?.realtimeAt || call.departure?.realtimeAt;
  const moments = overlaid.filter((part) => part.calls.some(isLive)).map(({ asOf }) => asOf);
  return {
    calls: overlaid.flatMap((part) => part.calls),
    asOf: moments.length > 0 ? Math.min(...moments) : null,
    isByFeed: overlaid.some((part) => part.isByFeed),
  };
}

/**
 * Finds how full the carriages are predicted to be when they leave the calls of a run, and the moment of the feed that says so:
 * one entry for each call, null where no feed knows it.
 */
export function findCarriages(
  run: Run,
  calls: readonly PlannedCall[],
  feeds: readonly LivingFeed[],
): ({ carriages: Carriages; asOf: number } | null)[] {
  return splitAtRuns(run, calls).flatMap((part) => {
    for (const { trip, feed } of findTrips(part, feeds)) {
      const matches = CALLS_ARE_LISTED.includes(trip.relationship) ? matchPart(part, trip) : [];
      if (matches.every((match) => match === null)) continue;
      return matches.map((match) =>
        match?.update.relationship === 'SCHEDULED'
          ? { carriages: toCarriages(feed.findCarriages(trip, match.update)), asOf: feed.headerAt }
          : null,
      );
    }
    return part.calls.map(() => null);
  });
}

/** A vehicle may go on as another run, which is then another trip of the feeds. */
function splitAtRuns<One extends PlannedCall>({ runId, mode }: Run, calls: readonly One[]): (Run & { calls: One[] })[] {
  const parts: (Run & { calls: One[] })[] = [];
  for (const call of calls) {
    const last = parts.at(-1);
    if (last && !call.nextRunId) last.calls.push(call);
    else parts.push({ runId: call.nextRunId ?? runId, mode, calls: [call] });
  }
  return parts;
}

/** Finds the trips of a run in the feeds that may carry it. */
function findTrips({ runId, mode, calls: [first] }: Run & { calls: PlannedCall[] }, feeds: readonly LivingFeed[]) {
  return feeds.flatMap(({ modes, feed }) => {
    const trips = runId === null || !first || !modes.includes(mode) ? [] : feed.findTrips(runId);
    return trips
      .filter((trip) => first && isOnServiceDay(trip, plannedAtCall(first), feed.headerAt))
      .map((trip) => ({ trip, feed }));
  });
}

function matchPart({ calls }: { calls: readonly PlannedCall[] }, trip: TripUpdate): (CallMatch | null)[] {
  const listed = calls.map((call) => {
    return { stopId: call.stopId, plannedAt: plannedAtCall(call), state: { kind: 'scheduled' } as const };
  });
  return matchCalls(listed, trip.stopUpdates, new Set());
}

/** The planned time of the departure from a stop, else of the arrival. */
function plannedAtCall({ departure, arrival }: PlannedCall): number {
  return (departure ?? arrival)?.plannedAt ?? 0;
}

/** Null where the trip says nothing of its stops. */
function overlayTrip(part: Run & { calls: RunCall[] }, trip: TripUpdate, passedAt: number): RunCall[] | null {
  const { mode, calls } = part;
  if (trip.relationship === 'CANCELED' || trip.relationship === 'DELETED') return calls.map(asCancelled);
  if (!CALLS_ARE_LISTED.includes(trip.relationship) || trip.stopUpdates.length === 0) return null;
  const matches = matchPart(part, trip);
  const first = matches.findIndex((match) => match !== null);
  const last = matches.findLastIndex((match) => match !== null);
  if (first === -1) return null;
  // Trains lose the stops that they have passed, or their times there.
  const firstTold = matches.findIndex((match) => match && tells(match.update));
  const passed = firstTold === -1 ? first : firstTold;
  let delaySeconds: number | null = null;
  return calls.map((listed, index) => {
    const call = index < passed ? asPassed(listed, passedAt) : withoutEstimates(listed);
    const update = matches[index]?.update;
    if (update) {
      delaySeconds = update.relationship === 'SCHEDULED' ? findDelay(update) : null;
      const known = index > 0 ? withArrival(call, update) : call;
      return callByUpdate(known, update, { mode, isMoved: matches[index]?.isMoved ?? false });
    }
    if (index < first) return call;
    if (trip.relationship !== 'SCHEDULED') return index < last ? asCancelled(call) : call;
    // By GTFS-realtime a stop without an update is as late as the last stop before it that has one.
    return mode === 'train' || delaySeconds === null
      ? call
      : withEstimates(call, (time) => time.plannedAt + (delaySeconds ?? 0) * SECOND_MS);
  });
}

function tells({ relationship, arrival, departure }: StopUpdate): boolean {
  return relationship === 'SKIPPED' || isGiven(arrival) || isGiven(departure);
}

/** The time of the call stays where the update has none. */
function callByUpdate(call: RunCall, update: StopUpdate, { mode, isMoved }: { mode: Mode; isMoved: boolean }): RunCall {
  if (update.relationship === 'SKIPPED') return asCancelled(call);
  if (update.relationship !== 'SCHEDULED') return call;
  const { stopId } = update;
  const place = isMoved && stopId !== null ? { stopId, platform: null, ids: [...call.ids, stopId] } : {};
  return {
    ...call,
    ...place,
    arrival: estimate('arrival', call, update, mode),
    departure: estimate('departure', call, update, mode),
    occupancy: toOccupancy(update.occupancy),
    isCancelled: false,
  };
}

/**
 * The authority does not say when a vehicle arrives at the stop by whose departure it was asked for its run: feeds do. They
 * plan in seconds, the authority in whole minutes.
 */
function withArrival(call: RunCall, update: StopUpdate): RunCall {
  const planned = plannedAtOf(update.arrival);
  if (call.arrival || planned === null) return call;
  return { ...call, arrival: { plannedAt: planned - (planned % MINUTE_MS), realtimeAt: null } };
}

function estimate(which: 'arrival' | 'departure', call: RunCall, update: StopUpdate, mode: Mode): RunCall['arrival'] {
  const time = call[which];
  if (!time) return null;
  const realtimeAt = findMoment(which, time.plannedAt, update, mode);
  const isPossible = realtimeAt !== null && Math.abs(realtimeAt - time.plannedAt) <= MAX_SHIFT_MS;
  return { ...time, realtimeAt: isPossible ? realtimeAt : time.realtimeAt };
}

function asCancelled(call: RunCall): RunCall {
  return { ...withoutEstimates(call), isCancelled: true };
}

/** The time that was told last of a stop that the vehicle had left by then stays true. */
function asPassed(call: RunCall, passedAt: number): RunCall {
  return withEstimates({ ...call, occupancy: null }, ({ realtimeAt }) =>
    (realtimeAt ?? passedAt) < passedAt ? realtimeAt : null,
  );
}

function withoutEstimates(call: RunCall): RunCall {
  return withEstimates({ ...call, occupancy: null }, () => null);
}

function withEstimates(call: RunCall, estimateOf: (time: NonNullable<RunCall['arrival']>) => number | null): RunCall {
  const { arrival, departure } = call;
  return {
    ...call,
    arrival: arrival && { ...arrival, realtimeAt: estimateOf(arrival) },
    departure: departure && { ...departure, realtimeAt: estimateOf(departure) },
  };
}

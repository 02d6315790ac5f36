import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import type { RunCall } from '../transit/call.ts';
import type { CallState, Carriages, Departure } from '../transit/departure.ts';
import type { Mode } from '../transit/mode.ts';
import { toMinute } from '../transit/time.ts';
import {
  type Feed,
  type StopTime,
  type StopUpdate,
  type TripRelationship,
  type TripUpdate,
  toCarriages,
  toOccupancy,
} from './feed/feed.ts';
import {
  type CallMatch,
  findDelay,
  findPlannedAt,
  type IsSameStation,
  isOnServiceDay,
  matchCalls,
  plannedAtOf,
} from './join.ts';
import type { FeedSourceId } from './polling/feed-source.ts';

/** A feed that is trusted (see feed-health.ts), with the modes of its runs. */
export interface TrustedFeed {
  source: FeedSourceId;
  modes: readonly Mode[];
  feed: Feed;
}

/** A planned call of a run at a stop: its departure or, on a board of arrivals, its arrival. */
export interface StopCall extends Pick<Departure, 'runId' | 'mode' | 'stopId' | 'plannedAt'> {
  /** The service day; absent if the call comes from the trip planner. */
  day?: number;
  /** The feed that has the run, null if none does; absent if any feed of the mode may. */
  feed?: FeedSourceId | null;
}

/** A planned call with its state from the feeds. */
export interface OverlaidCall {
  state: CallState;
  /** The platform or wharf to which the call was moved; null if it is unchanged. */
  movedTo: string | null;
}

/**
 * A call that is not in the timetable: of a trip that only a feed has, or that a replacement adds. Times are in milliseconds
 * since 1970.
 */
export interface AddedCall {
  source: FeedSourceId;
  headerAt: number;
  trip: TripUpdate;
  update: StopUpdate;
  /** The planned time if the feed has it, else the expected one. */
  plannedAt: number;
  arrivesAt: number;
  departsAt: number;
}

/** A larger delay in a feed is an error. */
const MAX_SHIFT_MS = 12 * HOUR_MS;
/** A vehicle leaves at most this early. */
const EARLY_MS = MINUTE_MS;
/** Buses run ahead of their timetable; trains wait. */
const EARLY_BUS_MS = 3 * MINUTE_MS;

/**
 * The stop updates of these trips list all their calls. Duplicated trips are excluded, because they have the identifier of
 * another trip.
 */
const CALLS_ARE_LISTED: readonly TripRelationship[] = ['SCHEDULED', 'REPLACEMENT', 'ADDED', 'UNSCHEDULED', 'NEW'];

const SCHEDULED: OverlaidCall = { state: { kind: 'scheduled' }, movedTo: null };
const CANCELLED: OverlaidCall = { state: { kind: 'cancelled' }, movedTo: null };
const DEPARTED: OverlaidCall = { state: { kind: 'departed' }, movedTo: null };

/**
 * Lays the trusted feeds over the planned calls at a stop. Returns one entry for each call, in the same order. `stopIds` are the
 * stop and its platforms. `isPlanned` returns whether the timetable has a trip at this stop, even outside the given calls; other
 * calls of such a trip are not listed as added, and neither are updates in `matched`.
 */
export function overlayStop(
  stop: {
    stopIds: ReadonlySet<string>;
    calls: readonly StopCall[];
    isArrival?: boolean;
    isPlanned?: (tripId: string) => boolean;
    matched?: Set<StopUpdate>;
  },
  feeds: readonly TrustedFeed[],
  now: number,
): { calls: OverlaidCall[]; added: AddedCall[] } {
  const { matched = new Set() } = stop;
  const end = stop.isArrival ? 'arrival' : 'departure';
  const overlaid = new Map<StopCall, OverlaidCall>();
  for (const trusted of feeds) {
    const at: At = { end, headerAt: trusted.feed.headerAt, now };
    for (const { trip, calls } of listTrips(trusted, stop.calls)) {
      const matches = matchCalls(calls, trip.stopUpdates, (stopId) => stop.stopIds.has(stopId), end);
      calls.forEach((call, index) => {
        const match = matches[index] ?? null;
        if (match) matched.add(match.update);
        const isSettled = (overlaid.get(call)?.state.kind ?? 'scheduled') !== 'scheduled';
        if (!isSettled) overlaid.set(call, findByTrip(call, trip, match, at));
      });
    }
  }
  return {
    calls: stop.calls.map((call) => overlaid.get(call) ?? SCHEDULED),
    added: feeds.flatMap((trusted) => listAdded({ ...stop, end }, trusted, matched, now)),
  };
}

type End = 'arrival' | 'departure';
interface At {
  end: End;
  headerAt: number;
  now: number;
}

/** The trips of a feed that are runs of these calls, each with its own calls. */
function listTrips(trusted: TrustedFeed, calls: readonly StopCall[]): { trip: TripUpdate; calls: StopCall[] }[] {
  const { feed } = trusted;
  const ofFeed = calls.filter((call) => mayCarry(trusted, call));
  return [...Map.groupBy(ofFeed, (call) => call.runId)].flatMap(([runId, ofRun]) =>
    (runId === null ? [] : feed.findTrips(runId)).map((trip) => ({
      trip,
      calls: ofRun.filter((call) => isOnServiceDay(trip, call.plannedAt, feed.headerAt, call.day)),
    })),
  );
}

function findByTrip(call: StopCall, trip: TripUpdate, match: CallMatch | null, at: At): OverlaidCall {
  if (isCancelled(trip)) return CANCELLED;
  if (!CALLS_ARE_LISTED.includes(trip.relationship) || trip.stopUpdates.length === 0) return SCHEDULED;
  if (match) return findByUpdate(call, trip, match, at);
  if (trip.relationship !== 'SCHEDULED') return isLeftOut(call.plannedAt, trip, at) ? CANCELLED : DEPARTED;
  const delayed = call.mode === 'train' ? null : delayedTime(call.plannedAt, trip, at.end);
  if (delayed) return delayed.at === null ? SCHEDULED : live(delayed.at, at);
  const isGone = call.mode === 'train' || trip.stopUpdates.some((update) => findPlannedAt(update, at.end) !== null);
  return isGone && mayHaveLeft(call, at.now) ? DEPARTED : SCHEDULED;
}

/** Whether a vehicle without a live time at a stop may have left it, by its planned time. */
export function mayHaveLeft({ plannedAt, mode }: Pick<StopCall, 'plannedAt' | 'mode'>, now: number): boolean {
  return plannedAt <= now + (mode === 'train' ? EARLY_MS : EARLY_BUS_MS);
}

function findByUpdate(call: StopCall, trip: TripUpdate, { update, isMoved }: CallMatch, at: At): OverlaidCall {
  const { relationship, stopUpdates } = trip;
  const isWithout = !isGiven(update[at.end]);
  // A feed may drop stops once they are passed, but never the last one.
  const isNoCall =
    at.end === 'arrival' ? update === stopUpdates[0] && update.sequence === 1 : update === stopUpdates.at(-1);
  if (update.relationship === 'SKIPPED' || (relationship !== 'SCHEDULED' && isWithout && isNoCall)) return CANCELLED;
  if (at.end === 'departure' && call.mode !== 'train' && endsAt(update, stopUpdates)) return CANCELLED;
  if (update.relationship !== 'SCHEDULED') return SCHEDULED;
  const moment = findMoment(at.end, call.plannedAt, update, call.mode);
  const state = moment === null ? SCHEDULED : live(moment, at, update.occupancy);
  return isMoved ? { ...state, movedTo: update.stopId } : state;
}

/** Whether all further stops are skipped. A train may pass the last stop of its run and go on as another run. */
function endsAt(update: StopUpdate, stopUpdates: readonly StopUpdate[]): boolean {
  if (stopUpdates.at(-1)?.relationship !== 'SKIPPED') return false;
  return stopUpdates.findLast(({ relationship }) => relationship !== 'SKIPPED') === update;
}

/** The trip lists its calls but not this one, so the stop is left out, unless the vehicle has already left it. */
function isLeftOut(plannedAt: number, { stopUpdates }: TripUpdate, { end, now }: Omit<At, 'headerAt'>): boolean {
  const timeOf = (update: StopUpdate) => findPlannedAt(update, end) ?? update[end].at ?? Number.POSITIVE_INFINITY;
  const isOnItsWay = stopUpdates.some((update) => timeOf(update) < plannedAt);
  return plannedAt > now + EARLY_MS || isOnItsWay;
}

/** Lists the calls of trips that the timetable lacks. */
function listAdded(
  { stopIds, end, isPlanned = () => false }: Parameters<typeof overlayStop>[0] & { end: End },
  { source, feed }: TrustedFeed,
  matched: ReadonlySet<StopUpdate>,
  now: number,
): AddedCall[] {
  const { headerAt } = feed;
  return [...stopIds].flatMap((stopId) =>
    feed
      .findUntimetabledTrips(stopId)
      .filter((trip) => CALLS_ARE_LISTED.includes(trip.relationship) && !isPlanned(trip.tripId))
      .flatMap((trip) =>
        listEnds(trip, end)
          .filter((update) => update.stopId === stopId && !matched.has(update))
          .flatMap((update) => toAdded(update, end, now) ?? [])
          .map((call) => ({ source, headerAt, trip, ...call })),
      ),
  );
}

/** The arrivals or departures of a trip. It does not depart from its last stop, nor arrive at its first. */
function listEnds({ relationship, stopUpdates }: TripUpdate, end: End): StopUpdate[] {
  const running = stopUpdates.filter(({ relationship }) => relationship !== 'SKIPPED');
  if (end === 'departure') return running.slice(0, -1);
  const [first] = running;
  // Replaced trips keep the stops that they have passed, and may have an arrival at the first one.
  const hasStart = relationship === 'REPLACEMENT';
  const isStart = first && (hasStart || (first.sequence === null ? !isGiven(first.arrival) : first.sequence <= 1));
  return isStart ? running.slice(1) : running;
}

/** Null if the update has no time, or the vehicle has gone. */
function toAdded(update: StopUpdate, end: End, now: number) {
  const { arrival, departure } = update;
  const [arrivesAt, departsAt] = [arrival.at ?? departure.at, departure.at ?? arrival.at];
  const moment = end === 'arrival' ? arrivesAt : departsAt;
  if (arrivesAt === null || departsAt === null || moment === null || moment < now - MINUTE_MS) return null;
  return { update, plannedAt: findPlannedAt(update, end) ?? moment, arrivesAt, departsAt };
}

function live(leavesAt: number, { headerAt }: At, occupancy: number | null = null): OverlaidCall {
  return { state: { kind: 'live', leavesAt, occupancy: toOccupancy(occupancy), headerAt }, movedTo: null };
}

function isCancelled({ relationship }: TripUpdate): boolean {
  return relationship === 'CANCELED' || relationship === 'DELETED';
}

/**
 * As GTFS-realtime defines it, a stop without an update has the delay of the last stop before it that has one. `at` is null if
 * that stop has no delay. Null if no earlier stop is left in the trip.
 */
function delayedTime(plannedAt: number, { stopUpdates }: TripUpdate, end: End): { at: number | null } | null {
  const before = stopUpdates.findLast((update) => {
    const earlier = findPlannedAt(update, end);
    return earlier !== null && earlier < plannedAt && update.relationship !== 'SKIPPED';
  });
  if (!before) return null;
  const delaySeconds = before.relationship === 'SCHEDULED' ? findDelay(before) : null;
  return { at: delaySeconds === null ? null : withinShift(plannedAt, plannedAt + delaySeconds * SECOND_MS) };
}

/**
 * Finds when the vehicle arrives or leaves. If the update has only the other time, that is used. Null if there is none or it is
 * impossible. The trip planner estimates trains as planned time plus delay, even if the feed's timetable has other seconds; all
 * other modes use the feed's time.
 */
function findMoment(end: End, plannedAt: number, update: StopUpdate, mode: Mode): number | null {
  const [ownTime, otherTime] =
    end === 'arrival' ? [update.arrival, update.departure] : [update.departure, update.arrival];
  const delaySeconds = ownTime.delaySeconds ?? otherTime.delaySeconds;
  const delayed = delaySeconds === null ? null : plannedAt + delaySeconds * SECOND_MS;
  const at = isGiven(ownTime) ? ownTime.at : otherTime.at;
  const plannedByFeed = end === 'arrival' ? plannedAtOf(ownTime) : findPlannedAt(update);
  const isSameTimetable = plannedByFeed === null || Math.abs(plannedByFeed - plannedAt) <= MINUTE_MS;
  const moment = mode === 'train' && isSameTimetable ? (delayed ?? at) : (at ?? delayed);
  if (moment === null) return null;
  // If only the arrival is known, the vehicle departs no earlier than planned.
  return withinShift(plannedAt, end === 'departure' && !isGiven(ownTime) ? Math.max(moment, plannedAt) : moment);
}

function withinShift(plannedAt: number, moment: number): number | null {
  return Math.abs(moment - plannedAt) <= MAX_SHIFT_MS ? moment : null;
}

function isGiven({ at, delaySeconds }: StopTime): boolean {
  return at !== null || delaySeconds !== null;
}

type Run = Pick<StopCall, 'runId' | 'mode' | 'day' | 'feed'>;
type PlannedCall = Pick<RunCall, 'stopId' | 'arrival' | 'departure' | 'nextRunId'>;

/**
 * Lays the trusted feeds over the calls of a run, which are in order and as upstream reported them at `asOf`. Upstream's own
 * estimates count as live for `keptMs`. `asOf` is the oldest timestamp of the live data; null if nothing is live. `isByFeed` is
 * true if a feed has the run. Without `isSameStation`, a call that was moved is found only by its planned time.
 */
export function overlayCalls(
  run: Run,
  calls: readonly RunCall[],
  {
    asOf,
    keptMs,
    feeds,
    now,
    isSameStation = () => false,
  }: { asOf: number; keptMs: number; feeds: readonly TrustedFeed[]; now: number; isSameStation?: IsSameStation },
): { calls: RunCall[]; asOf: number | null; isByFeed: boolean } {
  const parts = splitAtRuns(run, calls);
  const overlaid = parts.map((part, index) => {
    const next = parts[index + 1]?.calls[0];
    return overlayPart(next ? { ...part, calls: [...part.calls, { ...next, departure: null }] } : part);
  });
  for (const [index, part] of overlaid.slice(1).entries()) {
    const before = overlaid[index] as (typeof overlaid)[0];
    const [end, start] = [before.calls.pop() as RunCall, part.calls[0] as RunCall];
    // It arrives there at the end of its own run, even if the next one is cancelled.
    const arrival = before.isByFeed && end.arrival?.realtimeAt ? end.arrival : start.arrival;
    const departure = start.isCancelled ? null : start.departure;
    const change = { ...start, arrival, departure, isCancelled: end.isCancelled };
    part.calls[0] = end.isCancelled ? asCancelled(change) : change;
  }
  const moments = overlaid.filter((part) => part.calls.some(isLive)).map(({ asOf }) => asOf);
  const isByFeed = overlaid.some((part) => part.isByFeed);
  const overlaidCalls = overlaid.flatMap((part) => part.calls);
  return {
    calls: isByFeed ? inOrder(overlaidCalls) : overlaidCalls,
    asOf: moments.length > 0 ? Math.min(...moments) : null,
    isByFeed,
  };

  function overlayPart(part: Run & { calls: RunCall[] }) {
    for (const { trip, feed } of findTrips(part, feeds)) {
      const byTrip = overlayTrip(part, trip, { passedAt: Math.max(asOf, feed.headerAt), now, isSameStation });
      if (byTrip) return { calls: byTrip, asOf: feed.headerAt, isByFeed: true };
    }
    const isKept = now - asOf <= keptMs;
    return { calls: isKept ? part.calls : part.calls.map((call) => asPassed(call, asOf)), asOf, isByFeed: false };
  }
}

export function isLive({ arrival, departure }: Pick<RunCall, 'arrival' | 'departure'>): boolean {
  return (arrival?.realtimeAt ?? departure?.realtimeAt ?? null) !== null;
}

/**
 * The calls with their times in order. A feed may have the planned time, or none, for stops far ahead of a late vehicle, which
 * cannot be there before it has left the stops in between.
 */
function inOrder(calls: RunCall[]): RunCall[] {
  let latest = Number.NEGATIVE_INFINITY;
  const notEarlier = (time: RunCall['arrival']): RunCall['arrival'] => {
    if (!time) return null;
    const isTooEarly = (time.realtimeAt ?? time.plannedAt) < latest - MINUTE_MS;
    latest = Math.max(latest, time.realtimeAt ?? latest);
    return isTooEarly ? { ...time, realtimeAt: latest } : time;
  };
  return calls.map((call) => {
    if (call.isCancelled) return call;
    const [arrival, departure] = [notEarlier(call.arrival), notEarlier(call.departure)];
    return arrival === call.arrival && departure === call.departure ? call : { ...call, arrival, departure };
  });
}

/**
 * Finds the predicted load of each carriage when the vehicle leaves the calls of a run, and the timestamp of the feed. Returns
 * one entry for each call, null if no feed has it.
 */
export function findCarriages(
  run: Run,
  calls: readonly PlannedCall[],
  feeds: readonly TrustedFeed[],
): ({ carriages: Carriages; asOf: number } | null)[] {
  return splitAtRuns(run, calls).flatMap((part) => {
    for (const { trip, feed } of findTrips(part, feeds)) {
      const matches = CALLS_ARE_LISTED.includes(trip.relationship) ? matchRun(part, trip) : [];
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

/** A vehicle may continue as another run, which is a separate trip in the feeds. */
function splitAtRuns<One extends PlannedCall>(
  { runId, ...run }: Run,
  calls: readonly One[],
): (Run & { calls: One[] })[] {
  const parts: (Run & { calls: One[] })[] = [];
  for (const call of calls) {
    const last = parts.at(-1);
    if (last && !call.nextRunId) last.calls.push(call);
    else parts.push({ ...run, runId: call.nextRunId ?? runId, calls: [call] });
  }
  return parts;
}

function mayCarry({ source, modes }: TrustedFeed, { feed, mode }: Pick<StopCall, 'feed' | 'mode'>): boolean {
  return feed === undefined ? modes.includes(mode) : feed === source;
}

/** Finds the trips of a run in the feeds that may have it. */
function findTrips({ calls: [first], ...run }: Run & { calls: PlannedCall[] }, feeds: readonly TrustedFeed[]) {
  const { runId, day } = run;
  return feeds.flatMap((trusted) => {
    const { feed } = trusted;
    const trips = runId === null || !first || !mayCarry(trusted, run) ? [] : feed.findTrips(runId);
    return trips
      .filter((trip) => first && isOnServiceDay(trip, plannedAtCall(first), feed.headerAt, day))
      .map((trip) => ({ trip, feed }));
  });
}

/** Matches the calls of a run, by planned departure, with the updates of its trip. One entry for each call. */
export function matchRun(
  { calls }: { calls: readonly PlannedCall[] },
  trip: TripUpdate,
  isSameStation: IsSameStation = () => false,
): (CallMatch | null)[] {
  const plannedCalls = calls.map((call) => ({ stopId: call.stopId, plannedAt: plannedAtCall(call) }));
  return matchCalls(plannedCalls, trip.stopUpdates, isSameStation);
}

/** The planned departure from a stop, else the planned arrival. */
export function plannedAtCall({ departure, arrival }: PlannedCall): number {
  return (departure ?? arrival)?.plannedAt ?? 0;
}

/** Null if the trip reports nothing about its stops. */
function overlayTrip(
  part: Run & { calls: RunCall[] },
  trip: TripUpdate,
  { passedAt, now, isSameStation }: { passedAt: number; now: number; isSameStation: IsSameStation },
): RunCall[] | null {
  const { mode, calls } = part;
  if (isCancelled(trip)) return calls.map(asCancelled);
  if (!CALLS_ARE_LISTED.includes(trip.relationship) || trip.stopUpdates.length === 0) return null;
  const matches = matchRun(part, trip, isSameStation);
  const first = matches.findIndex((match) => match !== null);
  if (first === -1) return null;
  // Trains drop stops that they have passed, or their times there.
  const firstReported = matches.findIndex((match) => match && reportsStop(match.update));
  const firstLive = firstReported === -1 ? first : firstReported;
  return calls.map((plannedCall, index) => {
    const call = index < firstLive ? asPassed(plannedCall, passedAt) : withoutEstimates(plannedCall);
    const match = matches[index];
    if (match) return callByUpdate(index > 0 ? withArrival(call, match.update) : call, match, mode);
    if (trip.relationship !== 'SCHEDULED') {
      const isSkipped = index > first || isLeftOut(plannedAtCall(call), trip, { end: 'departure', now });
      return isSkipped ? asCancelled(call) : call;
    }
    if (index < first || mode === 'train') return call;
    return withEstimates(call, ({ plannedAt }) => delayedTime(plannedAt, trip, 'departure')?.at ?? null);
  });
}

function reportsStop({ relationship, arrival, departure }: StopUpdate): boolean {
  return relationship === 'SKIPPED' || isGiven(arrival) || isGiven(departure);
}

/** The call keeps its time if the update has none. */
function callByUpdate(call: RunCall, { update, isMoved }: CallMatch, mode: Mode): RunCall {
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
 * Adds the arrival at the stop of the requested departure. Upstream does not report it, feeds do. Feeds plan in seconds,
 * upstream in whole minutes.
 */
function withArrival(call: RunCall, update: StopUpdate): RunCall {
  const planned = plannedAtOf(update.arrival);
  if (call.arrival || planned === null) return call;
  return { ...call, arrival: { plannedAt: toMinute(planned), realtimeAt: null } };
}

function estimate(which: End, call: RunCall, update: StopUpdate, mode: Mode): RunCall['arrival'] {
  const time = call[which];
  if (!time) return null;
  return { ...time, realtimeAt: findMoment(which, time.plannedAt, update, mode) ?? time.realtimeAt };
}

function asCancelled(call: RunCall): RunCall {
  return { ...withoutEstimates(call), isCancelled: true };
}

/** A stop that the vehicle has left keeps its last estimate. */
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

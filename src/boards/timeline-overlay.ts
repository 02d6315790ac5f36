import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../clock.ts';
import type { Feed, StopTime, StopUpdate, TripRelationship, TripUpdate } from '../realtime/feed/feed.ts';
import { toOccupancy } from '../realtime/feed/feed.ts';
import { type CallMatch, findDelay, findPlannedAt, isOnServiceDay, matchCalls, plannedAtOf } from '../realtime/join.ts';
import type { LivingFeed } from '../realtime/overlay.ts';
import { type CallState, type Departure, isCancelled, leavesAt } from '../transit/departure.ts';
import type { Mode } from '../transit/mode.ts';

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

import { type CallState, type Departure, isCancelled, leavesAt, type Occupancy } from '../../transit/departure.ts';
import type { Mode } from '../../transit/mode.ts';
import type { Feed } from '../feed/feed.ts';
import type { StopTime, StopUpdate, TripRelationship, TripUpdate } from '../feed/trip-update.ts';
import { type CallMatch, findDelay, findPlannedAt, isOnServiceDay, matchCalls } from './join.ts';

/** A feed that is alive (see feed-health.ts), and the modes whose runs it carries. */
export interface LivingFeed {
  modes: readonly Mode[];
  feed: Feed;
}

/** A stop's timetable, as far as the departure monitor has listed it. */
export interface StopTimetable {
  /** The stop itself and its platforms, as far as they are known. */
  stopIds: ReadonlySet<string>;
  /** Those that were live, by the departure monitor or a feed, have that state; else they are as the departure monitor said. */
  calls: readonly Departure[];
  /** Up to here every departure is listed: milliseconds since 1970. */
  coveredUntil: number;
}

/** Something that the feeds cannot say in full, so the departure monitor has to be asked: once for each key. */
export interface Change {
  key: string;
  /** The planned time of the departure, or the time of the one that is not listed: milliseconds since 1970. */
  at: number;
}

/** Whether it is only about a train without updates: mostly it is on time, so asking can wait when calls are short. */
export function isAboutSilence({ key }: Change): boolean {
  return key.startsWith(SILENT);
}

/** The state of a call by the feeds, and what the departure monitor has to be asked about, if anything. */
interface OverlaidCall {
  state: CallState;
  /** What happened, in a word; null when the state says it all. */
  change: string | null;
}

export interface Overlay {
  /** One a call, in the same order. */
  states: CallState[];
  changes: Change[];
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** No vehicle is as early or as late; a feed that says so is wrong. */
const MAX_SHIFT_MS = 12 * 60 * MINUTE_MS;
/** A train that is due and has no updates. */
const SILENT = 'no updates';
/** A train due within this time should have updates by now. */
const IMMINENT_MS = 2 * MINUTE_MS;
/** How early a vehicle leaves at most: one that was expected later has not left when it is gone from the feed. */
const EARLY_MS = MINUTE_MS;
/** Buses run ahead of their timetable; trains wait. */
const EARLY_BUS_MS = 3 * MINUTE_MS;

/** The stop updates of such a trip are its calls. A duplicated trip has the identifier of another one. */
const CALLS_ARE_LISTED: readonly TripRelationship[] = ['SCHEDULED', 'REPLACEMENT', 'ADDED', 'UNSCHEDULED', 'NEW'];

/** By the number in the feed; the words of EMPTY and CRUSHED are those of the next fuller and emptier. */
const OCCUPANCIES: Readonly<Record<number, Occupancy>> = {
  0: 'MANY_SEATS',
  1: 'MANY_SEATS',
  2: 'FEW_SEATS',
  3: 'STANDING_ONLY',
  4: 'STANDING_ONLY',
};

const SCHEDULED: OverlaidCall = { state: { kind: 'scheduled' }, change: null };
const CANCELLED: OverlaidCall = { state: { kind: 'cancelled' }, change: null };
const DEPARTED: OverlaidCall = { state: { kind: 'departed' }, change: null };

/** Lays what the living feeds say over a stop's timetable. A departure is live only if one of the feeds says so. */
export function overlayStop(stop: StopTimetable, feeds: readonly LivingFeed[], now: number): Overlay {
  const said = new Map<Departure, OverlaidCall>();
  const spokenOf = new Set<StopUpdate>();

  const runs = Map.groupBy(stop.calls, ({ runId }) => runId);
  for (const { modes, feed } of feeds) {
    for (const [runId, ofRun] of runs) {
      for (const trip of runId === null ? [] : feed.findTrips(runId)) {
        const calls = ofRun.filter(
          (call) => modes.includes(call.mode) && isOnServiceDay(trip, call.plannedAt, feed.headerAt),
        );
        const matches = matchCalls(calls, trip.stopUpdates, stop.stopIds);
        calls.forEach((call, index) => {
          const match = matches[index] ?? null;
          if (match) spokenOf.add(match.update);
          const isSettled = (said.get(call)?.state.kind ?? 'scheduled') !== 'scheduled';
          if (!isSettled) said.set(call, sayOfTrip(call, trip, match, feed.headerAt, now));
        });
      }
    }
  }
  const all = stop.calls.map((call) => said.get(call) ?? sayWithoutTrip(call, now));
  const changes = all.flatMap(({ change }, index) => {
    const { runId, plannedAt } = stop.calls[index] as Departure;
    return change === null ? [] : { key: `${change}, ${runId}, ${plannedAt}`, at: plannedAt };
  });
  const unlisted = feeds.flatMap(({ feed }) => listUnlistedCalls(stop, feed, spokenOf, now));
  return { states: all.map(({ state }) => state), changes: [...changes, ...unlisted] };
}

function sayOfTrip(
  call: Departure,
  trip: TripUpdate,
  match: CallMatch | null,
  headerAt: number,
  now: number,
): OverlaidCall {
  if (trip.relationship === 'CANCELED' || trip.relationship === 'DELETED') return CANCELLED;
  if (!CALLS_ARE_LISTED.includes(trip.relationship)) return isCancelled(call) ? CANCELLED : askAbout(trip.relationship);
  if (match) return sayOfUpdate(call, trip, match, headerAt);
  if (isCancelled(call)) return CANCELLED;
  if (trip.stopUpdates.length === 0) return sayWithoutTrip(call, now);
  if (call.mode === 'train' || trip.relationship !== 'SCHEDULED') return sayOfMissingStop(call, trip, now);
  return sayOfOtherStops(call, trip, headerAt, now);
}

function sayOfUpdate(
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
  const expectedAt = findLeavesAt(call, update);
  if (expectedAt === null) return SCHEDULED;
  const said = live(call, expectedAt, headerAt, update.occupancy);
  return isMoved ? { ...said, change: `moved to ${update.stopId}` } : said;
}

/** The run has updates, none of them here: it has passed, or it calls elsewhere. */
function sayOfMissingStop(call: Departure, trip: TripUpdate, now: number): OverlaidCall {
  const dueAt = leavesAt(call);
  const hasLeft = trip.relationship === 'SCHEDULED' ? dueAt <= now + EARLY_MS : dueAt < now - MINUTE_MS;
  return hasLeft ? DEPARTED : askAbout(`${trip.relationship} without a call here`);
}

/** GTFS-realtime: a stop without an update is as late as the last stop before it that has one. */
function sayOfOtherStops(call: Departure, trip: TripUpdate, headerAt: number, now: number): OverlaidCall {
  const timed = trip.stopUpdates.filter((update) => findPlannedAt(update) !== null);
  const isEarlier = (update: StopUpdate) => (findPlannedAt(update) ?? 0) < call.plannedAt;
  const earlier = timed.findLast((update) => isEarlier(update) && update.relationship !== 'SKIPPED');
  if (earlier) {
    const delaySeconds = earlier.relationship === 'SCHEDULED' ? findDelay(earlier) : null;
    return delaySeconds === null ? SCHEDULED : live(call, call.plannedAt + delaySeconds * 1000, headerAt);
  }
  const mayHaveLeft = leavesAt(call) <= now + EARLY_BUS_MS;
  if (timed.length > 0) return mayHaveLeft ? DEPARTED : askAbout('no call here');
  return call.state.kind === 'live' ? askAbout('no call here') : SCHEDULED;
}

/** No living feed knows the run, or knows nothing of it but that it exists. */
function sayWithoutTrip(call: Departure, now: number): OverlaidCall {
  if (isCancelled(call)) return CANCELLED;
  if (call.runId === null) return SCHEDULED;
  if (call.state.kind === 'live') return leavesAt(call) <= now + EARLY_MS ? DEPARTED : askAbout('gone from the feed');
  const dueMs = call.plannedAt - now;
  const isImminent = dueMs >= -MINUTE_MS && dueMs <= IMMINENT_MS;
  return call.mode === 'train' && isImminent ? askAbout(SILENT) : SCHEDULED;
}

/** Calls of added and replaced trips that the departure monitor has not listed. */
function listUnlistedCalls(stop: StopTimetable, feed: Feed, spokenOf: ReadonlySet<StopUpdate>, now: number): Change[] {
  return [...stop.stopIds].flatMap((stopId) =>
    feed.findUntimetabledTrips(stopId).flatMap((trip) =>
      trip.stopUpdates.flatMap((update) => {
        const { at } = update.departure;
        const isDeparture = update.stopId === stopId && at !== null && update.relationship !== 'SKIPPED';
        if (!isDeparture || spokenOf.has(update) || at < now || at > stop.coveredUntil) return [];
        return { key: `not listed, ${trip.tripId}, ${stopId}`, at };
      }),
    ),
  );
}

/** The timetable is all we can show, and the departure monitor knows more. */
function askAbout(change: string): OverlaidCall {
  return { ...SCHEDULED, change };
}

function live(call: Departure, leavesAt: number, headerAt: number, occupancy: number | null = null): OverlaidCall {
  if (Math.abs(leavesAt - call.plannedAt) > MAX_SHIFT_MS) return SCHEDULED;
  const words = occupancy === null ? null : (OCCUPANCIES[occupancy] ?? null);
  return { state: { kind: 'live', leavesAt, occupancy: words, headerAt }, change: null };
}

/**
 * When the vehicle leaves; null when the update has neither time nor delay. The authority's own estimates for trains
 * are the planned time plus the delay, also where the feed's timetable has other seconds; for all others they are the
 * feed's time.
 */
function findLeavesAt(call: Departure, update: StopUpdate): number | null {
  const delaySeconds = findDelay(update);
  const delayed = delaySeconds === null ? null : call.plannedAt + delaySeconds * SECOND_MS;
  const at = isGiven(update.departure) ? update.departure.at : update.arrival.at;
  const plannedAt = findPlannedAt(update);
  const isSameTimetable = plannedAt === null || Math.abs(plannedAt - call.plannedAt) <= MINUTE_MS;
  const leavesAt = call.mode === 'train' && isSameTimetable ? (delayed ?? at) : (at ?? delayed);
  // Only the arrival is known: a vehicle does not leave before it is planned to.
  return leavesAt !== null && !isGiven(update.departure) ? Math.max(leavesAt, call.plannedAt) : leavesAt;
}

function isGiven({ at, delaySeconds }: StopTime): boolean {
  return at !== null || delaySeconds !== null;
}

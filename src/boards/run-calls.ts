import { MINUTE_MS } from '../core/clock.ts';
import { type StopUpdate, type TripUpdate, toOccupancy } from '../realtime/feed/feed.ts';
import { findPlannedAt, type IsSameStation, isOnServiceDay, plannedAtOf } from '../realtime/join.ts';
import { isLive, matchRun, overlayCalls, plannedAtCall, type TrustedFeed } from '../realtime/overlay.ts';
import { feedOfFile, filesOfFeed } from '../realtime/polling/feed-source.ts';
import type { CallRef, PlannedCall, Timetable } from '../timetable/timetable.ts';
import type { RunCall } from '../transit/call.ts';
import type { RunStart } from '../transit/run-id.ts';
import { toMinute } from '../transit/time.ts';

export type TimetableRun = Pick<CallRef, 'trip' | 'day'>;
type Feeds = readonly TrustedFeed[];
type Lookups = Pick<Timetable, 'stop' | 'findStop' | 'trip' | 'calls' | 'nextTrip'>;

/** A train changes its number once at Central, and twice on its way round the City Circle. */
export const MAX_CONTINUATIONS = 2;
/** Trips with calls that only a feed has. A replacement has the identifier of a planned trip. */
const ADDED: readonly TripUpdate['relationship'][] = ['ADDED', 'UNSCHEDULED', 'NEW', 'REPLACEMENT'];
/** A trip identifier occurs once a day. Two versions of the timetable differ by less than this. */
const SAME_CALL_MS = 5 * MINUTE_MS;

/**
 * The planned calls of a run with the feeds laid over them. `asOf` is the time of the oldest live data; null if nothing is
 * live.
 */
export function callsOfRun(timetable: Lookups, run: TimetableRun, feeds: Feeds, now: number) {
  return overlayRun(timetable, run, { listed: listCalls(timetable, run), feeds, now });
}

/** Finds the call that identifies a run, preferably at the given stop. Null if the timetable has no such run. */
export function findPlannedRun(
  timetable: Pick<Timetable, 'boardStopsOf' | 'findTrips' | 'daysOf' | 'calls'>,
  { runId, stopId, plannedAt }: RunStart,
): CallRef | null {
  const here = timetable.boardStopsOf(stopId);
  const rank = ({ isHere, apartMs }: { isHere: boolean; apartMs: number }) => apartMs + (isHere ? 0 : SAME_CALL_MS);
  const runs = timetable
    .findTrips(runId)
    .flatMap((trip) => timetable.daysOf(trip, plannedAt).map((day) => ({ trip, day })));
  const calls = runs.flatMap(({ trip, day }) =>
    timetable.calls(trip, day).map((call, position) => {
      const apartMs = Math.min(
        ...[call.departsAt, call.arrivesAt].map((moment) => Math.abs(toMinute(moment) - plannedAt)),
      );
      return { trip, day, position, plannedAt: call.departsAt, apartMs, isHere: here.includes(call.stop) };
    }),
  );
  const nearCalls = calls.filter(({ apartMs }) => apartMs <= SAME_CALL_MS);
  return nearCalls.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

/** Finds a run, or a departure of a replaced run, that only a feed has. */
export function findAddedRun(
  timetable: Pick<Timetable, 'stop' | 'findStop' | 'findRoute'>,
  { runId, plannedAt }: RunStart,
  feeds: Feeds,
) {
  for (const { feed, source } of feeds) {
    const trip = feed
      .findTrips(runId)
      .find((trip) => ADDED.includes(trip.relationship) && isOnServiceDay(trip, plannedAt, feed.headerAt));
    const calls = trip ? callsOfAddedTrip(timetable, trip) : [];
    const last = calls.findLast(({ isCancelled }) => !isCancelled) ?? calls.at(-1);
    if (!trip || !last) continue;
    const line = timetable.findRoute(trip.routeId, filesOfFeed(source));
    return {
      calls,
      asOf: calls.some(isLive) ? feed.headerAt : null,
      lineId: line?.lineId,
      route: line?.route ?? '',
      headsign: last.name,
    };
  }
  return null;
}

/** The planned calls of a run and of the trips that it continues as. */
export function listCalls(timetable: Lookups, { trip, day }: TimetableRun): RunCall[] {
  const calls = callsOfTrip(timetable, { trip, day });
  let next = findContinuation(timetable, { trip, day });
  for (let count = 0; next !== null && count < MAX_CONTINUATIONS; count++) {
    const [first, ...rest] = callsOfTrip(timetable, { trip: next, day });
    const end = calls.pop();
    if (!first || !end) break;
    calls.push(joinRuns(end, first, timetable.trip(next).tripId), ...rest);
    next = findContinuation(timetable, { trip: next, day });
  }
  return calls;
}

/**
 * The calls of a ride, or its two ends, with the call at which the vehicle continues as another run. Unchanged if the ride ends
 * before, or the timetable lacks it.
 */
export function withContinuation(timetable: Timetable, ride: RunStart, listed: readonly RunCall[]): readonly RunCall[] {
  const [calls, end] = [[...listed], listed.at(-1)];
  let run: TimetableRun | null = findPlannedRun(timetable, ride);
  for (let count = 0; run && end && count <= MAX_CONTINUATIONS; count++) {
    const own = callsOfTrip(timetable, run);
    if (own.some((call) => isSameArrival(call, end))) return calls;
    const next = timetable.nextTrip(run.trip, run.day);
    const [last, first] = [own.at(-1), next === null ? undefined : callsOfTrip(timetable, { ...run, trip: next })[0]];
    if (next === null || !last || !first) return listed;
    const nextRunId = timetable.trip(next).tripId;
    const change = calls.find((call) => isSameArrival(call, last));
    if (change) calls[calls.indexOf(change)] = { ...change, nextRunId };
    else if (listed.length === 2) calls.splice(-1, 0, joinRuns(last, first, nextRunId));
    run = { ...run, trip: next };
  }
  return listed;
}

/** The call at which the vehicle ends one run and begins the next. */
function joinRuns(end: RunCall, first: RunCall, nextRunId: string): RunCall {
  return { ...first, arrival: end.arrival, ids: [...end.ids, ...first.ids], nextRunId };
}

function isSameArrival(call: RunCall, other: RunCall): boolean {
  return call.stopId === other.stopId && call.arrival?.plannedAt === other.arrival?.plannedAt;
}

/** The departure of the next trip that the vehicle continues as; null if there is none. */
export function findNextRun(timetable: Lookups, { trip, day }: TimetableRun): RunStart | null {
  const next = timetable.nextTrip(trip, day);
  const first = next === null ? undefined : timetable.calls(next, day)[0];
  if (next === null || !first) return null;
  const { tripId, mode } = timetable.trip(next);
  return { runId: tripId, mode, stopId: timetable.stop(first.stop).id, plannedAt: toMinute(first.departsAt) };
}

/**
 * Trains through the city are split at Central, while their headsign names a stop beyond it. If the headsign names the last
 * stop of the trip, the train ends there.
 */
function findContinuation(timetable: Lookups, { trip, day }: TimetableRun): number | null {
  const { mode, headsign } = timetable.trip(trip);
  const last = mode === 'train' ? timetable.calls(trip, day).at(-1) : undefined;
  const [destination = ''] = headsign.split(' via ');
  if (!last || destination === '' || timetable.stop(last.stop).name.startsWith(destination)) return null;
  const next = timetable.nextTrip(trip, day);
  return next !== null && timetable.trip(next).mode === mode ? next : null;
}

/** Lays the feeds over a run's planned calls. */
export function overlayRun(
  timetable: Lookups,
  { trip, day }: TimetableRun,
  { listed, feeds, now }: { listed: readonly RunCall[]; feeds: Feeds; now: number },
): { calls: RunCall[]; asOf: number | null; isByFeed: boolean } {
  const { tripId, mode, file } = timetable.trip(trip);
  const run = { runId: tripId, mode, day, feed: feedOfFile(file) };
  const ofFile = feeds.filter(({ source }) => source === run.feed);
  const isSameStation: IsSameStation = (stopId, call) => isAtStation(timetable, stopId, call);
  const calls = addReplacementCalls(timetable, listed, ofFile, { tripId, day, isSameStation });
  const overlaid = overlayCalls(run, calls, { asOf: now, keptMs: 0, feeds: ofFile, now, isSameStation });
  const placedCalls = overlaid.calls.map((call, index) =>
    call.stopId === calls[index]?.stopId ? call : { ...call, ...placeOf(timetable, call.stopId) },
  );
  const ended = endIfCancelled(placedCalls);
  return { ...overlaid, calls: ended, asOf: overlaid.isByFeed && ended.some(isLive) ? overlaid.asOf : null };
}

/** If all calls of the run are cancelled, the vehicle does not continue as another run. */
function endIfCancelled(calls: RunCall[]): RunCall[] {
  const end = calls.findIndex(({ nextRunId }) => nextRunId !== undefined);
  if (end < 0 || calls.slice(0, end + 1).some(({ isCancelled }) => !isCancelled)) return calls;
  const { nextRunId: _, ...last } = calls[end] as RunCall;
  return [...calls.slice(0, end), { ...last, departure: null }];
}

/** A replacement trip keeps the identifier of the trip it replaces, but may call at other stops. */
function addReplacementCalls(
  timetable: Lookups,
  listedCalls: readonly RunCall[],
  feeds: Feeds,
  { tripId, day, isSameStation }: { tripId: string; day: number; isSameStation: IsSameStation },
) {
  const start = listedCalls[0] ? plannedAtCall(listedCalls[0]) : 0;
  const trip = feeds
    .flatMap(({ feed }) => feed.findTrips(tripId).filter((trip) => isOnServiceDay(trip, start, feed.headerAt, day)))
    .find(({ relationship }) => relationship === 'REPLACEMENT');
  if (!trip) return listedCalls;
  const matches = matchRun({ calls: listedCalls }, trip, isSameStation);
  const callOf = new Map(matches.map((match, index) => [match?.update, listedCalls[index]]));
  const calls = [...listedCalls];
  const next = trip.stopUpdates.map((update) => callOf.get(update)).find((call) => call !== undefined);
  let before: RunCall | undefined;
  for (const update of trip.stopUpdates) {
    const mapped = callOf.has(update) ? null : mapUpdate(timetable, update);
    const added = mapped?.isCancelled ? null : mapped;
    if (added) calls.splice(before ? calls.indexOf(before) + 1 : findPlace(calls, added, next), 0, added);
    before = callOf.get(update) ?? added ?? before;
  }
  // The run may begin before its planned first stop, or go on from its planned last one.
  return calls.map((call, index) => {
    const update = matches[listedCalls.indexOf(call)]?.update;
    const listed = update ? mapUpdate(timetable, update) : null;
    return {
      ...call,
      arrival: index === 0 ? null : (call.arrival ?? listed?.arrival ?? null),
      departure: index === calls.length - 1 ? null : (call.departure ?? listed?.departure ?? null),
    };
  });
}

/** The index of an added call that comes first in a feed, which drops the calls that the vehicle has passed. */
function findPlace(calls: readonly RunCall[], added: RunCall, next: RunCall | undefined): number {
  const isLater = (call: RunCall) => (next ? call === next : plannedAtCall(call) > plannedAtCall(added));
  const place = calls.findIndex(isLater);
  return place < 0 ? calls.length : place;
}

function isAtStation(timetable: Pick<Lookups, 'stop' | 'findStop'>, stopId: string, call: { stopId: string }): boolean {
  const [stop, other] = [timetable.findStop(stopId), timetable.findStop(call.stopId)];
  const parent = stop === null ? null : timetable.stop(stop).parent;
  return parent !== null && other !== null && timetable.stop(other).parent === parent;
}

/** The calls of a trip that only a feed has. Calls without a time, or at stops unknown to the timetable, are left out. */
export function callsOfAddedTrip(timetable: Pick<Timetable, 'stop' | 'findStop'>, trip: TripUpdate): RunCall[] {
  const isTripCancelled = trip.relationship === 'CANCELED' || trip.relationship === 'DELETED';
  const calls = trip.stopUpdates.flatMap((update) => mapUpdate(timetable, update) ?? []);
  return calls.map((call, index) => ({
    ...call,
    arrival: index === 0 ? null : call.arrival,
    departure: index === calls.length - 1 ? null : call.departure,
    isCancelled: isTripCancelled || call.isCancelled,
  }));
}

function mapUpdate(timetable: Pick<Timetable, 'stop' | 'findStop'>, update: StopUpdate): RunCall | null {
  const { stopId, arrival, departure, occupancy, relationship } = update;
  const stop = stopId === null ? null : timetable.findStop(stopId);
  const timeOf = (time: StopUpdate['arrival'], other: StopUpdate['arrival']) => {
    const at = time.at ?? other.at;
    const plannedAt = plannedAtOf(time) ?? findPlannedAt(update) ?? at;
    const realtimeAt = relationship === 'SCHEDULED' ? at : null;
    return plannedAt === null ? null : { plannedAt: toMinute(plannedAt), realtimeAt };
  };
  const [arrives, departs] = [timeOf(arrival, departure), timeOf(departure, arrival)];
  if (stop === null || !arrives || !departs) return null;
  return {
    ...placeAt(timetable, stop),
    arrival: arrives,
    departure: departs,
    occupancy: toOccupancy(occupancy),
    isCancelled: relationship === 'SKIPPED',
  };
}

/** The planned calls of this trip, without its continuations. */
export function callsOfTrip(timetable: Lookups, { trip, day }: TimetableRun): RunCall[] {
  const planned = timetable.calls(trip, day);
  return planned.map(({ stop, arrivesAt, departsAt }: PlannedCall, index) => ({
    ...placeAt(timetable, stop),
    arrival: index === 0 ? null : { plannedAt: toMinute(arrivesAt), realtimeAt: null },
    departure: index === planned.length - 1 ? null : { plannedAt: toMinute(departsAt), realtimeAt: null },
    occupancy: null,
    isCancelled: false,
  }));
}

function placeOf(timetable: Pick<Timetable, 'stop' | 'findStop'>, stopId: string) {
  const stop = timetable.findStop(stopId);
  return stop === null ? {} : placeAt(timetable, stop);
}

function placeAt(timetable: Pick<Timetable, 'stop'>, index: number) {
  const { id, name, platform, lat, lng, parent } = timetable.stop(index);
  const ids = parent === null ? [id] : [id, timetable.stop(parent).id];
  return { stopId: id, name, platform, position: [lat, lng] as [number, number], ids };
}

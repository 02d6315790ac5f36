import { z } from 'zod';
import { MINUTE_MS } from '../../core/clock.ts';
import { nullIfApiError } from '../../errors/api-error.ts';
import { journeyOver, notIssued } from '../../errors/messages.ts';
import { fitWalks, type UpdatedLeg, withFeeds, withFeedTimes } from '../../journeys/feed-times.ts';
import { chooseFitting, selectJourneys } from '../../journeys/selection.ts';
import type { Journeys } from '../../journeys/source.ts';
import { timeWalks, walkFrom, walkTo } from '../../journeys/walks.ts';
import { routeOf } from '../../routes.ts';
import {
  CARRIAGES_ADDED,
  COLORS_ADDED,
  DELAY_ADDED,
  includeParameter,
  type RequestedFields,
  WITHOUT_VEHICLE_ACCESS,
} from '../../transit/additional-fields.ts';
import { type CurrentAlert, holdsAt } from '../../transit/alert.ts';
import { isCallAt, type RunCall } from '../../transit/call.ts';
import { occupancySchema } from '../../transit/departure.ts';
import { type Freshness, oldestOf } from '../../transit/freshness.ts';
import {
  type Change,
  destinationOf,
  isCancelled,
  isMissed,
  type Journey,
  type Leg,
  type LegEnd,
  latestStart,
  listChanges,
  originOf,
} from '../../transit/journey.ts';
import { describe } from '../../transit/parameter.ts';
import { isSameRun } from '../../transit/run-id.ts';
import { field, flag, list, record, text } from '../../transit/schema.ts';
import { bestKnown, formatTimestamp, timestampSchema, toSydneyWallClock, type WallClock } from '../../transit/time.ts';
import { defineOperation, type FindContext, type Notice } from '../operation.ts';
import { type JourneyRequest, journeyIdParameter, type PlannedJourney, parseJourneyId } from '../trips/journey-id.ts';
import { exampleBody as exampleTrips } from '../trips/operation.ts';
import {
  changeSchema,
  type JourneyBody,
  journeySchema,
  legSchema,
  toChangeBody,
  toJourneyBody,
} from '../trips/response.ts';

/** A journey stays available this long after its end, so that riders can check once more. */
const ENDED_MS = 10 * MINUTE_MS;
/** A journey that should have ended this long ago is no longer looked up. */
const LATEST_MS = 180 * MINUTE_MS;
/** Live times of rides that begin later change slowly. */
const FAR_MS = 30 * MINUTE_MS;
const FAR_FRESH_MS = 5 * MINUTE_MS;
/** If the feeds have every ride that is running or begins soon, upstream is queried about the others once a minute. */
const CALM_FRESH_MS = MINUTE_MS;
const MAX_NEXT_JOURNEYS = 3;

const CHANGE_STATUSES = ['possible', 'at_risk', 'missed'] as const;
const STATUSES = [...CHANGE_STATUSES, 'cancelled', 'ended'] as const;

const followedLegSchema = legSchema
  .omit({ ...WITHOUT_VEHICLE_ACCESS, polyline: true, needs_booking: true, through_to: true })
  .extend({
    found: flag(
      'Whether the run is still in the timetable or the feeds. If false, its times are the planned ones. True on a walk',
    ),
    occupancy: field(occupancySchema.nullable(), 'How full the vehicle is at the start of the ride; null if unknown'),
  })
  .meta({ id: 'FollowedLeg', description: 'One ride or walk of a followed journey.' });

const followedChangeSchema = changeSchema
  .extend({
    status: field(
      z.enum(CHANGE_STATUSES),
      'By best-known times, including the walk. A change to or from a cancelled ride is `missed`; `at_risk` with less than two minutes to spare',
    ),
  })
  .meta({ id: 'Change', description: 'A change between two rides, and whether it will be made.' });

const followedResponse = record('JourneyNow', 'The current status of a journey.', {
  journey_id: text('As requested'),
  retrieved_at: field(timestampSchema, 'Timestamp (UTC) of the oldest live data in this response'),
  status: field(
    z.enum(STATUSES),
    'Status of the worst change; `cancelled` if a ride does not run, `ended` after the arrival',
  ),
  journey: journeySchema
    .omit({ journey_id: true, change_ratings: true })
    .extend({ legs: field(z.array(followedLegSchema).min(1), 'In order; each begins where the one before ended') })
    .meta({
      id: 'FollowedJourney',
      description: 'The journey with its current times. `path` of legs is empty.',
    }),
  changes: list(followedChangeSchema, 'The changes between rides, in order'),
  next_journeys: field(
    z.array(journeySchema).nullable(),
    'If a change is missed or a ride cancelled: journeys that continue from there, each with its `journey_id`. Empty if none is found; null while the journey can be made',
  ),
});

type FollowedBody = z.infer<typeof followedResponse>;

/** The journey in the example of `/v1/trips`. */
const EXAMPLE_ID =
  'AkEAgJgp02nVOW0nxae3eSxOCA4QTpxr5xNom5XRjKLDhv0l_irfNtPXbV52eRnYdMJ6qytgJRRAUw5lH-0vMJGFEbOHE5eES0m8z1Anbu-W8_52N-6STExS_FSxep21d2I6AMVVa3W2NohneGgkScHVGXUQsd5A-d_teNPdz9obetu3z1ikFGA9GAZismdtEJ79jNqbAVmmj3GvT9eAuEQXSwRpzMxLGMdUPbUXszOByGBSR4SI8_lxsjHnep1LEYYR4fCAZwVJDxrWOQ0TddLXOunk4uXFFfE_k8uTjK_oV60jPY4XfTrZ7kyctrM-HcZtep_gVtW5VMHGlfLgdl_YVOfiGdYIIxthm3QurJ4eqrBuOv4DAp2oSRQ7Va_XAQ6-IVpP9wTbI';

function exampleNow(): FollowedBody {
  const [journey] = exampleTrips.journeys as [(typeof exampleTrips.journeys)[0]];
  const legs = journey.legs.map((leg) => ({
    ...leg,
    path: [],
    alert_ids: [],
    cancelled: false,
    trip_id: null,
    run_id: null,
    on_demand: false,
    found: true,
    occupancy: null,
  }));
  const change = { leg: 0, next_leg: 2, stop_id: '2000351', name: 'Circular Quay', rating: 'on_time' as const };
  return {
    journey_id: EXAMPLE_ID,
    retrieved_at: exampleTrips.retrieved_at,
    status: 'possible',
    journey: { ...journey, cancelled: false, legs },
    changes: [{ ...change, spare_minutes: 7, spare_seconds: 474, status: 'possible' }],
    next_journeys: null,
  };
}

/** Alerts of the whole network, including those no longer in force. */
type Alerts = readonly (Omit<CurrentAlert, 'stops'> & { stops: readonly { id: string; parent: string | null }[] })[];

/** `GET /v1/trips/{journey_id}` */
export const createFollowOperation = ({
  journeys: source,
  listAlerts,
}: {
  journeys: Journeys;
  listAlerts: (queryUpstream: FindContext['queryUpstream']) => Promise<Alerts>;
}) =>
  defineOperation({
    ...routeOf('getJourney'),
    tag: 'Journeys',
    summary: 'Follow a journey',
    description:
      'The current status of a journey from `/v1/trips`: live times and platforms of its legs, cancelled rides, and for each change whether it will be made, with the time to spare. If a change is missed or a ride cancelled, `next_journeys` lists how to continue from there. A ride that is no longer listed stays, with `found` false.\n\nGet the `journey_id` from `/v1/trips` with `include=ids`. It is self-contained: it works on any instance and needs no lookup. Ten minutes after the arrival the response is 404 `JOURNEY_NOT_FOUND`.',
    query: z.object({
      journey_id: describe(journeyIdParameter, 'The `journey_id` from `/v1/trips` with `include=ids`.', EXAMPLE_ID),
      include: includeParameter({
        calls:
          '`calls` to each leg: every stop of the vehicle in order, including both ends. Skipped stops are `cancelled` if known.',
        colors: COLORS_ADDED,
        carriages: CARRIAGES_ADDED,
        delay: DELAY_ADDED,
      }),
    }),
    body: followedResponse,
    example: { query: `journey_id=${EXAMPLE_ID}`, body: exampleNow() },
    tool: {
      description:
        'Follows a planned journey: its live times, whether each change will be made and with how many minutes to spare, and how to continue if one is missed. Get the `journey_id` from planTrips with `include` `ids`.',
    },
    stream: {
      id: 'streamJourney',
      summary: 'A journey as a stream',
      description:
        'The journey as server-sent events. A `journey` event with the whole `/v1/trips/{journey_id}` response is sent at the start and on every change. Otherwise it works like the stream of departures. Costs one request a minute. The last event is `end`, with `JOURNEY_NOT_FOUND` ten minutes after the arrival.',
    },

    async handle({ journey_id: id, include }, { queryUpstream, turn, runs, lines, now, ids }) {
      if (!ids.isSigned('journey', id)) throw notIssued('JOURNEY_NOT_FOUND', 'journey_id');
      const planned = parseJourneyId(id) as PlannedJourney;
      const latest = destinationOf(planned).plannedAt + LATEST_MS;
      if (latest < now()) throw journeyOver(formatTimestamp(destinationOf(planned).plannedAt));

      const sources = { queryUpstream, turn, runs, now, source };
      const found = await fetchRides(planned, sources);
      const { rides } = found;
      const alerts = rides.some((ride) => ride && !ride.isTold)
        ? await listAlerts(queryUpstream).catch(nullIfApiError)
        : [];
      const legs = await joinRides(planned, rides, { alerts, include }, sources);
      const endsAt = bestKnown((legs.at(-1) as Leg).destination);
      const sentAt = now();
      if (endsAt < sentAt - ENDED_MS) throw journeyOver(formatTimestamp(endsAt));

      const changes = judgeChanges(legs);
      const next = await fetchNext(planned, legs, sources);
      const freshness = freshnessNow(planned, found, next, sentAt);
      const isOver = endsAt < sentAt;
      const shown = { ...planned, include: ['ids', ...(include ?? [])], path: 'none' } as const;
      const shownNext = {
        ...shown,
        ...(next && { from: next.from, via: next.via }),
        include: [...shown.include, 'changes'],
        cancelled: 'exclude',
      } as const;
      const body: FollowedBody = {
        journey_id: id,
        retrieved_at: formatTimestamp(freshness.retrievedAt),
        status: statusOf(legs, changes, isOver),
        journey: toFollowedBody(toJourneyBody({ legs }, { ...shown, cancelled: 'include' }, { ids, lines }), rides),
        changes,
        next_journeys: next?.journeys.map((journey) => toJourneyBody(journey, shownNext, { ids, lines })) ?? null,
      };
      const notices = [
        ...(rides.some((ride) => ride && !ride.isFound) ? [LOST] : []),
        ...(alerts === null ? [UNTOLD] : []),
        ...(next?.hasFailed ? [NO_NEXT] : []),
      ];
      return { body, freshness, notices, changesAt: isOver ? endsAt + ENDED_MS : endsAt };
    },
  });

const LOST: Notice = {
  text: 'Rides with found=false are no longer listed. Their times are the planned ones.',
};
const UNTOLD: Notice = { text: 'Alerts are currently unavailable.' };
const NO_NEXT: Notice = { text: 'Next journeys are currently unavailable.' };

/** Where rides are looked up. */
interface RideSources {
  queryUpstream: FindContext['queryUpstream'];
  turn?: FindContext['turn'];
  runs: FindContext['runs'];
  now: () => number;
  source: Journeys;
}

/** One entry per leg; null for a walk. */
type Rides = readonly (ReturnType<typeof findRide> | null)[];

/** Finds the rides in the feeds, and in upstream's current plan if the feeds lack some of them. */
async function fetchRides(planned: PlannedJourney, sources: RideSources) {
  const updated = planned.legs.map((leg) => withFeedTimes(leg, sources.runs));
  const isSeen = updated.every(({ leg, view }) => leg.mode === 'walk' || isRunning(view));
  const at = toSydneyWallClock(originOf(planned).plannedAt);
  const replanned = isSeen ? null : await plan({ ...planned, at, cancelled: 'include' }, sources);
  const legs = replanned?.journeys.flatMap((journey) => journey.legs) ?? [];
  const rides: Rides = planned.legs.map((leg, index) =>
    leg.mode === 'walk' ? null : findRide(leg, legs, updated[index] as UpdatedLeg, sources),
  );
  return { views: updated.map(({ view }) => view), again: replanned, rides };
}

/** Whether a feed has the ride, and it takes place. */
function isRunning(view: UpdatedLeg['view'] | undefined): boolean {
  return view?.isByFeed === true && !view.isCancelled;
}

/** Plans journeys upstream; returns none if upstream gives a reason why there are none. */
function plan(
  {
    from,
    to,
    at,
    modes,
    wheelchair,
    booking,
    choices,
    via,
    cancelled,
  }: JourneyRequest & { at: WallClock | null; cancelled: RequestedFields['cancelled'] },
  { queryUpstream, turn, source }: RideSources,
) {
  const options = { choices, via, withoutBooking: booking === 'exclude', cancelled, mayBeNone: true };
  const request = { from, to, at, isArrival: false, modes, isAccessible: wheelchair, ...options };
  return source.fetch(request, { queryUpstream, turn });
}

/**
 * The ride as upstream plans it now, with the feeds' times if they have it. Another run of the same line counts as its
 * replacement if it connects the same stops at the same planned time.
 */
function findRide(planned: Leg, legs: readonly Leg[], updated: UpdatedLeg, { runs }: RideSources) {
  const sameRides = legs.filter(
    (leg) =>
      leg.mode === planned.mode &&
      leg.route === planned.route &&
      isSameEnd(leg.origin, planned.origin) &&
      isSameEnd(leg.destination, planned.destination),
  );
  const match = sameRides.find((leg) => rideKey(leg) === rideKey(planned)) ?? sameRides[0];
  const { leg, view } = match ? withFeedTimes(match, runs) : updated;
  return {
    leg,
    runCalls: view?.runCalls ?? null,
    isFound: match !== undefined || view !== null,
    isTold: match !== undefined,
    occupancy: view?.calls[0]?.occupancy ?? match?.listCalls()?.[0]?.occupancy ?? null,
  };
}

function rideKey({ runId, route, mode }: Leg): string {
  return runId ?? `${mode} ${route}`;
}

function isSameEnd(a: LegEnd, b: LegEnd): boolean {
  const isSameStop = a.stopId === b.stopId || (a.parentId !== null && a.parentId === b.parentId);
  return isSameStop && Math.abs(a.plannedAt - b.plannedAt) < MINUTE_MS;
}

/**
 * Joins the rides that were found with walks that fit between them. Data missing from upstream's plan is looked up elsewhere;
 * `alerts` is null if unavailable.
 */
async function joinRides(
  planned: PlannedJourney,
  rides: Rides,
  { alerts, include }: { alerts: Alerts | null; include: RequestedFields['include'] },
  sources: RideSources,
): Promise<Leg[]> {
  const legs = planned.legs.map(async (leg, index) => {
    const ride = rides[index];
    if (!ride || ride.isTold) return ride?.leg ?? leg;
    const listedCalls = include?.includes('calls') ? (ride.runCalls ?? (await fetchCalls(ride.leg, sources))) : null;
    return { ...ride.leg, alerts: alertsOf(ride.leg, alerts ?? [], sources.now()), listCalls: () => listedCalls };
  });
  return fitWalks(await Promise.all(legs));
}

/**
 * The alerts that name the run, and the alerts that name its line but not only runs. An alert about a stop or a lift names the
 * lines there too, so it must name one of the ride's two stops.
 */
function alertsOf({ runId, route, mode, origin, destination }: Leg, alerts: Alerts, now: number): string[] {
  const ends = [origin, destination].flatMap(({ stopId, parentId }) => [stopId, ...(parentId ? [parentId] : [])]);
  const isOfLeg = ({ kind, runs, routes, stops, isOnWholeLines }: Alerts[number]) => {
    if (runs.some(({ tripId }) => tripId !== null && isSameRun(tripId, runId))) return true;
    if (!isOnWholeLines) return false;
    const isOfStops = stops.length > 0 && (kind === 'stop' || kind === 'facility');
    if (routes.length > 0 && !isOfStops) return routes.some((line) => line.route === route && line.mode === mode);
    return stops.some(({ id, parent }) => ends.includes(id) || ends.includes(parent ?? ''));
  };
  const ofLeg = alerts.filter((alert) => holdsAt(alert, now) && isOfLeg(alert));
  return [...new Set(ofLeg.map(({ text }) => text))];
}

/** The calls of the ride, taken from its run; null if they are not listed. */
async function fetchCalls(
  { mode, runId, origin, destination }: Leg,
  { queryUpstream, runs }: RideSources,
): Promise<RunCall[] | null> {
  if (mode === 'walk' || runId === null) return null;
  const run = { runId, mode, stopId: origin.parentId ?? origin.stopId, plannedAt: origin.plannedAt };
  const currentRun = await runs.fetch(queryUpstream, run).catch(nullIfApiError);
  if (!currentRun?.areListed) return null;
  const isAt = (call: RunCall, { stopId, parentId }: LegEnd) =>
    isCallAt(call, stopId) || (parentId !== null && isCallAt(call, parentId));
  const first = currentRun.calls.findIndex((call) => isAt(call, origin));
  const last = currentRun.calls.findIndex((call, index) => index > first && isAt(call, destination));
  return first < 0 || last < 0 ? null : currentRun.calls.slice(first, last + 1);
}

function judgeChanges(legs: readonly Leg[]): FollowedBody['changes'] {
  return listChanges({ legs }).map((change) => {
    const body = toChangeBody(change);
    return { ...body, status: isMissed(change) ? 'missed' : body.rating === 'at_risk' ? 'at_risk' : 'possible' };
  });
}

function statusOf(legs: readonly Leg[], changes: FollowedBody['changes'], isOver: boolean): FollowedBody['status'] {
  if (isCancelled({ legs })) return 'cancelled';
  if (changes.some(({ status }) => status === 'missed')) return 'missed';
  if (isOver) return 'ended';
  return changes.some(({ status }) => status === 'at_risk') ? 'at_risk' : 'possible';
}

/** Journeys that continue from where the first impossible ride would have begun; null while the journey can be made. */
async function fetchNext(planned: PlannedJourney, legs: readonly Leg[], sources: RideSources) {
  const { now } = sources;
  const isFirstRideCancelled = legs.find(({ mode }) => mode !== 'walk')?.isCancelled ?? false;
  const missed = listChanges({ legs }).find(isMissed);
  if (!missed && !isFirstRideCancelled) return null;
  const change = isFirstRideCancelled ? undefined : missed;
  const here = change?.before.destination;
  const from = here ? (here.parentId ?? here.stopId) : planned.from;
  const { via, stayMinutes } = change
    ? await listViaAhead(planned, legs, change, sources)
    : { via: planned.via, stayMinutes: 0 };
  const arrival = here ? bestKnown(here) : originOf(planned).plannedAt;
  const moment = arrival + stayMinutes * MINUTE_MS;
  const at = moment > now() ? toSydneyWallClock(moment) : null;
  const found = await plan({ ...planned, via, from, at, cancelled: 'exclude' }, sources).catch(nullIfApiError);
  if (!found) return { from, via, journeys: [], freshness: null, hasFailed: true };
  const journeys =
    found.origin.source === 'timetable'
      ? found.journeys
      : withFeeds(found.journeys, sources.runs, { cancelled: 'exclude', now: now() }).journeys;
  const reached = change ? journeys.flatMap((journey) => continueFrom(change, journey) ?? []) : journeys;
  const fitting = chooseFitting(reached, planned).journeys;
  const selection = selectJourneys(fitting, { limit: MAX_NEXT_JOURNEYS, isArrival: false, at, now: now() });
  return { from, via, journeys: selection.journeys, freshness: found.freshness, hasFailed: false };
}

/** The places of `via` that lie ahead of a missed change, and the minutes that the rider stays at the stop of the change. */
async function listViaAhead(
  { via = [] }: PlannedJourney,
  legs: readonly Leg[],
  { before }: Change,
  sources: RideSources,
) {
  const ahead = [...via];
  const isEnd = ({ ids, parentId }: LegEnd, stopId: string) => ids.includes(stopId) || parentId === stopId;
  for (const leg of via.length > 0 ? legs.slice(0, legs.indexOf(before) + 1) : []) {
    // Without a stay, the rider may have passed the place in the vehicle.
    for (const call of (await fetchCalls(leg, sources)) ?? [])
      if (ahead[0] && isCallAt(call, ahead[0].stopId)) ahead.shift();
    if (ahead[0] && isEnd(leg.destination, ahead[0].stopId)) ahead.shift();
  }
  const last = via[via.length - ahead.length - 1];
  return { via: ahead, stayMinutes: last && isEnd(before.destination, last.stopId) ? last.stayMinutes : 0 };
}

/**
 * The journey from where the rider gets off before a missed change; null if its first vehicle leaves before the rider is there.
 * Upstream plans from the station as if the rider stood on every platform, so the walk between platforms is put in front.
 */
function continueFrom({ before: { destination: here }, ride: missed, walkMs }: Change, journey: Journey) {
  const [first, ...others] = journey.legs as [Leg, ...Leg[]];
  const startsAtMissed = first.origin.stopId === missed.origin.stopId;
  const legs =
    first.mode === 'walk'
      ? [walkFrom(first, here), ...others]
      : first.origin.stopId === here.stopId
        ? journey.legs
        : timeWalks([walkTo(first, here, startsAtMissed ? walkMs : null), ...journey.legs]);
  const start = latestStart({ legs });
  return start !== null && start < bestKnown(here) ? null : { ...journey, legs };
}

function toFollowedBody({ journey_id: _, ...body }: JourneyBody, rides: Rides): FollowedBody['journey'] {
  // A platform change may have added a walk; the rides keep their order.
  const left = rides.filter((ride) => ride !== null);
  const legs = body.legs.map((leg) => {
    const ride = leg.mode === 'walk' ? undefined : left.shift();
    return { ...leg, found: ride?.isFound ?? true, occupancy: ride?.occupancy ?? null };
  });
  return { ...body, legs };
}

/**
 * The oldest freshness of the data in the response. If nothing changes soon, the response stays fresh longer than the plan,
 * except during a shortage. A plan from the timetable takes no upstream call, so with it the response follows a feed that has one
 * of the rides.
 */
function freshnessNow(
  planned: PlannedJourney,
  { views, again, rides }: Awaited<ReturnType<typeof fetchRides>>,
  next: Awaited<ReturnType<typeof fetchNext>>,
  now: number,
): Freshness {
  const parts = [...views, again, next].flatMap((part) => part?.freshness ?? []);
  const oldest = oldestOf(...(parts as [Freshness]));
  if (!again || oldest.shortage !== null) return oldest;
  const isByTimetable = again.origin.source === 'timetable';
  if (isByTimetable && views.some((view) => view?.isByFeed)) return oldest;
  const farTime = now + FAR_MS;
  const isCalm = planned.legs.every(({ mode, origin, destination }, index) => {
    const isQuiet = origin.plannedAt > farTime || bestKnown(rides[index]?.leg.destination ?? destination) < now;
    return mode === 'walk' || isRunning(views[index]) || isQuiet;
  });
  const isFar = originOf(planned).plannedAt > farTime && !isByTimetable;
  const minMs = isFar ? FAR_FRESH_MS : isCalm ? CALM_FRESH_MS : 0;
  const freshUntil = Math.max(oldest.freshUntil, now + minMs);
  return { ...oldest, freshUntil, staleUntil: Math.max(oldest.staleUntil, freshUntil) };
}

import { z } from 'zod';
import { MINUTE_MS } from '../../../core/clock.ts';
import { ApiError, nullIfApiError } from '../../../errors/api-error.ts';
import { journeyOver, notIssued } from '../../../errors/messages.ts';
import { fitWalks, layFeeds, type Seen, viewCarriages, viewRide, withTimes } from '../../../journeys/feed-times.ts';
import {
  destinationOf,
  isCancelled,
  type Journey,
  latestStart,
  listChanges,
  originOf,
} from '../../../journeys/journey.ts';
import type { Leg } from '../../../journeys/leg.ts';
import type { LegEnd } from '../../../journeys/leg-end.ts';
import { plannerJourneys } from '../../../journeys/planner.ts';
import { keepFitting, selectJourneys } from '../../../journeys/selection.ts';
import type { Journeys } from '../../../journeys/source.ts';
import { timeWalks, walkFrom, walkTo } from '../../../journeys/walks.ts';
import type { StopRegister } from '../../../stops/register.ts';
import {
  type AskedFields,
  CARRIAGES_ADDED,
  COLORS_ADDED,
  includeParameter,
} from '../../../transit/additional-fields.ts';
import { type CurrentAlert, holdsAt } from '../../../transit/alert.ts';
import type { Call } from '../../../transit/call.ts';
import { isCallAt, type RunCall } from '../../../transit/call.ts';
import { occupancySchema } from '../../../transit/departure.ts';
import { type Freshness, freshnessOf, oldestOf } from '../../../transit/freshness.ts';
import { describe } from '../../../transit/parameter.ts';
import {
  bestKnown,
  formatTimestamp,
  timestampSchema,
  toSydneyWallClock,
  type WallClock,
} from '../../../transit/time.ts';
import { defineOperation, type FindContext, type Notice } from '../../operation.ts';
import { type JourneyRequest, journeyIdParameter, type PlannedJourney, readJourneyId } from '../../trips/journey-id.ts';
import { exampleBody as exampleTrips } from '../../trips/operation.ts';
import { type JourneyBody, journeySchema, legSchema, toJourneyBody } from '../../trips/response.ts';

/** A journey is shown so long after its end, for riders who look once more. */
const ENDED_MS = 10 * MINUTE_MS;
/** A journey that should have ended so long ago is not looked for any more. */
const LATEST_MS = 180 * MINUTE_MS;
/** With fewer seconds to spare a change is at risk: the live times are those of whole minutes. */
const AT_RISK_SECONDS = 120;
/** Live times of what begins later than this change slowly. */
const FAR_MS = 30 * MINUTE_MS;
const FAR_FRESH_MS = 5 * MINUTE_MS;
/** The feeds know every ride that is under way or begins soon: the authority is asked about the others once in a charged minute. */
const CALM_FRESH_MS = MINUTE_MS;
const MOST_NEXT = 3;

const CHANGE_STATUSES = ['possible', 'at_risk', 'missed'] as const;
const STATUSES = [...CHANGE_STATUSES, 'cancelled', 'ended'] as const;

const followedLegSchema = legSchema
  .omit({ polyline: true, vehicle_accessible: true })
  .extend({
    found: z.boolean().meta({
      description:
        'Whether the run is still listed by the authority or its feeds; false: its times are those that were planned. True on a walk',
    }),
    occupancy: occupancySchema
      .nullable()
      .meta({ description: 'How full the vehicle is at the start of the ride; null if unknown' }),
  })
  .meta({ id: 'FollowedLeg', description: 'One ride or one walk of a journey that is followed.' });

const changeSchema = z
  .strictObject({
    leg: z.int().min(0).meta({ description: 'The ride that one leaves: its number in `legs`, from 0', example: 0 }),
    next_leg: z.int().min(0).meta({ description: 'The ride that one takes next: its number in `legs`', example: 2 }),
    stop_id: z.string().meta({ description: 'Where one leaves the first ride', example: '2000351' }),
    name: z.string().meta({ description: 'Name of that stop', example: 'Circular Quay' }),
    status: z.enum(CHANGE_STATUSES).meta({
      description:
        'By the best-known times, with the walk: `missed` also where one of the rides is cancelled, `at_risk` with less than two minutes to spare',
    }),
    spare_minutes: z.int().meta({ description: 'Whole minutes to spare; negative where they are wanting', example: 7 }),
    spare_seconds: z.int().meta({ description: 'The same as a number of seconds', example: 474 }),
  })
  .meta({ id: 'Change', description: 'A change from one ride to the next, judged.' });

const followedResponse = z
  .strictObject({
    journey_id: z.string().meta({ description: 'As asked for' }),
    retrieved_at: timestampSchema.meta({
      description: 'When the authority said what is shown as live, UTC; of several moments the oldest',
    }),
    status: z.enum(STATUSES).meta({
      description: 'That of its worst change; `cancelled` where a ride does not run, `ended` after the arrival',
    }),
    journey: journeySchema
      .omit({ journey_id: true })
      .extend({
        legs: z
          .array(followedLegSchema)
          .min(1)
          .meta({ description: 'In order; each begins where the one before ended' }),
      })
      .meta({
        id: 'FollowedJourney',
        description: 'The journey with its times of now. `path` of legs is empty.',
      }),
    changes: z.array(changeSchema).meta({ description: 'The changes between rides, in order' }),
    next_journeys: z.array(journeySchema).nullable().meta({
      description:
        'Where a change is missed or a ride cancelled: how to go on from there, as the authority plans it now, each with its `journey_id`; empty where it finds nothing, null while the journey can be made',
    }),
  })
  .meta({ id: 'JourneyNow', description: 'A journey as it is now.' });

type FollowedBody = z.infer<typeof followedResponse>;

/** The journey of the example of `/v1/trips`. */
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
  const change = { leg: 0, next_leg: 2, stop_id: '2000351', name: 'Circular Quay', status: 'possible' as const };
  return {
    journey_id: EXAMPLE_ID,
    retrieved_at: exampleTrips.retrieved_at,
    status: 'possible',
    journey: { ...journey, cancelled: false, legs },
    changes: [{ ...change, spare_minutes: 7, spare_seconds: 474 }],
    next_journeys: null,
  };
}

/** The notices of the whole network, dead ones included. */
type Alerts = readonly (Omit<CurrentAlert, 'stops'> & { stops: readonly { id: string; parent: string | null }[] })[];

/** `GET /v1/trips/{journey_id}` */
export const createFollowOperation = ({
  stops,
  listAlerts,
  journeys: source = plannerJourneys(stops),
}: {
  stops: Pick<StopRegister, 'get'>;
  journeys?: Journeys | undefined;
  listAlerts: (ask: FindContext['ask']) => Promise<Alerts>;
}) =>
  defineOperation({
    id: 'getJourney',
    path: '/v1/trips/{journey_id}',
    tag: 'Journeys',
    summary: 'A journey as it is now',
    description:
      'One journey of `/v1/trips`, as it is now: live times and platforms of its legs, cancelled rides, and for each change whether it will be made, with the time to spare. Where a change is missed or a ride cancelled, `next_journeys` tells how to go on from there. A ride that is not listed any more stays, with `found` false.\n\n`journey_id` is that of a journey with `include=ids`. It is the journey itself, written small: it works on any instance, until ten minutes after the arrival. Then the response is 404 `JOURNEY_NOT_FOUND`.',
    query: z.object({
      journey_id: describe(journeyIdParameter, 'The journey, as `/v1/trips` gives it with `include=ids`.', EXAMPLE_ID),
      include: includeParameter({
        calls:
          '`calls` to each leg: where the vehicle stops, in order and with both ends; those that it leaves out are `cancelled`, where that is known.',
        colors: COLORS_ADDED,
        carriages: CARRIAGES_ADDED,
      }),
    }),
    body: followedResponse,
    errors: ['JOURNEY_NOT_FOUND'],
    example: { query: `journey_id=${EXAMPLE_ID}`, body: exampleNow() },
    tool: {
      description:
        'Follows a planned journey: its live times, whether each change will be made and with how many minutes to spare, and how to go on where one is missed. `journey_id` is that of a journey of planTrips, called with `include` `ids`.',
    },
    stream: {
      id: 'streamJourney',
      event: 'journey',
      summary: 'A journey, as it changes',
      description:
        'The journey as server-sent events: an event `journey` with the whole response of `/v1/trips/{journey_id}` at the start and whenever it changes. All else is as with the stream of departures. Counts as one request a minute. The last event is `end`, with `JOURNEY_NOT_FOUND` ten minutes after the arrival.',
    },

    async find({ journey_id: id, include }, { ask, runs, now, ids }) {
      if (!ids.isSigned('journey', id)) throw notIssued('JOURNEY_NOT_FOUND', 'journey_id');
      const planned = readJourneyId(id) as PlannedJourney;
      const latest = destinationOf(planned).planned.getTime() + LATEST_MS;
      if (latest < now().getTime()) throw journeyOver(formatTimestamp(destinationOf(planned).planned));

      const sources = { ask, runs, now, source };
      const found = await findRides(planned, sources);
      const alerts = found.rides.some((ride) => ride && !ride.isTold)
        ? await listAlerts(ask).catch(nullIfApiError)
        : [];
      const legs = await joinRides(planned, found.rides, { alerts, include }, sources);
      const endsAt = bestKnown((legs.at(-1) as Leg).destination).getTime();
      const sentAt = now();
      if (endsAt < sentAt.getTime() - ENDED_MS) throw journeyOver(formatTimestamp(new Date(endsAt)));

      const changes = judgeChanges(legs);
      const next = await findNext(planned, legs, sources);
      const viewed = viewCarriages([{ legs }, ...(next?.journeys ?? [])], include, runs);
      const known = freshnessNow(planned, found, next, sentAt);
      const freshness = { ...known, retrievedAt: Math.min(known.retrievedAt, viewed.asOf) };
      const isOver = endsAt < sentAt.getTime();
      const asked = { ...planned, include: ['ids', ...(include ?? [])], path: 'none' } as const;
      const [journey = { legs }, ...nextJourneys] = viewed.journeys;
      const body: FollowedBody = {
        journey_id: id,
        retrieved_at: formatTimestamp(new Date(freshness.retrievedAt)),
        status: statusOf(legs, changes, isOver),
        journey: toFollowedBody(toJourneyBody(journey, { ...asked, cancelled: 'include' }, ids), found.rides),
        changes,
        next_journeys:
          next &&
          nextJourneys.map((one) => toJourneyBody(one, { ...asked, from: next.from, cancelled: 'exclude' }, ids)),
      };
      const notices = [
        ...(found.rides.some((ride) => ride && !ride.isFound) ? [LOST] : []),
        ...(alerts === null ? [UNTOLD] : []),
        ...(next?.hasFailed ? [NO_NEXT] : []),
      ];
      return { body, freshness, notices, changesAt: isOver ? endsAt + ENDED_MS : endsAt };
    },
  });

const LOST: Notice = {
  text: 'Rides with found=false are not listed any more: their times are those that were planned.',
};
const UNTOLD: Notice = { text: 'The alerts cannot be told for now.' };
const NO_NEXT: Notice = { text: 'The next journeys cannot be found for now.' };

type Sources = Pick<FindContext, 'ask' | 'runs' | 'now'> & { source: Journeys };
/** One for each leg; null for a walk. */
type Rides = readonly (ReturnType<typeof findRide> | null)[];

/** Finds the rides in the feeds, and the authority's plan of today where the feeds do not know them all. */
async function findRides(planned: PlannedJourney, sources: Sources) {
  const seen = planned.legs.map((leg) => viewRide(leg, sources.runs));
  const isSeen = planned.legs.every(({ mode }, index) => mode === 'walk' || seen[index]?.isOff === false);
  const at = toSydneyWallClock(originOf(planned).planned);
  const again = isSeen ? null : await plan({ ...planned, at, cancelled: 'include' }, sources);
  const legs = again?.journeys.flatMap((one) => one.legs) ?? [];
  const rides: Rides = planned.legs.map((leg, index) =>
    leg.mode === 'walk' ? null : findRide(leg, legs, seen[index] ?? null, sources),
  );
  return { seen, again, rides };
}

/** The journeys that the authority plans; none where it says why there are none. */
async function plan(
  {
    from,
    to,
    at,
    modes,
    wheelchair,
    cancelled,
  }: JourneyRequest & { at: WallClock | null; cancelled: AskedFields['cancelled'] },
  { ask, source }: Sources,
) {
  const request = { from, to, at, isArrival: false, modes, isAccessible: wheelchair, cancelled, mayBeNone: true };
  const found = await source.find(request, ask);
  return { journeys: found.journeys, freshness: freshnessOf(found) };
}

/**
 * The ride as the authority has planned it again, with the times of the feeds where they know it. Another run of the same line
 * counts where it replaces the ride: from stop to stop at the same planned time.
 */
function findRide(planned: Leg, legs: readonly Leg[], seen: Seen | null, { runs }: Sources) {
  const same = legs.filter(
    (leg) =>
      leg.mode === planned.mode &&
      leg.route === planned.route &&
      isSameEnd(leg.origin, planned.origin) &&
      isSameEnd(leg.destination, planned.destination),
  );
  const found = same.find((leg) => rideKey(leg) === rideKey(planned)) ?? same[0];
  const leg = found ?? planned;
  const byFeed = seen && (!found || rideKey(found) === rideKey(planned)) ? seen : null;
  return {
    leg: byFeed ? { ...withTimes(leg, byFeed), listCalls: () => layFeeds(leg, runs).listCalls() } : leg,
    isFound: found !== undefined || seen !== null,
    isTold: found !== undefined,
    occupancy: byFeed?.occupancy ?? found?.listCalls()?.[0]?.occupancy ?? null,
  };
}

function rideKey({ runId, route, mode }: Leg): string {
  return runId ?? `${mode} ${route}`;
}

function isSameEnd(one: LegEnd, other: LegEnd): boolean {
  const isSameStop = one.stopId === other.stopId || (one.parentId !== null && one.parentId === other.parentId);
  return isSameStop && Math.abs(one.planned.getTime() - other.planned.getTime()) < MINUTE_MS;
}

/**
 * The legs of the journey with the rides as they were found, and walks that fit between them. What the authority's plan does not tell
 * of a ride is looked for elsewhere; `alerts` is null where they cannot be told.
 */
async function joinRides(
  planned: PlannedJourney,
  rides: Rides,
  { alerts, include }: { alerts: Alerts | null; include: AskedFields['include'] },
  sources: Sources,
): Promise<Leg[]> {
  const legs = planned.legs.map(async (leg, index) => {
    const ride = rides[index];
    if (!ride || ride.isTold) return ride?.leg ?? leg;
    const listed = include?.includes('calls') ? await findCalls(ride.leg, sources) : null;
    return { ...ride.leg, alerts: alertsOf(ride.leg, alerts ?? [], sources.now()), listCalls: () => listed };
  });
  return fitWalks(await Promise.all(legs));
}

/**
 * The notices that name the run; of those that name more than runs, those that name its line. A notice of a stop or a lift
 * names the lines of the stop too: it must name one of the two stops of the ride.
 */
function alertsOf({ runId, route, mode, origin, destination }: Leg, alerts: Alerts, now: Date): string[] {
  const ends = [origin, destination].flatMap(({ stopId, parentId }) => [stopId, ...(parentId ? [parentId] : [])]);
  const isOfLeg = ({ kind, runs, routes, stops, isOnWholeLines }: Alerts[number]) => {
    if (runs.some(({ tripId }) => tripId !== null && tripId === runId)) return true;
    if (!isOnWholeLines) return false;
    const isOfStops = stops.length > 0 && (kind === 'stop' || kind === 'facility');
    if (routes.length > 0 && !isOfStops) return routes.some((line) => line.route === route && line.mode === mode);
    return stops.some(({ id, parent }) => ends.includes(id) || ends.includes(parent ?? ''));
  };
  const ofLeg = alerts.filter((alert) => holdsAt(alert, now.getTime()) && isOfLeg(alert));
  return [...new Set(ofLeg.map(({ text }) => text))];
}

/** The calls of the ride, by those of its run; null where they are not listed. */
async function findCalls({ mode, runId, origin, destination }: Leg, { ask, runs }: Sources): Promise<Call[] | null> {
  if (mode === 'walk' || runId === null) return null;
  const run = { runId, mode, stopId: origin.parentId ?? origin.stopId, plannedAt: origin.planned.getTime() };
  const found = await runs.findRun(ask, run).catch(nullIfApiError);
  if (!found?.areListed) return null;
  const isAt = (call: RunCall, { stopId, parentId }: LegEnd) =>
    isCallAt(call, stopId) || (parentId !== null && isCallAt(call, parentId));
  const first = found.calls.findIndex((call) => isAt(call, origin));
  const last = found.calls.findIndex((call, index) => index > first && isAt(call, destination));
  return first < 0 || last < 0 ? null : found.calls.slice(first, last + 1);
}

type Change = ReturnType<typeof listChanges>[number];

function isMissed({ before, ride, spareSeconds }: Change): boolean {
  return spareSeconds < 0 || before.isCancelled || ride.isCancelled;
}

function judgeChanges(legs: readonly Leg[]): FollowedBody['changes'] {
  return listChanges({ legs }).map((change) => {
    const { stopId, name } = change.before.destination;
    const spare = Math.floor(change.spareSeconds);
    return {
      leg: change.index,
      next_leg: change.next,
      stop_id: stopId,
      name,
      status: isMissed(change) ? 'missed' : spare < AT_RISK_SECONDS ? 'at_risk' : 'possible',
      spare_minutes: Math.floor(spare / 60),
      spare_seconds: spare,
    };
  });
}

function statusOf(legs: readonly Leg[], changes: FollowedBody['changes'], isOver: boolean): FollowedBody['status'] {
  if (isCancelled({ legs })) return 'cancelled';
  if (changes.some(({ status }) => status === 'missed')) return 'missed';
  if (isOver) return 'ended';
  return changes.some(({ status }) => status === 'at_risk') ? 'at_risk' : 'possible';
}

/** How to go on from where the first ride that cannot be taken would have begun; null while the journey can be made. */
async function findNext(planned: PlannedJourney, legs: readonly Leg[], sources: Sources) {
  const { now } = sources;
  const isOffAtOnce = legs.find(({ mode }) => mode !== 'walk')?.isCancelled ?? false;
  const missed = listChanges({ legs }).find(isMissed);
  if (!missed && !isOffAtOnce) return null;
  const change = isOffAtOnce ? undefined : missed;
  const here = change?.before.destination;
  const from = here ? (here.parentId ?? here.stopId) : planned.from;
  const moment = here ? bestKnown(here) : originOf(planned).planned;
  const at = moment > now() ? toSydneyWallClock(moment) : null;
  try {
    const { journeys, freshness } = await plan({ ...planned, from, at, cancelled: 'exclude' }, sources);
    const reached = change ? journeys.flatMap((one) => continueFrom(change, one) ?? []) : journeys;
    const fitting = keepFitting(reached, planned).journeys;
    const chosen = selectJourneys(fitting, { limit: MOST_NEXT, isArrival: false, at, now: now() });
    return { from, journeys: chosen.journeys, freshness, hasFailed: false };
  } catch (error) {
    if (error instanceof ApiError) return { from, journeys: [], freshness: null, hasFailed: true };
    throw error;
  }
}

/**
 * The journey from where one leaves the ride before a missed change; null where its first vehicle leaves before one is there. The
 * authority plans from the station, as if one stood at every platform of it: the walk from platform to platform is put in front.
 */
function continueFrom({ before: { destination: here }, ride: missed, walkSeconds }: Change, journey: Journey) {
  const [first, ...others] = journey.legs as [Leg, ...Leg[]];
  const isToMissed = first.origin.stopId === missed.origin.stopId;
  const legs =
    first.mode === 'walk'
      ? [walkFrom(first, here), ...others]
      : first.origin.stopId === here.stopId
        ? journey.legs
        : timeWalks([walkTo(first, here, isToMissed ? walkSeconds : null), ...journey.legs]);
  const start = latestStart({ legs });
  return start && start < bestKnown(here) ? null : { ...journey, legs };
}

function toFollowedBody({ journey_id: _, ...body }: JourneyBody, rides: Rides): FollowedBody['journey'] {
  // A walk may have come in between when platforms change; the rides keep their order.
  const left = rides.filter((ride) => ride !== null);
  const legs = body.legs.map((leg) => {
    const ride = leg.mode === 'walk' ? undefined : left.shift();
    return { ...leg, found: ride?.isFound ?? true, occupancy: ride?.occupancy ?? null };
  });
  return { ...body, legs };
}

/** The oldest of what is shown. Where nothing changes soon, it is good for longer than the authority's plan, unless that is one of a shortage. */
function freshnessNow(
  planned: PlannedJourney,
  { seen, again, rides }: Awaited<ReturnType<typeof findRides>>,
  next: Awaited<ReturnType<typeof findNext>>,
  now: Date,
): Freshness {
  const parts = [...seen, again, next].flatMap((part) => part?.freshness ?? []);
  const oldest = oldestOf(...(parts as [Freshness]));
  if (!again || oldest.shortage !== null) return oldest;
  const far = now.getTime() + FAR_MS;
  const isCalm = planned.legs.every(({ mode, origin, destination }, index) => {
    const isQuiet = origin.planned.getTime() > far || bestKnown(rides[index]?.leg.destination ?? destination) < now;
    return mode === 'walk' || seen[index]?.isOff === false || isQuiet;
  });
  const leastMs = originOf(planned).planned.getTime() > far ? FAR_FRESH_MS : isCalm ? CALM_FRESH_MS : 0;
  const freshUntil = Math.max(oldest.freshUntil, now.getTime() + leastMs);
  return { ...oldest, freshUntil, staleUntil: Math.max(oldest.staleUntil, freshUntil) };
}

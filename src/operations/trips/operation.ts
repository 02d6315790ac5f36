import type { z } from 'zod';
import { noJourneys } from '../../errors/messages.ts';
import { findAlternatives } from '../../journeys/alternatives.ts';
import { withFeeds } from '../../journeys/feed-times.ts';
import { markLifts } from '../../journeys/lifts.ts';
import { nameEnd } from '../../journeys/planner/ends.ts';
import { plannerJourneys } from '../../journeys/planner/planner.ts';
import { chooseFitting, selectJourneys } from '../../journeys/selection.ts';
import type { FoundJourneys, Journeys } from '../../journeys/source.ts';
import { routeOf } from '../../routes.ts';
import type { StopLookup } from '../../stops/register.ts';
import { alertTexts } from '../../transit/additional-fields.ts';
import type { FindLiftsOut } from '../../transit/alert.ts';
import { type Freshness, oldestOf } from '../../transit/freshness.ts';
import { drawPaths, isCancelled, type Journey, type Leg } from '../../transit/journey.ts';
import { sumLeftOut } from '../../transit/left-out.ts';
import { formatPlace } from '../../transit/place.ts';
import { earliestMoment, formatTimestamp } from '../../transit/time.ts';
import { bindingOf, checkedCursor } from '../cursor.ts';
import { nextMinuteAway } from '../departures/departure.ts';
import { loadUsual } from '../departures/usual.ts';
import { defineOperation, type Notice } from '../operation.ts';
import { DAY_PRICE } from '../price.ts';
import { fetchPage, pagesOfFirst } from './pages.ts';
import { listConditions, toTripRequest, tripsQuery } from './query.ts';
import { type Alternatives, toJourneyBody, tripsResponse } from './response.ts';

const QUAY = { stop_id: '2000351', name: 'Circular Quay', platform: 'Platform 1', lat: -33.861351, lng: 151.210295 };
const WHARF = {
  stop_id: '2000216',
  name: 'Circular Quay',
  platform: 'Wharf 3, Side A',
  lat: -33.860747,
  lng: 151.211604,
};

export const exampleBody: z.infer<typeof tripsResponse> = {
  origin: { stop_id: '202020', name: 'Domestic Airport Station' },
  destination: { stop_id: '209573', name: 'Manly Wharf' },
  retrieved_at: '2026-11-20T02:00:20Z',
  journeys: [
    {
      departs_at: '2026-11-20T02:08:00Z',
      arrives_at: '2026-11-20T03:02:00Z',
      departs_at_realtime: '2026-11-20T02:08:18Z',
      arrives_at_realtime: '2026-11-20T03:02:00Z',
      duration_minutes: 54,
      changes: 1,
      is_live: true,
      legs: [
        {
          mode: 'train',
          route: 'T8',
          line_name: 'T8 Airport & South Line',
          direction: 'City Circle via Museum',
          origin: {
            stop_id: '202091',
            name: 'Domestic Airport Station',
            platform: 'Platform 1',
            lat: -33.933605,
            lng: 151.180864,
            departs_at: '2026-11-20T02:08:00Z',
            departs_at_realtime: '2026-11-20T02:08:18Z',
          },
          destination: {
            ...QUAY,
            arrives_at: '2026-11-20T02:28:00Z',
            arrives_at_realtime: '2026-11-20T02:28:06Z',
          },
          duration_minutes: 20,
          distance_metres: null,
          stops: 5,
          is_live: true,
          path: [
            [-33.933605, 151.180864],
            [-33.861351, 151.210295],
          ],
          alerts: [],
        },
        {
          mode: 'walk',
          route: null,
          line_name: null,
          direction: null,
          origin: {
            ...QUAY,
            departs_at: '2026-11-20T02:28:00Z',
            departs_at_realtime: '2026-11-20T02:28:06Z',
          },
          destination: {
            ...WHARF,
            arrives_at: '2026-11-20T02:32:00Z',
            arrives_at_realtime: '2026-11-20T02:32:06Z',
          },
          duration_minutes: 4,
          distance_metres: 198,
          stops: 0,
          is_live: false,
          path: [
            [-33.861351, 151.210295],
            [-33.860747, 151.211604],
          ],
          alerts: [],
        },
        {
          mode: 'ferry',
          route: 'F1',
          line_name: 'F1 Manly',
          direction: 'Manly',
          origin: {
            ...WHARF,
            departs_at: '2026-11-20T02:40:00Z',
            departs_at_realtime: '2026-11-20T02:40:00Z',
          },
          destination: {
            stop_id: '20951',
            name: 'Manly Wharf',
            platform: 'Wharf 1',
            lat: -33.800459,
            lng: 151.283799,
            arrives_at: '2026-11-20T03:02:00Z',
            arrives_at_realtime: '2026-11-20T03:02:00Z',
          },
          duration_minutes: 22,
          distance_metres: null,
          stops: 0,
          is_live: true,
          path: [
            [-33.860747, 151.211604],
            [-33.800459, 151.283799],
          ],
          alerts: [],
        },
      ],
    },
  ],
};

const FROM_TIMETABLE: Notice = {
  text: "Planned from the timetable and live vehicle times, not by Transport for NSW's trip planner.",
};

/** For a search that ended early. Its response is not cached, and has no further pages, because they could miss journeys. */
const PARTIAL: Notice = {
  text: 'The search took too long and ended early: there may be more or better journeys. Try again later.',
};

const WITHOUT_ALTERNATIVES: Notice = {
  text: 'The alternatives of some rides are unknown, because the timetable lacks one of their stops.',
};

/**
 * `GET /v1/trips`. `stops` supplies the names of the two ends and positions that a response lacks. Default `journeys`: the trip
 * planner's.
 */
export const createTripsOperation = ({
  stops,
  journeys: source = plannerJourneys(stops),
  listLiftsOut: findLiftsOut = () => null,
}: {
  stops: StopLookup;
  journeys?: Journeys | undefined;
  listLiftsOut?: FindLiftsOut;
}) =>
  defineOperation({
    ...routeOf('planTrips'),
    tag: 'Journeys',
    summary: 'Plan journeys between two places',
    description:
      'Journeys across all modes, with walks, platforms, live times and the geometry of each leg (see `path`). Journeys with a cancelled leg are left out unless you set `cancelled=include`. If no journey is found, the response is 404 `NO_JOURNEYS_FOUND`, never an empty list.\n\nFollow `rel="prev"` and `rel="next"` of the `Link` header for earlier and later journeys, up to three days ahead and one day back. Paging never repeats a journey. A page may be empty if there are no journeys for some hours; continue while there is a link.\n\nCosts one request. ' +
      `${DAY_PRICE}, with \`arrive_by=true\` two more. Each stop of \`via\` costs two more for each journey of \`limit\`.`,
    query: tripsQuery,
    body: tripsResponse,
    example: { query: 'from=202020&to=209573&limit=1', body: exampleBody },
    tool: {
      description:
        'Journeys from one place to another, earliest first, with every ride and walk, platforms, live times, changes and duration. Answers "when is the next train from A to B" in one call: `modes` `train`, `limit` 1. `from` and `to` may be names. A name that means a single stop is resolved, and `notes` says to which; otherwise the possible stops are listed.',
      defaults: { limit: '3', path: 'none' },
    },

    async handle(query, context) {
      const { queryUpstream, turn, runs, lines, now, ids } = context;
      const request = toTripRequest(query, now());
      const [from, to] = [formatPlace(query.from), formatPlace(query.to)];
      const base = request.at ? earliestMoment(request.at) : now();
      const binding = bindingOf('trips', from, to);
      const cursor = checkedCursor(query.cursor, { binding, base, ids });
      const ofFeeds: Freshness[] = [];
      const { found, journeys, shown, leftOut, pages } = cursor
        ? await fetchPage(cursor, { request, limit: query.limit, base, now, ids }, fetchOnePage)
        : await fetchFirst();
      const drawn = query.path === 'none' ? shown : await Promise.all(shown.map(drawPaths));
      const alternatives = query.include?.includes('alternatives') ? await listAlternatives(drawn) : null;
      const usual = query.include?.includes('usual') ? await listUsual(drawn) : undefined;
      const listed = [...(alternatives?.of.values() ?? [])].flatMap((list) => list ?? []);
      const freshness = oldestOf(found.freshness, ...ofFeeds);
      const [originName, destinationName] = await Promise.all([
        found.names?.from ?? nameEnd({ queryUpstream, stops }, journeys, from, 'origin'),
        found.names?.to ?? nameEnd({ queryUpstream, stops }, journeys, to, 'destination'),
      ]);
      const body = {
        origin: { stop_id: from, name: originName },
        destination: { stop_id: to, name: destinationName },
        retrieved_at: formatTimestamp(freshness.retrievedAt),
        journeys: drawn.map((journey) =>
          toJourneyBody(journey, { ...query, choices: request.choices }, { ids, lines, alternatives, usual }),
        ),
        ...alertTexts(
          [...shown.flatMap(({ legs }) => legs), ...listed.map(({ departure }) => departure)],
          query.include,
        ),
      };
      const notices = [
        ...(found.origin.source === 'timetable' ? [FROM_TIMETABLE] : []),
        ...(found.isPartial ? [PARTIAL] : []),
        ...([...(alternatives?.of.values() ?? [])].includes(null) ? [WITHOUT_ALTERNATIVES] : []),
      ];
      return {
        body,
        freshness,
        leftOut,
        pages: found.isPartial ? {} : pages,
        notices,
        journeys: found.origin,
        ...(alternatives && {
          changesAt: nextMinuteAway(
            listed.map(({ departure }) => departure),
            alternatives.now,
          ),
        }),
      };

      /** How late each ride usually is where it is boarded. */
      async function listUsual(journeys: readonly Journey[]) {
        const legs = journeys.flatMap((journey) => journey.legs);
        const leaving = legs.map((leg) => {
          const { stopId, plannedAt } = leg.origin;
          return { ...leg, stopId, plannedAt };
        });
        const found = await loadUsual(leaving, context);
        return new Map(legs.map((leg, index) => [leg, found[index] ?? null]));
      }

      /** The other departures of each leg. Null for each ride while there is no timetable. */
      async function listAlternatives(journeys: readonly Journey[]): Promise<Alternatives> {
        const timetable = await runs.snapshotLive(query.modes, base);
        const wanted = {
          modes: query.modes,
          isAccessible: query.wheelchair,
          withoutBooking: query.booking === 'exclude',
          choices: request.choices,
        };
        const find = (journey: Journey, leg: Leg) => {
          if (leg.mode === 'walk') return [];
          return timetable && findAlternatives(journey, leg, { ...timetable, wanted });
        };
        const of = new Map(
          journeys.flatMap((journey) => journey.legs.map((leg) => [leg, find(journey, leg)] as const)),
        );
        const headers = [...of.values()].flatMap((list) =>
          (list ?? []).flatMap(({ departure: { state } }) => (state.kind === 'live' ? (state.headerAt ?? []) : [])),
        );
        if (timetable) ofFeeds.push(timetable.freshness(headers.length > 0 ? Math.min(...headers) : null));
        return { of, now: now() };
      }

      /** Marks lifts out of service, and gives the trip planner's journeys the times of the feeds. */
      function withNews({ journeys, origin }: FoundJourneys) {
        const marked = query.wheelchair ? journeys.map((journey) => markLifts(journey, findLiftsOut)) : journeys;
        if (origin.source === 'timetable') return { journeys: marked, leftOut: {} };
        const updated = withFeeds(marked, runs, { cancelled: query.cancelled, now: now() });
        ofFeeds.push(...updated.freshness);
        return updated;
      }

      async function fetchFirst() {
        const conditions = listConditions(query);
        const requested = {
          ...request,
          conditions,
          cancelled: query.cancelled,
          maxChanges: query.max_changes,
          limit: query.limit,
        };
        const found = await source.fetch(requested, { queryUpstream, turn });
        const { journeys } = found;
        const current = withNews(found);
        const fitting = chooseFitting(current.journeys, query);
        if (fitting.journeys.length === 0) throw noJourneys(found.origin.source, from, to, { conditions });
        const selection = selectJourneys(fitting.journeys, { ...request, limit: query.limit, now: now() });
        return {
          found,
          journeys,
          shown: selection.journeys,
          leftOut: sumLeftOut([found.leftOut, current.leftOut, fitting.leftOut, selection.leftOut]),
          pages: pagesOfFirst(journeys, selection, { ...request, binding, base, ids }),
        };
      }

      /** Cancelled journeys show how far upstream has searched, whether or not they are listed. */
      async function fetchOnePage(requested: typeof request) {
        const options = {
          cancelled: 'include',
          mayBeNone: true,
          maxChanges: query.max_changes,
          // The previous page may already have one of the journeys found.
          limit: query.limit + 1,
        } as const;
        const found = await source.fetch({ ...requested, ...options }, { queryUpstream, turn });
        const current = withNews(found);
        const fitting = chooseFitting(current.journeys, query).journeys.filter(
          (journey) => query.cancelled === 'include' || !isCancelled(journey),
        );
        return { found, journeys: found.journeys, fitting, leftOut: sumLeftOut([found.leftOut, current.leftOut]) };
      }
    },
  });

import { Runs } from '#src/boards/runs.ts';
import { createBoards } from '#src/boards/source.ts';
import { BoardTrust } from '#src/boards/trust.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import { LineCatalogue } from '#src/lines/lines.ts';
import { arrivalsOperation, departuresOperation } from '#src/operations/departures/operation.ts';
import { createFollowOperation } from '#src/operations/follow/operation.ts';
import { runOperation } from '#src/operations/runs/operation.ts';
import { createTripsOperation } from '#src/operations/trips/operation.ts';
import { LiveTimetable } from '#src/realtime/live-timetable.ts';
import type { Snapshot } from '#src/realtime/snapshot.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { NOW, run } from '#test/realtime/prediction/predicted.ts';
import { ids } from '#test/support/ids.ts';
import { createInlineEngine } from '#test/support/inline-engine.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { type MadeSchedule, type MadeTrip, scheduleFile } from '#test/support/schedule-file.ts';
import { currentOf, timetableOf } from '#test/support/timetable.ts';

/** Stops 1 to 9 in a row, a station 90 with two platforms, and a stop far from all. */
const STOPS: MadeSchedule['stops'] = [
  ...Array.from({ length: 9 }, (_, index) => ({ id: `${index + 1}`, lat: -33.5 - index / 50, lng: 151 })),
  { id: '90', isStation: true, lat: -34, lng: 151 },
  { id: '901', name: '90 Platform 1', parentId: '90', lat: -34, lng: 151 },
  { id: '902', name: '90 Platform 2', parentId: '90', lat: -34, lng: 151.0001 },
  { id: '99', lat: -34.5, lng: 151 },
];

/** A run that calls at stops 1, 2, 3 … at these minutes after `NOW`; or at named stops, as ['1', 5]. */
export function runOf(id: string, calls: Parameters<typeof run>[1], more: Partial<MadeTrip> = {}): MadeTrip {
  const named = calls.map((call, index) => (typeof call === 'number' ? ([`${index + 1}`, call] as const) : call));
  return run(id, named, more);
}

const MODE_OF = { buses: 'bus', sydneytrains: 'train', sydneyferries: 'ferry' } as const;

/** The timetable of these runs, all of line R. */
export function timetableOfRuns(trips: readonly MadeTrip[], file: keyof typeof MODE_OF = 'buses'): Timetable {
  const routes = [{ id: 'R', mode: MODE_OF[file], lineName: 'Line R' }];
  return timetableOf(scheduleFile(file, { stops: STOPS, routes, trips }));
}

interface Shown {
  scheduled_at: string;
  realtime_at: string | null;
  destination: string;
  platform: string | null;
  trip_id?: string | null;
  run_id?: string | null;
  cancelled?: boolean;
}

const noUpstream: QueryUpstream = () => Promise.reject(new Error('no upstream call is expected'));
const minutesOf = (text: string) => Math.round((Date.parse(text) - NOW) / 600) / 100;
/** Planned time and, after ">", the live one, in minutes after `NOW`. */
const times = (planned: string, live: string | null) =>
  `${minutesOf(planned)}${live === null ? '' : `>${minutesOf(live)}`}`;

/**
 * All operations that read live times, on one timetable and its snapshots: boards, journeys, followed journeys and runs. `take`
 * gives them the next publication. Their texts are short: "R 5>6.5" is a run, its planned and its live time.
 */
export function createReaders(
  timetable: Timetable,
  first: readonly Snapshot[],
  { now = NOW, queryUpstream = noUpstream } = {},
) {
  let snapshots = first;
  const engine = createInlineEngine(timetable);
  engine.take(first);
  const live = () => new LiveTimetable(timetable, snapshots);
  const feeds = {
    request: () => {},
    untilRead: async () => {},
    snapshot: live,
    snapshotFor: live,
    problemOf: () => null,
    freshUntil: () => now,
    list: () => [],
  };
  const clock = () => now;
  const current = currentOf(timetable);
  const trust = new BoardTrust({ mode: 'on', now: clock, log: createTestLog() });
  const boards = createBoards({ trust, timetable: current, feeds, queryUpstream, now: clock });
  const runs = new Runs({ now: clock, feeds, timetable: current });
  const source = timetableJourneys({ timetable: current, engines: engine, feeds, now: clock });
  const journeys = {
    fetch: async (query: Parameters<typeof source.fetch>[0]) => source.fetch(query),
  };
  const stops = new StopRegister(noStops, { timetable: current });
  const trips = createTripsOperation({ stops, journeys });
  const follow = createFollowOperation({ journeys, listAlerts: async () => [] });
  const runOther = () => Promise.reject(new Error('no other operation is run'));
  const context = { queryUpstream, boards, runs, lines: new LineCatalogue(stops), now: clock, ids, run: runOther };

  const row = ({ scheduled_at, realtime_at, platform, trip_id, cancelled }: Shown) =>
    [trip_id, times(scheduled_at, realtime_at), platform, cancelled && 'cancelled'].filter(Boolean).join(' ');

  async function departures(stop: string, more: Record<string, string> = {}) {
    const query = departuresOperation.query.parse({ stop, modes: 'all', include: 'ids', ...more });
    return (await departuresOperation.handle(query, context)).body.departures as Shown[];
  }
  async function plan(from: string, to: string, more: Record<string, string> = {}) {
    const query = trips.query.parse({ from, to, include: 'ids', path: 'none', ...more });
    const { body } = await trips.handle(query, context);
    return body.journeys;
  }
  type Body = Awaited<ReturnType<typeof plan>>[number];
  const ride = ({ trip_id, origin, destination }: Body['legs'][number]) =>
    `${trip_id} ${times(origin.departs_at ?? '', origin.departs_at_realtime ?? null)}-${times(
      destination.arrives_at ?? '',
      destination.arrives_at_realtime ?? null,
    )}`;
  const ridesOf = ({ legs }: Pick<Body, 'legs'>) => legs.filter(({ mode }) => mode !== 'walk').map(ride);

  return {
    /** Later requests read these snapshots. */
    take(next: readonly Snapshot[]): void {
      snapshots = next;
      engine.take(next);
    },
    departures,
    rows: async (stop: string, more: Record<string, string> = {}) => (await departures(stop, more)).map(row),
    async arrivals(stop: string, more: Record<string, string> = {}) {
      const query = arrivalsOperation.query.parse({ stop, modes: 'all', include: 'ids', ...more });
      return ((await arrivalsOperation.handle(query, context)).body.arrivals as Shown[]).map(row);
    },
    plan,
    /** The rides of each journey; none if there is no journey. */
    async journeys(from: string, to: string, more: Record<string, string> = {}) {
      const found = await plan(from, to, more).catch(() => []);
      return found.map((journey) => ridesOf(journey).join(', '));
    },
    async follow(journeyId: string) {
      const query = follow.query.parse({ journey_id: journeyId });
      const { body } = await follow.handle(query, context);
      return { status: body.status, rides: ridesOf(body.journey as unknown as Body) };
    },
    /** The destination of the run, and its calls as "stop arrival departure". */
    async run(runId: string) {
      const query = runOperation.query.parse({ run_id: runId });
      const { body } = await runOperation.handle(query, context);
      return {
        destination: body.destination,
        calls: (body.calls ?? []).map((call) => {
          const [arrives, departs] = [call.arrives_at, call.departs_at];
          const texts = [
            call.stop_id,
            arrives && times(arrives, call.arrives_at_realtime),
            departs && times(departs, call.departs_at_realtime),
            call.cancelled && 'cancelled',
          ];
          return texts.filter(Boolean).join(' ');
        }),
      };
    },
  };
}

import { AlertList } from '../alerts/alert-list.ts';
import { Runs } from '../boards/runs.ts';
import { type Boards, monitorBoards } from '../boards/source.ts';
import type { CarParkSource } from '../carparks/car-parks.ts';
import { notifyOfCalls, type QueryUpstream } from '../efa/query-upstream.ts';
import { noTimetable } from '../errors/messages.ts';
import { plannerJourneys } from '../journeys/planner/planner.ts';
import type { Reach } from '../journeys/reach.ts';
import type { Journeys } from '../journeys/source.ts';
import { LineCatalogue } from '../lines/lines.ts';
import { Vehicles } from '../realtime/vehicles.ts';
import { StopRegister } from '../stops/register.ts';
import { noStops } from '../stops/table.ts';
import type { Punctuality } from '../transit/punctuality.ts';

export interface Sources {
  queryUpstream: QueryUpstream;
  /** Upstream calls allowed per second. Default: unlimited. */
  callsPerSecond: number;
  /** By default every board is requested upstream. */
  boards: Boards;
  /** By default runs are requested upstream. */
  runs: Runs;
  /** Default: the journeys of the trip planner. */
  journeys: Journeys;
  /** Searches from one place to many. By default these requests get 503. */
  reach: Reach;
  /** Without it there are no operations for car parks. */
  carParks: CarParkSource | null;
  /** What was recorded of past runs. Without it there is no operation for the punctuality of lines. */
  punctuality: Punctuality | null;
  /** By default no vehicle has a known position. */
  vehicles: Vehicles;
  /** Stops known without a request. Default: none. */
  stops: StopRegister;
  /** Default: the lines of `stops`. */
  lines: LineCatalogue;
  alerts: AlertList;
}

/** For services without a timetable. */
export const noReach: Reach = {
  search: async () => Promise.reject(noTimetable({ reason: 'off' })),
  times: async () => Promise.reject(noTimetable({ reason: 'off' })),
};

/** The lines of a service without a timetable. */
export const noLines = new LineCatalogue(new StopRegister(noStops));

/** The sources that a service must have; the others have defaults. */
export interface GivenSources extends Partial<Sources> {
  queryUpstream: Sources['queryUpstream'];
}

export function createSources(given: GivenSources, now: () => number): Sources {
  const clock = { now: () => now() };
  const { stops = new StopRegister(noStops) } = given;
  const { alerts = new AlertList({ ...clock, stops }) } = given;
  return {
    callsPerSecond: Number.POSITIVE_INFINITY,
    boards: monitorBoards,
    runs: new Runs(clock),
    journeys: plannerJourneys(stops),
    reach: noReach,
    carParks: null,
    punctuality: null,
    vehicles: new Vehicles(clock),
    lines: new LineCatalogue(stops),
    ...given,
    stops,
    alerts,
    queryUpstream: notifyOfCalls(given.queryUpstream, (_request, { payload }) => alerts.add(payload as object)),
  };
}

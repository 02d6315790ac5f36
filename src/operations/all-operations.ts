import type { AlertList } from '../alerts/alert-list.ts';
import type { CarParkSource } from '../carparks/car-parks.ts';
import type { Reach } from '../journeys/reach.ts';
import type { Journeys } from '../journeys/source.ts';
import { LineCatalogue } from '../lines/lines.ts';
import type { Vehicles } from '../realtime/vehicles.ts';
import { NameSearch } from '../stops/name-search.ts';
import type { StopRegister } from '../stops/register.ts';
import type { Punctuality } from '../transit/punctuality.ts';
import { createAlertOperation } from './alerts/alert-operation.ts';
import { createAlertsOperation } from './alerts/operation.ts';
import { createBoardsOperation } from './boards/operation.ts';
import { createCarParkOperation, createCarParksOperation } from './carparks/operation.ts';
import { arrivalsOperation, departuresOperation } from './departures/operation.ts';
import { createFollowOperation } from './follow/operation.ts';
import { createLineOperation } from './lines/line-operation.ts';
import { createLinesOperation } from './lines/operation.ts';
import { createPunctualityOperation } from './lines/punctuality-operation.ts';
import { createLineStatusOperation } from './lines/status-operation.ts';
import { createTimetableOperation } from './lines/timetable-operation.ts';
import { createNearbyOperation } from './nearby/operation.ts';
import type { IsRehearsal, Operation } from './operation.ts';
import { createPlacesOperation } from './places/operation.ts';
import { createReachOperation } from './reach/operation.ts';
import { createTimesOperation } from './reach/times-operation.ts';
import { runOperation } from './runs/operation.ts';
import { createStopSearchOperation } from './stop-search/operation.ts';
import { createStopListOperation } from './stops/operation.ts';
import { createStopOperation } from './stops/stop-operation.ts';
import { createTripsOperation } from './trips/operation.ts';
import { createVehiclesOperation } from './vehicles/operation.ts';

/**
 * The operations of the API. Routes, OpenAPI, the home page, the status report and the 404 hint are built from this list.
 * CONTRIBUTING.md lists what else a new operation needs.
 */
export function createOperations(options: {
  stops: StopRegister;
  /** By default of the same timetable. */
  lines?: LineCatalogue | undefined;
  vehicles: Vehicles;
  /** Without them, their operations are left out. */
  carParks?: CarParkSource | undefined;
  alerts: AlertList;
  /** Default: the trip planner's journeys. */
  journeys?: Journeys | undefined;
  /** By default the operations that need a timetable return 503. */
  reach?: Reach | undefined;
  /** What was recorded of past runs; without it there is no operation for it. */
  punctuality?: Punctuality | undefined;
  isRehearsal?: IsRehearsal;
  docsUrl: string;
  now?: (() => Date) | undefined;
}): readonly Operation[] {
  const { stops, alerts, journeys, reach, carParks, punctuality, isRehearsal, now } = options;
  const { lines = new LineCatalogue(stops) } = options;
  const knownStops = { stops, ...(isRehearsal && { isRehearsal }) };
  const searchableStops = { ...knownStops, names: new NameSearch(stops) };
  const nearby = createNearbyOperation({ ...knownStops, carParks });
  return [
    departuresOperation,
    arrivalsOperation,
    createBoardsOperation({ oneStop: departuresOperation, nearby, docsUrl: options.docsUrl }),
    nearby,
    createStopSearchOperation(searchableStops),
    createPlacesOperation(searchableStops),
    createStopListOperation({ stops }),
    createStopOperation({ stops, carParks }),
    createLinesOperation({ lines, stops }),
    createLineStatusOperation({ lines, stops, alerts }),
    createLineOperation({ lines, stops, alerts }),
    createTimetableOperation({ lines, stops }),
    ...(punctuality ? [createPunctualityOperation({ lines, stops, punctuality })] : []),
    createTripsOperation({ stops, journeys, listLiftsOut: alerts.liftsOut, now }),
    createFollowOperation({
      stops,
      journeys,
      listAlerts: async (queryUpstream) => (await alerts.load(queryUpstream)).alerts,
    }),
    createReachOperation({ reach, now }),
    createTimesOperation({ reach, now }),
    createAlertsOperation({ list: alerts, stops, lines }),
    createAlertOperation({ list: alerts }),
    runOperation,
    createVehiclesOperation({ vehicles: options.vehicles, stops, lines }),
    ...(carParks ? [createCarParksOperation({ carParks, stops }), createCarParkOperation({ carParks, stops })] : []),
  ];
}

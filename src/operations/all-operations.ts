import { NameSearch } from '../stops/name-search.ts';
import { createAlertOperation, createAlertsOperation } from './alerts/operation.ts';
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
import type { Sources } from './sources.ts';
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
  sources: Sources;
  isRehearsal?: IsRehearsal;
  docsUrl: string;
}): readonly Operation[] {
  const { isRehearsal, docsUrl } = options;
  const { stops, lines, vehicles, alerts, journeys, reach, carParks, punctuality } = options.sources;
  const knownStops = { stops, ...(isRehearsal && { isRehearsal }) };
  const searchableStops = { ...knownStops, names: new NameSearch(stops) };
  const nearby = createNearbyOperation({ ...knownStops, carParks });
  return [
    departuresOperation,
    arrivalsOperation,
    createBoardsOperation({ oneStop: departuresOperation, nearby, docsUrl }),
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
    createTripsOperation({ stops, journeys, listLiftsOut: alerts.liftsOut }),
    createFollowOperation({
      journeys,
      listAlerts: async (queryUpstream) => (await alerts.load(queryUpstream)).alerts,
    }),
    createReachOperation({ reach }),
    createTimesOperation({ reach }),
    createAlertsOperation({ list: alerts, stops, lines }),
    createAlertOperation({ list: alerts }),
    runOperation,
    createVehiclesOperation({ vehicles, stops, lines }),
    ...(carParks ? [createCarParksOperation({ carParks, stops }), createCarParkOperation({ carParks, stops })] : []),
  ];
}

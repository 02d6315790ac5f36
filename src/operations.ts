import type { AlertList } from './alerts/alert-list.ts';
import { createAlertsOperation } from './alerts/operation.ts';
import { arrivalsOperation, departuresOperation } from './departures/operation.ts';
import type { UpstreamRequest } from './efa/request.ts';
import type { Journeys } from './journeys/source.ts';
import { createNearbyOperation } from './nearby/operation.ts';
import type { Operation } from './operation.ts';
import type { Vehicles } from './realtime/vehicles.ts';
import { runOperation } from './runs/operation.ts';
import { createBoardsOperation } from './several-boards/operation.ts';
import { createStopListOperation } from './stop-list/operation.ts';
import { createStopOperation } from './stop-list/stop-operation.ts';
import { createStopSearchOperation } from './stop-search/operation.ts';
import { createPlacesOperation } from './stop-search/places-operation.ts';
import { NameSearch } from './stops/name-search.ts';
import type { StopRegister } from './stops/register.ts';
import { createFollowOperation } from './trips/follow.ts';
import { createTripsOperation } from './trips/operation.ts';
import { createVehiclesOperation } from './vehicles/operation.ts';

/**
 * The operations of the API. Routes, OpenAPI, the home page, the status report and the hint of a 404 are made from this
 * list; CONTRIBUTING.md says what else a new operation needs.
 */
export function createOperations(options: {
  stops: StopRegister;
  vehicles: Vehicles;
  alerts: AlertList;
  /** The trip planner's unless given. */
  journeys?: Journeys | undefined;
  isRehearsal?: (request: UpstreamRequest) => boolean;
  docsUrl: string;
}): readonly Operation[] {
  const { stops, alerts, journeys, isRehearsal } = options;
  const known = { stops, ...(isRehearsal && { isRehearsal }) };
  const named = { ...known, names: new NameSearch(stops) };
  return [
    departuresOperation,
    arrivalsOperation,
    createBoardsOperation({ oneStop: departuresOperation, docsUrl: options.docsUrl }),
    createNearbyOperation(known),
    createStopSearchOperation(named),
    createPlacesOperation(named),
    createStopListOperation({ stops }),
    createStopOperation({ stops }),
    createTripsOperation({ stops, journeys }),
    createFollowOperation({ stops, journeys, listAlerts: async (ask) => (await alerts.read(ask)).alerts }),
    createAlertsOperation({ list: alerts, stops }),
    runOperation,
    createVehiclesOperation({ vehicles: options.vehicles, stops }),
  ];
}

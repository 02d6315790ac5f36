import { departuresOperation } from './departures/operation.ts';
import { createNearbyOperation } from './nearby/operation.ts';
import type { Operation } from './operation.ts';
import { stopSearchOperation } from './stop-search/operation.ts';
import { tripsOperation } from './trips/operation.ts';

/**
 * The operations of the API. Routes, OpenAPI, the home page, the status report and the hint of a 404 are made from this
 * list; adding an operation is its own folder and one line here.
 */
export function createOperations(nearby: Parameters<typeof createNearbyOperation>[0]): readonly Operation[] {
  return [departuresOperation, createNearbyOperation(nearby), stopSearchOperation, tripsOperation];
}

import type { FastifyRequest } from 'fastify';
import type { Departures } from '../operations/departures/departure.ts';
import type { FinishedResponse } from '../operations/finished-response.ts';
import { type Operation, parseQuery } from '../operations/operation.ts';
import type { Responses } from '../operations/serve.ts';
import type { SearchResults } from '../operations/stop-search/operation.ts';
import { requesterOf } from './operation-routes.ts';

/** The operations that pages run, and their bodies. */
interface PageBodies {
  '/v1/departures': Departures;
  '/v1/stops/search': SearchResults;
}

export type RunOperation = <Path extends keyof PageBodies>(
  path: Path,
  parameters: Readonly<Record<string, unknown>>,
  request?: FastifyRequest,
) => Promise<FinishedResponse<PageBodies[Path]>>;

/** Runs operations with parameters as a caller writes them: for the caller of a request, or without one as background work. */
export function createRunOperation(operations: readonly Operation[], responses: Responses): RunOperation {
  return async (path, parameters, request) => {
    const operation = operations.find((one) => one.path === path) as Operation;
    const query = parseQuery(operation, parameters, request?.operationPath);
    const response = await responses.get(operation, query, request ? requesterOf(request) : { priority: 'background' });
    return response as FinishedResponse<never>;
  };
}

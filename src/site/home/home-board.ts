import type { Departures } from '../../departures/departure.ts';
import { departuresOperation } from '../../departures/operation.ts';
import type { DeparturesQuery } from '../../departures/query.ts';
import type { Responses } from '../../responses/responses.ts';
import { MODES } from '../../transit/mode.ts';

/** Town Hall: every few minutes something leaves, by train, light rail and bus. */
export const HOME_STOP = '200070';
const ROWS = 8;
/** The page waits no longer for its board. */
const PATIENCE_MS = 1500;

/** Finds the departures of one well-known stop; null when they are not known soon enough. Never throws. */
export async function findHomeBoard(responses: Pick<Responses, 'find'>): Promise<Departures | null> {
  const query: DeparturesQuery = { stop: HOME_STOP, modes: [...MODES], limit: ROWS, cancelled: 'exclude' };
  const board = responses
    .find(departuresOperation, query, { priority: 'background' })
    .then(({ body }) => body.content())
    .catch(() => null);
  return Promise.race([board, soon()]);
}

function soon(): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, null).unref());
}

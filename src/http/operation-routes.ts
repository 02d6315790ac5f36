import type { FastifyInstance, FastifyRequest } from 'fastify';
import { PLANS } from '../access/plan.ts';
import { createBoundedMap } from '../core/own-memory.ts';
import { type Notice, noticesOfCut, type Operation, parseQuery } from '../operations/operation.ts';
import { priceOf } from '../operations/price.ts';
import { queryKey, type Requester, type Responses } from '../operations/serve.ts';
import { receivedBy, toRoute } from './paths.ts';
import { sendResponse } from './send-response.ts';

/** The bound of the cache of parsed queries: about 16,000. */
const MAX_REMEMBERED_BYTES = 16 * 1024 * 1024;
const OVERHEAD_BYTES = 800;

/**
 * Registers a route for each operation. The key is checked and the request charged before the handler runs. The handler
 * validates the query, finds the cached response or runs the operation, and sends the response.
 */
export async function operationRoutes(
  app: FastifyInstance,
  { operations, responses, now }: { operations: readonly Operation[]; responses: Responses; now: () => number },
): Promise<void> {
  const parseOnce = createQueryReader();
  for (const operation of operations) {
    app.get(toRoute(operation.path), (request, reply) => {
      const { query, key, notices } = parseOnce(operation, request);
      const cost = priceOf(operation, query, now());
      const response = () => {
        const cached = responses.find(key);
        if (cached) return sendResponse(request, reply, cached, { responses, now, notices });
        return responses
          .get(operation, query, requesterOf(request))
          .then((finished) => sendResponse(request, reply, finished, { responses, now, notices }));
      };
      return cost === 1 ? response() : request.chargeMore(cost - 1).then(response);
    });
  }
}

/** The account on whose behalf the request is made, its priority, and whether its client still waits. */
export function requesterOf({ admission, hangUp: signal }: FastifyRequest): Requester {
  if (!admission) return { priority: 'low', signal };
  const { plan, accountId } = admission.caller;
  return { priority: PLANS[plan].priority, account: accountId, signal };
}

/** A request with its parameters as received. */
interface ReceivedQuery {
  url: string;
  query: unknown;
  params?: unknown;
}

interface ParsedQuery {
  query: Record<string, unknown>;
  /** Equal for equal queries of one operation. */
  key: string;
  /** Notices about the query as it was written, which equal queries need not share. */
  notices: readonly Notice[];
}

/** Parses and validates queries; results are cached by URL. Prices are not cached, because they depend on the current day. */
export function createQueryReader() {
  const readQueries = createBoundedMap<ParsedQuery>('read queries', {
    maxBytes: MAX_REMEMBERED_BYTES,
    // An estimate: the key repeats all values of the parsed query.
    sizeOf: ({ key }, url) => url.length + 4 * key.length + OVERHEAD_BYTES,
  });

  return (operation: Operation, request: ReceivedQuery) => {
    const cached = readQueries.get(request.url);
    if (cached) return cached;
    const created = parseRequest(operation, request);
    readQueries.set(request.url, created);
    return created;
  };
}

function parseRequest(operation: Operation, request: ReceivedQuery): ParsedQuery {
  const received = receivedBy(request);
  const query = parseQuery(operation, received);
  const notices = noticesOfCut(operation, received);
  return { query, key: queryKey(operation, query), notices };
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { PLANS } from '../access/plan.ts';
import { createBoundedMap } from '../core/own-memory.ts';
import { nameIgnored, type Operation, readQuery } from '../operations/operation.ts';
import { queryKey, type Requester, type Responses } from '../operations/serve.ts';
import { receivedBy, toRoute } from './paths.ts';
import { sendResponse } from './send-response.ts';

/** About 16,000 queries. */
const MAX_REMEMBERED_BYTES = 16 * 1024 * 1024;
const OVERHEAD_BYTES = 800;

/**
 * A route for each operation. The key is checked and the request charged before the handler runs. The handler validates the
 * query, runs the operation or finds its cached response, and sends it.
 */
export async function operationRoutes(
  app: FastifyInstance,
  { operations, responses, now }: { operations: readonly Operation[]; responses: Responses; now: () => Date },
): Promise<void> {
  const readOnce = createQueryReader();
  for (const operation of operations) {
    app.get(toRoute(operation.path), (request, reply) => {
      const { query, key, cost, ignored } = readOnce(operation, request);
      if (ignored) reply.header('x-ignored-parameters', ignored);
      const response = () => {
        const requester = requesterOf(request);
        const kept = responses.peek(key);
        if (kept) return sendResponse(request, reply, kept, { responses, now });
        return responses
          .find(operation, query, requester)
          .then((found) => sendResponse(request, reply, found, { responses, now }));
      };
      return cost === 1 ? response() : request.chargeMore(cost - 1).then(response);
    });
  }
}

/** On whose behalf the request is made. */
export function requesterOf({ admission }: FastifyRequest): Requester {
  if (!admission) return { priority: 'low' };
  const { plan, accountId } = admission.caller;
  return { priority: PLANS[plan].priority, account: accountId };
}

type QueryRequest = Pick<FastifyRequest, 'url' | 'query'> & { params?: unknown };

/** Parses and validates queries; results are cached by URL. */
export function createQueryReader() {
  const known = createBoundedMap<ReturnType<typeof read>>('read queries', {
    maxBytes: MAX_REMEMBERED_BYTES,
    // The key contains the query's values again.
    sizeOf: ({ key }, url) => url.length + 4 * key.length + OVERHEAD_BYTES,
  });

  return (operation: Operation, request: QueryRequest) => {
    const before = known.get(request.url);
    if (before) return before;
    const found = read(operation, request);
    known.set(request.url, found);
    return found;
  };
}

function read(operation: Operation, request: QueryRequest) {
  const received = receivedBy(request);
  const query = readQuery(operation, received);
  const ignored = nameIgnored(operation, received);
  /** `cost`: the number of requests charged. */
  return { query, key: queryKey(operation, query), cost: operation.cost?.(query) ?? 1, ignored };
}

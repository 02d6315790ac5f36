import type { ReceivedResponse } from '#src/efa/query-upstream.ts';
import { type PayloadOf, parseResponse, type UpstreamRequest } from '#src/efa/request.ts';

/** A response as the client returns it, without a network. */
export function receivedResponse<Requested extends UpstreamRequest>(
  request: Requested,
  response: object,
  arrivedAt: Date,
): ReceivedResponse<PayloadOf<Requested>> {
  const json = Buffer.from(JSON.stringify(response));
  return { payload: parseResponse(request, response), json, retrievedAt: arrivedAt.getTime() };
}

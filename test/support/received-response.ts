import type { ReceivedResponse } from '#src/efa/ask.ts';
import { type PayloadOf, readResponse, type UpstreamRequest } from '#src/efa/request.ts';

/** A response as the client returns it, without a network. */
export function receivedResponse<Asked extends UpstreamRequest>(
  request: Asked,
  response: object,
  retrievedAt: Date,
): ReceivedResponse<PayloadOf<Asked>> {
  return { payload: readResponse(request, response), json: Buffer.from(JSON.stringify(response)), retrievedAt };
}

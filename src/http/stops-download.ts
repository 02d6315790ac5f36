import type { FastifyInstance } from 'fastify';
import { SECOND_MS } from '../core/clock.ts';
import { nextTurn } from '../core/event-loop-turn.ts';
import { toListedStop } from '../operations/stops/operation.ts';
import { OTHER_ROUTES, PRICES } from '../routes.ts';
import { freshnessOfList, type StopRegister } from '../stops/register.ts';
import { freshnessHeaders, listsEtag, matchesAny, VARY } from './freshness-headers.ts';
import { type PreparedBody, prepareBody } from './send-response.ts';

const STOPS_PER_TURN = 500;

/**
 * `GET /v1/stops.ndjson`: every known stop and platform, one per line. The file is generated once for all callers;
 * `Last-Modified` says when and never goes back. The file costs `PRICES.stopsFile` requests, HEAD and
 * `If-None-Match: *` cost one, another 304 nothing.
 */
export async function stopsDownload(
  app: FastifyInstance,
  { stops, now }: { stops: StopRegister; now: () => number },
): Promise<void> {
  let list: Promise<PreparedBody> | null = null;
  let writtenAt = 0;
  stops.onChange(() => {
    list = null;
  });

  function current(): Promise<PreparedBody> {
    if (list) return list;
    const at = now();
    writtenAt = at - (at % SECOND_MS);
    list = writeList(stops);
    return list;
  }

  app.get(OTHER_ROUTES.stopsFile, async (request, reply) => {
    const { etag, send } = await current();
    const { 'if-none-match': condition, 'if-modified-since': since = '' } = request.headers;
    const isUnchanged = condition === undefined && Date.parse(since) >= writtenAt;
    const hasResponse = isUnchanged || listsEtag(condition, etag);
    if (hasResponse) request.outcome.isFree = true;
    const sentAt = now();
    reply.headers({
      ...freshnessHeaders(freshnessOfList(stops, sentAt), sentAt),
      etag,
      vary: VARY,
      'last-modified': new Date(writtenAt).toUTCString(),
    });
    if (isUnchanged) return reply.code(304).send();
    const isSent = request.method === 'GET' && !hasResponse && !matchesAny(condition);
    if (isSent) await request.chargeMore(PRICES.stopsFile - 1);
    return send(request, reply);
  });
}

async function writeList(stops: StopRegister): Promise<PreparedBody> {
  const slices: Buffer[] = [];
  let lines: string[] = [];
  for (const stop of stops) {
    lines.push(`${JSON.stringify(toListedStop(stop))}\n`);
    if (lines.length < STOPS_PER_TURN) continue;
    slices.push(Buffer.from(lines.join('')));
    lines = [];
    await nextTurn();
  }
  const bytes = Buffer.concat([...slices, Buffer.from(lines.join(''))]);
  return prepareBody(bytes, 'application/x-ndjson; charset=utf-8');
}

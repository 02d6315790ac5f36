import type { FastifyInstance, FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { departuresResponse } from '../departures/departure.ts';
import type { ErrorBody } from '../http/error-answer.ts';
import { toSydneyWallClock } from '../transit/time.ts';

type Departures = z.infer<typeof departuresResponse>;

/** Headers of the answer behind the board that hold for the board as well. */
const KEPT_HEADERS = /^(x-)?ratelimit|^(retry-after|www-authenticate|age|cache-status)$/;
const MAX_DESTINATION = 34;
/** A terminal obeys them. */
const CONTROL = /\p{Cc}/gu;

/**
 * `GET /board/:stop`: what leaves a stop, for a terminal. It is a view of `/v1/departures`, asked inside the process
 * with the caller's own key: the same rules, count and errors.
 */
export async function board(app: FastifyInstance, { isSandbox }: { isSandbox: boolean }): Promise<void> {
  app.get<{ Params: { stop: string } }>('/board/:stop', async (request, reply) => {
    const query = new URLSearchParams(request.url.split('?')[1]);
    query.set('stop', request.params.stop);
    if (!query.has('modes')) query.set('modes', 'all');
    if (!query.has('limit')) query.set('limit', '20');
    const { authorization } = request.headers;
    const answer = await app.inject({
      url: `/v1/departures?${query}`,
      headers: authorization === undefined ? {} : { authorization },
      remoteAddress: request.ip,
    });
    reply.code(answer.statusCode).type('text/plain; charset=utf-8').header('cache-control', 'private, no-store');
    keepHeaders(reply, answer.headers);
    const body = JSON.parse(answer.body) as Departures | ErrorBody;
    return 'error' in body ? errorText(body) : boardText(body, isSandbox);
  });
}

function keepHeaders(reply: FastifyReply, headers: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(headers)) if (KEPT_HEADERS.test(name)) reply.header(name, value);
}

function boardText({ stop_name, stop_id, retrieved_at, departures }: Departures, isSandbox: boolean): string {
  const rows = departures.map(({ minutes_away, is_live, route, destination, platform, scheduled_at, realtime_at }) => [
    `${minutes_away === 0 ? 'now' : `${minutes_away} min`}${is_live ? ' *' : '  '}`.padStart(9),
    sydneyTime(realtime_at ?? scheduled_at),
    route.padEnd(6),
    cut(destination).padEnd(MAX_DESTINATION),
    platform ?? '',
  ]);
  const alerts = [...new Set(departures.flatMap((departure) => departure.alerts))];
  return [
    `${stop_name} (${stop_id})`,
    '',
    ...(rows.length > 0 ? rows.map((row) => row.join('  ').trimEnd()) : ['  Nothing leaves.']),
    ...(alerts.length > 0 ? ['', ...alerts.map((alert) => `! ${alert}`)] : []),
    '',
    `Sydney time, as of ${sydneyTime(retrieved_at)}. * live. Data: Transport for NSW, CC BY 4.0.`,
    ...(isSandbox ? ['SANDBOX: times, delays and alerts are made up.'] : []),
    '',
  ]
    .map((line) => line.replace(CONTROL, ' '))
    .join('\n');
}

function errorText({ error }: ErrorBody): string {
  return `${error.code}: ${error.message}\n${error.docs}\n`;
}

function sydneyTime(timestamp: string): string {
  const { time } = toSydneyWallClock(new Date(timestamp));
  return `${time.slice(0, 2)}:${time.slice(2)}`;
}

function cut(text: string): string {
  return text.length > MAX_DESTINATION ? `${text.slice(0, MAX_DESTINATION - 1)}…` : text;
}

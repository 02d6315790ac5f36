import type { FastifyInstance } from 'fastify';
import { errorBody } from '#src/errors/api-error.ts';
import { toApiError } from '#src/errors/to-api-error.ts';
import type { CreateExtension, Service } from '#src/http/extension.ts';
import { freshnessHeaders } from '#src/http/freshness-headers.ts';
import { wantsPage } from '#src/http/paths.ts';
import { recordSources } from '#src/http/request-log.ts';
import { PAGE_POLICY } from '#src/http/response-headers.ts';
import { logError } from '#src/http/send-error.ts';
import type { Departures } from '#src/operations/departures/departure.ts';
import { noticeTo, withOwnDefaults } from '#src/operations/operation.ts';
import { toSydneyClock } from '#src/transit/time.ts';
import { sendPage } from '../layout.ts';
import { wallBoard, wallPage } from './wall-board.ts';

const DEFAULTS = { modes: 'all', limit: '20' };
const MAX_DESTINATION = 34;
const MAX_PLATFORM = 12;
/** Characters for the occupancy of each carriage of a train. */
const OCCUPANCY_SIGNS = { MANY_SEATS: '▁', FEW_SEATS: '▄', STANDING_ONLY: '█' };
const UNKNOWN_SIGN = '·';
const LEGEND = `Carriages, front first: ${OCCUPANCY_SIGNS.MANY_SEATS} many seats, ${OCCUPANCY_SIGNS.FEW_SEATS} few seats, ${OCCUPANCY_SIGNS.STANDING_ONLY} standing only, ${UNKNOWN_SIGN} unknown.`;
/** Control characters: a terminal would execute their escape sequences (terminal injection). */
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/**
 * `GET /board/:stop`: departures from a stop as text for a terminal, or as a page for a browser. It runs the departures
 * operation with the caller's key, with the same rules, charge and errors.
 */
async function textBoard(
  app: FastifyInstance,
  options: Service & {
    /** Renders the page for browsers. */
    drawPage: (stop: string) => Promise<string>;
  },
): Promise<void> {
  const { runOperation, docsUrl, isSandbox, now, drawPage, limitPages } = options;
  app.setErrorHandler((error, request, reply) => {
    const apiError = toApiError(error);
    // Refusals without a key may be delayed, as on other pages.
    if (!request.headers.authorization && apiError.statusCode === 429) throw apiError;
    logError(apiError, request);
    const { code, message, docs } = errorBody(apiError, docsUrl).error;
    reply.code(apiError.statusCode).headers(apiError.headers).header('cache-control', 'no-store');
    return reply.type('text/plain; charset=utf-8').send(`${code}: ${message}\n${docs}\n`);
  });

  // Before the key check, because the page contains no departures.
  app.addHook('onRequest', async (request, reply) => {
    reply.vary('Accept');
    if (request.headers.authorization) return;
    await limitPages(request);
    if (!wantsPage(request)) return;
    const { stop } = request.params as { stop: string };
    return sendPage(reply.header('content-security-policy', PAGE_POLICY), await drawPage(stop));
  });

  app.get<{ Params: { stop: string } }>('/board/:stop', async (request, reply) => {
    const { stop } = request.params;
    const received = request.query as object;
    const response = await runOperation('/v1/departures', { ...withOwnDefaults(DEFAULTS, received), stop }, request);
    const { body, freshness } = response;
    recordSources(request, response);
    reply.headers(freshnessHeaders(freshness, now())).header('cache-control', 'private, no-store');
    const notice = noticeTo(received, response.notices);
    const remarks = isSandbox ? ['SANDBOX: times, delays and alerts are made up.'] : [];
    return reply.type('text/plain; charset=utf-8').send(boardText(body.content(), notice, remarks));
  });
}

function boardText(
  { stop_name, stop_id, retrieved_at, departures, alert_texts = {} }: Departures,
  notice: string | undefined,
  remarks: readonly string[],
): string {
  const rows = departures.map((departure) => [
    whenOf(departure).padStart(9),
    toSydneyClock(departure.realtime_at ?? departure.scheduled_at),
    departure.route.padEnd(6),
    truncate(departure.destination).padEnd(MAX_DESTINATION),
    (departure.platform ?? '').padEnd(departure.carriages || departure.arrives_at ? MAX_PLATFORM : 0),
    // With `to`, the board shows when the vehicle reaches that stop.
    ...(departure.arrives_at ? [`there ${toSydneyClock(departure.arrives_at_realtime ?? departure.arrives_at)}`] : []),
    departure.carriages?.map(({ occupancy }) => (occupancy ? OCCUPANCY_SIGNS[occupancy] : UNKNOWN_SIGN)).join('') ?? '',
  ]);
  const alerts = new Set([...departures.flatMap((departure) => departure.alerts), ...Object.values(alert_texts)]);
  return [
    `${stop_name} (${stop_id})`,
    '',
    ...(rows.length > 0
      ? rows.map((row) => row.join('  ').trimEnd())
      : ['  Nothing leaves.', ...(notice ? [`  ${notice}`] : [])]),
    ...(alerts.size > 0 ? ['', ...[...alerts].map((alert) => `! ${alert}`)] : []),
    '',
    `Sydney time, as of ${toSydneyClock(retrieved_at)}. * live. Data: Transport for NSW, CC BY 4.0.`,
    ...(departures.some(({ carriages }) => carriages) ? [LEGEND] : []),
    ...remarks,
    '',
  ]
    .map((line) => line.replace(CONTROL_CHARACTERS, ' '))
    .join('\n');
}

function whenOf({ cancelled, minutes_away, is_live }: Departures['departures'][number]): string {
  if (cancelled) return 'cancelled';
  return `${minutes_away === 0 ? 'now' : `${minutes_away} min`}${is_live ? ' *' : '  '}`;
}

function truncate(text: string): string {
  return text.length > MAX_DESTINATION ? `${text.slice(0, MAX_DESTINATION - 1)}…` : text;
}

/** Boards for terminals and wall displays. */
export const boardPages =
  ({ testKey = async () => null }: { testKey?: () => Promise<string | null> } = {}): CreateExtension =>
  (service) => ({
    addRoutes: async (api) => {
      const drawPage = (stop: string) => wallPage(stop, { ...service, testKey });
      await api.register(textBoard, { ...service, drawPage });
      await api.register(wallBoard, service);
    },
  });

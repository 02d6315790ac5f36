import { z } from 'zod';
import type { AlertList, KeptAlert } from '../../alerts/alert-list.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { IndexedLine } from '../../lines/line-index.ts';
import type { LineCatalogue } from '../../lines/lines.ts';
import { countLines, type LineCounts } from '../../realtime/line-counts.ts';
import { routeOf } from '../../routes.ts';
import { freshnessOfList, type StopRegister } from '../../stops/register.ts';
import { isNamed } from '../../transit/line-id.ts';
import { modesParameter, routesParameter } from '../../transit/mode.ts';
import { limitParameter, optional, totalField, withDefault } from '../../transit/parameter.ts';
import { field, list, record } from '../../transit/schema.ts';
import { formatTimestamp, timestampSchema } from '../../transit/time.ts';
import { defineOperation } from '../operation.ts';
import { lineFields, toLineBody } from './line.ts';

/** Worst first. */
export const LINE_STATUSES = ['suspended', 'part_closed', 'severe_delays', 'minor_delays', 'good_service'] as const;
type LineStatus = (typeof LINE_STATUSES)[number];

/** From these shares on, delays are minor or severe. A single vehicle never makes them severe. */
const LATE = { minor: 0.2, severe: 0.5 };
const CANCELLED = { minor: 0.1, severe: 0.3 };
const MIN_FOR_SEVERE = 2;

const lineStatusQuery = z.object({
  modes: withDefault(modesParameter, 'all'),
  routes: optional(
    routesParameter,
    'Only these lines: up to 50 short names or line IDs (`T4` or `train_T4`) separated by commas.',
  ),
  limit: limitParameter(1000, '100', 'lines'),
});

const countField = (description: string) => z.int().min(0).meta({ description });
const shareField = (description: string) =>
  field(z.number().min(0).max(1).nullable(), `${description}, a number from 0 to 1; null if unknown`, 0.125);
const OF_FEED = 'null if no feed is read for the line';

const lineStatusSchema = record('LineStatus', 'How a line runs now.', {
  ...lineFields,
  status: field(
    z.enum(LINE_STATUSES).nullable(),
    '`suspended`, `part_closed`, `severe_delays`, `minor_delays` or `good_service`; null if unknown: no feed is read for the line, or nothing of it is under way or tracked',
  ),
  alerts: list(z.string(), 'Alerts in force for the whole line'),
  alert_ids: list(z.string(), 'IDs of these alerts, for `/v1/alerts/{alert_id}`'),
  runs: countField('Number of planned runs that are under way or leave within 30 minutes'),
  tracked_runs: countField(`Of these, number of runs with a live time; ${OF_FEED}`).nullable(),
  late_runs: countField(`Number of tracked runs that are 5 minutes late or more; ${OF_FEED}`).nullable(),
  cancelled_runs: countField(`Number of runs that are cancelled; ${OF_FEED}`).nullable(),
  late_share: shareField('Share of the tracked runs that are late'),
  cancelled_share: shareField('Share of the runs that are cancelled'),
});

const lineStatusResponse = record('LineStatuses', 'The status of lines.', {
  retrieved_at: field(timestampSchema, 'Timestamp (UTC) of the oldest live data in this response'),
  lines: list(lineStatusSchema, 'Sorted by mode and short name'),
  total: totalField('lines that match', 1),
});

const exampleBody: z.infer<typeof lineStatusResponse> = {
  retrieved_at: '2026-11-20T02:00:20Z',
  lines: [
    {
      line_id: 'train_T4',
      route: 'T4',
      name: 'T4 Eastern Suburbs & Illawarra Line',
      mode: 'train',
      operator: 'Sydney Trains',
      color: '005AA3',
      text_color: 'FFFFFF',
      status: 'minor_delays',
      alerts: [],
      alert_ids: [],
      runs: 24,
      tracked_runs: 20,
      late_runs: 5,
      cancelled_runs: 1,
      late_share: 0.25,
      cancelled_share: 0.042,
    },
  ],
  total: 1,
};

interface LineStatusSources {
  lines: LineCatalogue;
  stops: StopRegister;
  alerts: AlertList;
}

/** `GET /v1/lines/status` */
export const createLineStatusOperation = ({ lines, stops, alerts }: LineStatusSources) =>
  defineOperation({
    ...routeOf('listLineStatus'),
    tag: 'Stops',
    summary: 'Status of lines',
    description:
      'How each line runs now, with the alerts for it and the share of late and cancelled runs. The first of these that fits is the status: `suspended` if two or more runs are planned now and all are cancelled; `part_closed` while an alert about trackwork is in force for the line; `severe_delays` if half of the tracked runs or more are 5 minutes late, or 30 % of all runs are cancelled, and that is at least two; `minor_delays` from 20 % late or 10 % cancelled; else `good_service`. Counted are the planned runs that are under way or leave within 30 minutes. Without live times the status is null, unless the line is part closed.',
    query: lineStatusQuery,
    body: lineStatusResponse,
    example: { query: 'routes=T4', body: exampleBody },
    tool: {
      description:
        'How lines run now: good service, minor or severe delays, part closed or suspended, with the alerts for the line and the share of late and cancelled runs. For one line give its short name in `routes`.',
      defaults: { limit: '20' },
    },

    async handle(query, { queryUpstream, runs, now }) {
      const { modes, routes, limit } = query;
      const isWanted = ({ route, id: lineId, mode }: IndexedLine) =>
        routes === undefined || isNamed(routes, { route, lineId, mode });
      const matches = lines.list({ modes }).filter(isWanted);
      const listed = matches.slice(0, limit);
      const at = now();
      const list = await alerts.load(queryUpstream).catch((error) => {
        if (error instanceof ApiError) return null;
        throw error;
      });
      const taken = await runs.snapshotLive([...new Set(listed.map(({ mode }) => mode))], at);
      const counts = taken ? await countLines(taken.live, listed, at) : [];
      const ofFeeds = taken?.freshness(null) ?? freshnessOfList(stops, now());
      const ofAlerts = list?.freshness ?? ofFeeds;
      const freshness = {
        ...ofFeeds,
        freshUntil: Math.min(ofFeeds.freshUntil, ofAlerts.freshUntil),
        staleUntil: Math.min(ofFeeds.staleUntil, ofAlerts.staleUntil),
        source: ofAlerts.source,
      };
      return {
        body: {
          retrieved_at: formatTimestamp(freshness.retrievedAt),
          lines: listed.map((line, index) => {
            const ofLine = alerts.listOfLine({ ...line, at });
            return toBody(line, counts[index] ?? { runs: 0, live: null }, ofLine);
          }),
          total: matches.length,
        },
        freshness,
        notices: [
          ...(list ? [] : [{ text: 'Transport for NSW is unavailable, so alerts may be missing or out of date.' }]),
          ...lines.noticesOfUnknown(routes),
        ],
      };
    },
  });

function toBody(
  line: IndexedLine,
  { runs, live }: LineCounts,
  alerts: readonly KeptAlert[],
): z.infer<typeof lineStatusSchema> {
  const share = (part: number, whole: number) => (whole > 0 ? Math.round((1000 * part) / whole) / 1000 : null);
  return {
    ...toLineBody(line),
    status: chooseStatus({ runs, live }, alerts),
    alerts: alerts.map(({ text }) => text),
    alert_ids: alerts.map(({ id }) => id),
    runs,
    tracked_runs: live?.tracked ?? null,
    late_runs: live?.late ?? null,
    cancelled_runs: live?.cancelled ?? null,
    late_share: live && share(live.late, live.tracked),
    cancelled_share: live && share(live.cancelled, runs),
  };
}

/** The first status that fits, worst first; null if too little is known. */
export function chooseStatus(
  { runs, live }: LineCounts,
  alerts: readonly { category: KeptAlert['category'] }[],
): LineStatus | null {
  if (live && runs >= MIN_FOR_SEVERE && live.cancelled === runs) return 'suspended';
  if (alerts.some(({ category }) => category === 'trackwork')) return 'part_closed';
  if (!live || live.tracked + live.cancelled === 0) return null;
  const [late, cancelled] = [live.tracked > 0 ? live.late / live.tracked : 0, live.cancelled / runs];
  const isSevere =
    (late >= LATE.severe && live.late >= MIN_FOR_SEVERE) ||
    (cancelled >= CANCELLED.severe && live.cancelled >= MIN_FOR_SEVERE);
  if (isSevere) return 'severe_delays';
  return late >= LATE.minor || cancelled >= CANCELLED.minor ? 'minor_delays' : 'good_service';
}

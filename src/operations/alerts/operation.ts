import { z } from 'zod';
import type { AlertList, KeptAlert } from '../../alerts/alert-list.ts';
import { unknownAlert } from '../../errors/messages.ts';
import type { LineCatalogue } from '../../lines/lines.ts';
import { routeOf } from '../../routes.ts';
import type { StopRegister } from '../../stops/register.ts';
import { ALERT_CATEGORIES, ALERT_KINDS, holdsAt, runsAt, SEVERITIES } from '../../transit/alert.ts';
import { isNamed } from '../../transit/line-id.ts';
import { type Mode, modeSchema, modesParameter, routesParameter } from '../../transit/mode.ts';
import {
  describe,
  limitParameter,
  oneOf,
  optional,
  requiredText,
  someOf,
  totalField,
  withDefault,
} from '../../transit/parameter.ts';
import { stopIdParameter } from '../../transit/place.ts';
import { field, list, record, text, textOrNull } from '../../transit/schema.ts';
import {
  dayOrTimeParameter,
  formatOrNull,
  formatTimestamp,
  fromSydneyWallClock,
  timestampSchema,
  toSydneyWallClock,
} from '../../transit/time.ts';
import { defineOperation } from '../operation.ts';

const alertsQuery = z.object({
  stop: optional(
    stopIdParameter,
    'Only alerts that name this stop, its platforms or its station, and alerts that name only lines if one of these lines leaves there.',
    '200070',
  ),
  routes: optional(
    routesParameter,
    'Only alerts that name one of these routes: up to 50 short names or line IDs (`T4` or `train_T4`) separated by commas.',
  ),
  modes: withDefault(modesParameter, 'all'),
  category: optional(someOf(ALERT_CATEGORIES), 'Only alerts of these categories.'),
  severity: withDefault(
    oneOf(SEVERITIES),
    'very_low',
    'Minimum severity. Transport for NSW marks most alerts as `normal`, and those of lifts as `low`.',
  ),
  at: optional(
    dayOrTimeParameter,
    'Alerts in force at this time: `HHmm` today (24-hour, Sydney time), a date (at the present time of day), or date and time in ISO 8601. Default: now.',
    '2026-11-28T10:00+11:00',
  ),
  limit: limitParameter(300, '50', 'alerts'),
});
type AlertsQuery = z.infer<typeof alertsQuery>;

const orNull = timestampSchema.nullable();

const alertSchema = record('Alert', 'A disruption notice and what it affects.', {
  id: text('Alert ID; the same as in `alert_ids` of boards and journeys', 'nP3k9QzVx0'),
  kind: field(
    z.enum(ALERT_KINDS),
    'The subject: single runs, lines, stops, lifts and escalators (`facility`), or anything else (`general`)',
  ),
  category: field(z.enum(ALERT_CATEGORIES).nullable(), 'Category, as set by Transport for NSW; null if unknown'),
  cause: textOrNull(
    'Cause in the terms of Transport for NSW, such as `lift_failure` or `roadworks`; null if unknown',
    'lift_failure',
  ),
  severity: field(z.enum(SEVERITIES), 'Severity, as set by Transport for NSW'),
  title: textOrNull('Heading, often a list of lines; null if there is none'),
  text: text('Text, the same as in `alerts` of boards and journeys'),
  url: textOrNull('Page with more information; null if there is none'),
  periods: list(
    z.strictObject({
      starts_at: field(orNull, 'Start of the period; null if open'),
      ends_at: field(orNull, 'End of the period; null if unknown'),
    }),
    'Periods in which the alert is in force; empty if unknown',
  ),
  stops: list(
    z.strictObject({
      stop_id: text('Stop ID', '200070'),
      name: textOrNull('Stop name; null if unknown', 'Town Hall Station'),
    }),
    'The stops that the alert names',
  ),
  routes: list(
    z.strictObject({
      route: text('Short route name', 'T1'),
      mode: modeSchema,
    }),
    'The routes that the alert names',
  ),
  runs: list(
    z.strictObject({
      trip_id: text('Run ID, as in `trip_id` of boards and journeys with `include=ids`'),
      route: textOrNull('Short route name; null if unknown'),
      starts_at: field(orNull, 'Planned start of the run; null if unknown'),
    }),
    'The runs that the alert names and that have not ended',
  ),
  updated_at: field(orNull, 'When Transport for NSW last changed it; null if unknown'),
});

export const alertsResponse = record('Alerts', 'Disruption notices in force.', {
  retrieved_at: field(timestampSchema, 'When Transport for NSW sent this list'),
  alerts: list(alertSchema, 'Sorted by severity, most severe first, then latest first'),
  total: totalField('alerts that match the filters', 1),
});

const exampleAlert: z.infer<typeof alertSchema> = {
  id: 'JJeWg0DVV1',
  kind: 'stop',
  category: 'service_change',
  cause: null,
  severity: 'normal',
  title: 'Station Update - Sydney',
  text: 'Station Update - Sydney: The northern entrance of Town Hall Station is closed for upgrades. Use the main entrance & allow extra time.',
  url: 'https://transportnsw.info/alerts/details#/ems-60211',
  periods: [{ starts_at: '2026-11-16T13:00:00Z', ends_at: null }],
  stops: [{ stop_id: '200070', name: 'Town Hall Station, Sydney' }],
  routes: [],
  runs: [],
  updated_at: '2026-11-16T13:00:00Z',
};

const exampleBody: z.infer<typeof alertsResponse> = {
  retrieved_at: '2026-11-20T02:00:20Z',
  alerts: [exampleAlert],
  total: 1,
};

/** `GET /v1/alerts` */
export const createAlertsOperation = (options: { list: AlertList; stops: StopRegister; lines: LineCatalogue }) =>
  defineOperation({
    ...routeOf('listAlerts'),
    tag: 'Stops',
    summary: 'Alerts',
    description:
      'Disruption notices of the whole network that are in force now or at a given time, most severe first. Their `id` is the one in `alert_ids` of boards and journeys. Permanent notices are left out, unless they concern booking or wheelchair access. Notices about runs that have ended are left out too.\n\nA list is fresh for two minutes. Revalidate it with its `ETag`.',
    query: alertsQuery,
    body: alertsResponse,
    example: { query: 'stop=200070&severity=normal&limit=5', body: exampleBody },
    tool: {
      description:
        'Disruption notices in force now or at a given time, for a stop, routes, modes or the whole network, most severe first. Departures and journeys already include their own alerts.',
      defaults: { limit: '10' },
    },
    stream: {
      id: 'streamAlerts',
      summary: 'Alerts as a stream',
      description:
        'The alerts as server-sent events. An `alerts` event with the whole `/v1/alerts` response is sent at the start and on every change, and a comment every 15 seconds. Otherwise it works like the stream of departures. Costs one request a minute.',
    },

    async handle(query, { queryUpstream, now }) {
      const at = momentOf(query, now());
      const { alerts, leftOut, freshness } = await options.list.load(queryUpstream);
      const { isWanted, notices } = filterOf(query, options.stops, now());
      const severities: readonly string[] = SEVERITIES.slice(0, SEVERITIES.indexOf(query.severity) + 1);
      const matches = alerts.filter(
        (alert) => severities.includes(alert.severity) && holdsAt(alert, at) && isWanted(alert),
      );
      const distinct = [...Map.groupBy(matches, ({ id }) => id).values()].map(mergeAlerts).sort(compareAlerts);
      const body = {
        retrieved_at: formatTimestamp(freshness.retrievedAt),
        alerts: distinct.slice(0, query.limit).map((alert) => toAlertBody(alert, at)),
        total: distinct.length,
      };
      return { body, freshness, leftOut, notices: [...notices, ...options.lines.noticesOfUnknown(query.routes)] };
    },
  });

/** `GET /v1/alerts/{alert_id}` */
export const createAlertOperation = ({ list }: { list: AlertList }) =>
  defineOperation({
    ...routeOf('getAlert'),
    tag: 'Stops',
    summary: 'An alert',
    description:
      'One disruption notice by its ID, as in the list: the `id` of `/v1/alerts`, and `alert_ids` of boards, journeys and lines. Notices that are not in force yet are found too. A notice whose text changes has another ID from then on.',
    query: z.object({
      alert_id: describe(
        requiredText('an alert ID such as nP3k9QzVx0').meta({ type: 'string' }),
        'An alert ID.',
        exampleAlert.id,
      ),
    }),
    body: alertSchema,
    example: { query: `alert_id=${exampleAlert.id}`, body: exampleAlert },
    tool: {
      description:
        'One disruption notice with its periods, stops, routes and runs, by an ID from `alert_ids` or listAlerts.',
    },

    async handle({ alert_id: alertId }, { queryUpstream, now }) {
      const { alerts, leftOut, freshness } = await list.load(queryUpstream);
      const at = now();
      const known = alerts.filter(({ id }) => id === alertId);
      const inForce = known.filter((alert) => holdsAt(alert, at));
      if (known.length === 0) throw unknownAlert(alertId);
      return { body: toAlertBody(mergeAlerts(inForce.length > 0 ? inForce : known), at), freshness, leftOut };
    },
  });

/** `YYYYMMDD` */
const DAY_LENGTH = 8;

/** A time that occurs twice or never when clocks change means 03:00 of that day. */
function momentOf({ at }: AlertsQuery, now: number): number {
  if (at === undefined) return now;
  const present = toSydneyWallClock(now);
  const [time = '', date = present.date] = at.length === DAY_LENGTH ? [present.time, at] : at.split('T').reverse();
  return fromSydneyWallClock({ date, time }) ?? fromSydneyWallClock({ date, time: '0300' }) ?? now;
}

/** The filters of a query, except its time and severity. */
function filterOf({ stop: stopId, routes, modes, category }: AlertsQuery, stops: StopRegister, now: number) {
  const isOfMode = (alert: KeptAlert) => {
    const alertModes = modesOf(alert);
    return alertModes.length === 0 || alertModes.some((mode) => modes.includes(mode));
  };
  const isOnRoute = ({ routes: alertRoutes }: KeptAlert) =>
    !routes || alertRoutes.some((line) => isNamed(routes, line) && modes.includes(line.mode));
  const isWanted = (alert: KeptAlert) =>
    (category === undefined || (alert.category !== null && category.includes(alert.category))) &&
    isOfMode(alert) &&
    isOnRoute(alert);
  if (stopId === undefined) return { isWanted, notices: [] };

  const stop = stops.get(stopId);
  const leaving = stops.linesOf(stopId, now);
  const isAt = ({ id, parent, platforms }: KeptAlert['stops'][number]) =>
    id === stopId || parent === stopId || id === stop?.parent_id || platforms.includes(stopId);
  // Two regions may use the same bus number. If a network is unknown, the number alone decides.
  const leaves = ({ route, mode, network }: KeptAlert['routes'][number]) =>
    leaving?.some(
      (line) =>
        line.route === route &&
        line.mode === mode &&
        (network === null || line.networks.length === 0 || line.networks.includes(network)),
    );
  const isOfStop = (alert: KeptAlert) =>
    alert.stops.length > 0 ? alert.stops.some(isAt) : alert.routes.length === 0 || alert.routes.some(leaves);
  const text = `The lines of stop ${stopId} are unknown, so alerts that name only lines are left out.`;
  return {
    isWanted: (alert: KeptAlert) => isOfStop(alert) && isWanted(alert),
    notices: leaving ? [] : [{ text }],
  };
}

/** The modes of the lines that the alert names, or of its stops if it names no lines. */
function modesOf({ routes, stops }: KeptAlert): readonly Mode[] {
  return routes.length > 0 ? routes.map(({ mode }) => mode) : stops.flatMap(({ modes }) => modes);
}

/** Merges alerts with equal text. Upstream repeats a text under several identifiers, each with other stops and lines. */
function mergeAlerts(alerts: readonly KeptAlert[]): KeptAlert {
  const [first] = alerts.toSorted(compareAlerts) as [KeptAlert];
  if (alerts.length === 1) return first;
  return {
    ...first,
    category: alerts.find(({ category }) => category !== null)?.category ?? null,
    cause: alerts.find(({ cause }) => cause !== null)?.cause ?? null,
    url: alerts.find(({ url }) => url !== null)?.url ?? null,
    periods: alerts.some(({ periods }) => periods.length === 0) ? [] : alerts.flatMap(({ periods }) => periods),
    stops: alerts.flatMap(({ stops }) => stops),
    routes: alerts.flatMap(({ routes }) => routes),
    runs: alerts.flatMap(({ runs }) => runs),
  };
}

function compareAlerts(a: KeptAlert, b: KeptAlert): number {
  return (
    SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
    (b.updatedAt ?? 0) - (a.updatedAt ?? 0) ||
    ALERT_KINDS.indexOf(a.kind) - ALERT_KINDS.indexOf(b.kind) ||
    (a.id < b.id ? -1 : 1)
  );
}

function toAlertBody(alert: KeptAlert, at: number): z.infer<typeof alertSchema> {
  const { id, kind, category, cause, severity, title, text, url, periods, updatedAt } = alert;
  const stops = alert.stops.map((stop) => ({ stop_id: stop.id, name: stop.name }));
  const runs = alert.runs.flatMap((run) =>
    run.tripId && (run.endsAt === null || runsAt(run, at))
      ? { trip_id: run.tripId, route: run.route, starts_at: formatOrNull(run.startsAt) }
      : [],
  );
  return {
    id,
    kind,
    category,
    cause,
    severity,
    title,
    text,
    url,
    periods: distinctBy(
      periods.map(({ from, until }) => ({ starts_at: formatOrNull(from), ends_at: formatOrNull(until) })),
      ({ starts_at: startsAt, ends_at: endsAt }) => `${startsAt} ${endsAt}`,
    ),
    stops: distinctBy(stops, ({ stop_id: stopId }) => stopId),
    routes: distinctBy(
      alert.routes.map(({ route, mode }) => ({ route, mode })),
      ({ route, mode }) => `${route} ${mode}`,
    ),
    runs: distinctBy(runs, ({ trip_id: tripId, starts_at: startsAt }) => `${tripId} ${startsAt}`),
    updated_at: formatOrNull(updatedAt),
  };
}

/** Keeps the first item for each key. */
function distinctBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.toReversed().map((item) => [keyOf(item), item])).values()].reverse();
}

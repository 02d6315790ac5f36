import { z } from 'zod';
import type { AlertList, KeptAlert } from '../../../alerts/alert-list.ts';
import type { StopRegister } from '../../../stops/register.ts';
import { ALERT_KINDS, holdsAt, runsAt, SEVERITIES } from '../../../transit/alert.ts';
import { type Mode, modeSchema, modesParameter, routesParameter } from '../../../transit/mode.ts';
import { countUpTo, describe, oneOf, optional, withDefault } from '../../../transit/parameter.ts';
import { stopIdParameter } from '../../../transit/place.ts';
import {
  formatTimestamp,
  fromSydneyWallClock,
  timeParameter,
  timestampSchema,
  toSydneyWallClock,
} from '../../../transit/time.ts';
import { defineOperation } from '../../operation.ts';

const alertsQuery = z.object({
  stop: optional(
    describe(
      stopIdParameter,
      'Only what concerns this stop: alerts that name it, its platforms or its station, and those that name only lines, if a line of theirs leaves there.',
      '200070',
    ),
  ),
  routes: optional(
    describe(routesParameter, 'Only alerts that name one of these routes: up to 50 short names with commas between.'),
  ),
  modes: withDefault(modesParameter, 'all'),
  severity: describe(
    withDefault(oneOf(SEVERITIES), 'very_low'),
    'Only alerts that are at least so grave. The authority marks most as `normal`, lifts as `low`.',
  ),
  at: optional(
    describe(
      timeParameter,
      'The alerts that hold at that time: `HHmm` of today, 24 hours, Sydney local time, or day and time as ISO 8601. Without it: now.',
      '2026-11-28T10:00+11:00',
    ),
  ),
  limit: describe(withDefault(countUpTo(300), '50'), 'Maximum number of alerts. Values above 300 count as 300.'),
});
type AlertsQuery = z.infer<typeof alertsQuery>;

const orNull = timestampSchema.nullable();

const alertSchema = z
  .strictObject({
    id: z.string().meta({
      description: 'Identifier: that of the same text in `alert_ids` of boards and journeys',
      example: 'nP3k9QzVx0',
    }),
    kind: z.enum(ALERT_KINDS).meta({
      description:
        'The subject: single runs, lines, stops, lifts and escalators (`facility`), or anything else (`general`)',
    }),
    severity: z.enum(SEVERITIES).meta({ description: 'How grave it is, in the words of the authority' }),
    title: z.string().nullable().meta({ description: 'The heading, often a list of lines; null if there is none' }),
    text: z.string().meta({ description: 'The text as in `alerts` of boards and journeys' }),
    url: z.string().nullable().meta({ description: 'A page about it; null if there is none' }),
    periods: z
      .array(
        z.strictObject({
          starts_at: orNull.meta({ description: 'From when on; null if it has no beginning' }),
          ends_at: orNull.meta({ description: 'Until when; null if no end is known' }),
        }),
      )
      .meta({ description: 'When it holds; empty if the authority does not say' }),
    stops: z
      .array(
        z.strictObject({
          stop_id: z.string().meta({ description: 'Stop identifier', example: '200070' }),
          name: z.string().nullable().meta({ description: 'Stop name; null if unknown', example: 'Town Hall Station' }),
        }),
      )
      .meta({ description: 'The stops that it names' }),
    routes: z
      .array(
        z.strictObject({
          route: z.string().meta({ description: 'Short route name', example: 'T1' }),
          mode: modeSchema,
        }),
      )
      .meta({ description: 'The routes that it names' }),
    runs: z
      .array(
        z.strictObject({
          trip_id: z.string().meta({ description: 'The run, as `include=ids` names it on boards and in journeys' }),
          route: z.string().nullable().meta({ description: 'Short route name; null if unknown' }),
          starts_at: orNull.meta({ description: 'Planned start of the run; null if unknown' }),
        }),
      )
      .meta({ description: 'The runs that it names and that are not over' }),
    updated_at: orNull.meta({ description: 'When the authority last changed it; null if unknown' }),
  })
  .meta({ id: 'Alert', description: 'A disruption notice, and what it is about.' });

export const alertsResponse = z
  .strictObject({
    retrieved_at: timestampSchema.meta({ description: 'When the authority said all this' }),
    alerts: z.array(alertSchema).meta({ description: 'The gravest first, of equal ones the latest' }),
    total: z
      .int()
      .min(0)
      .meta({ description: 'The number of alerts that fit the filters; above `limit` not all are listed', example: 1 }),
  })
  .meta({ id: 'Alerts', description: 'The disruption notices that hold.' });

const exampleBody: z.infer<typeof alertsResponse> = {
  retrieved_at: '2026-11-20T02:00:20Z',
  alerts: [
    {
      id: 'V0_tCkX1mA',
      kind: 'stop',
      severity: 'normal',
      title: 'Station Update - Sydney',
      text: 'Station Update - Sydney: The northern entrance of Town Hall Station is closed for upgrades. Use the main entrance & allow extra time.',
      url: 'https://transportnsw.info/alerts/details#/ems-60211',
      periods: [{ starts_at: '2026-11-16T13:00:00Z', ends_at: null }],
      stops: [{ stop_id: '200070', name: 'Town Hall Station, Sydney' }],
      routes: [],
      runs: [],
      updated_at: '2026-11-16T13:00:00Z',
    },
  ],
  total: 1,
};

/** `GET /v1/alerts` */
export const createAlertsOperation = (options: { list: AlertList; stops: StopRegister }) =>
  defineOperation({
    id: 'listAlerts',
    path: '/v1/alerts',
    tag: 'Stops',
    summary: 'Alerts',
    description:
      'The disruption notices of the whole network that hold now, or at another time, the gravest first. Their `id` is that of `include=ids` on boards and journeys. Permanent notices are left out, unless one must book before travelling or a wheelchair may find no place, and so is what the authority still lists about runs that are over.\n\nA list is good for two minutes; ask again with its `ETag`.',
    query: alertsQuery,
    body: alertsResponse,
    errors: [],
    example: { query: 'stop=200070&severity=normal&limit=5', body: exampleBody },
    tool: {
      description:
        'Disruption notices that hold now or at another time: of a stop, of routes, of modes, or of the whole network, the gravest first. Departures and journeys already carry the alerts of their own.',
      defaults: { limit: '10' },
    },
    stream: {
      id: 'streamAlerts',
      event: 'alerts',
      summary: 'Alerts, as they change',
      description:
        'The alerts as server-sent events: an event `alerts` with the whole response of `/v1/alerts` at the start and whenever it changes, a comment every 15 seconds. All else is as with the stream of departures. Counts as one request a minute.',
    },

    async find(query, { ask, now }) {
      const at = momentOf(query, now());
      const { alerts, leftOut, freshness } = await options.list.read(ask);
      const { isWanted, notices } = filterOf(query, options.stops, now());
      const severities: readonly string[] = SEVERITIES.slice(0, SEVERITIES.indexOf(query.severity) + 1);
      const found = alerts.filter(
        (alert) => severities.includes(alert.severity) && holdsAt(alert, at) && isWanted(alert),
      );
      const distinct = [...Map.groupBy(found, ({ id }) => id).values()].map(mergeAlerts).sort(compareAlerts);
      const body = {
        retrieved_at: formatTimestamp(new Date(freshness.retrievedAt)),
        alerts: distinct.slice(0, query.limit).map((alert) => toBody(alert, at)),
        total: distinct.length,
      };
      return { body, freshness, leftOut, notices };
    },
  });

/** In the hours in which the clocks change, the moment after the change. */
function momentOf({ at }: AlertsQuery, now: Date): number {
  if (at === undefined) return now.getTime();
  const [time = '', date = toSydneyWallClock(now).date] = at.split('T').reverse();
  const moment = fromSydneyWallClock({ date, time }) ?? fromSydneyWallClock({ date, time: '0300' });
  return (moment ?? now).getTime();
}

/** The filters of a query, beside its time and severity. */
function filterOf({ stop: stopId, routes, modes }: AlertsQuery, stops: StopRegister, now: Date) {
  const isOfMode = (alert: KeptAlert) => {
    const named = modesOf(alert);
    return named.length === 0 || named.some((mode) => modes.includes(mode));
  };
  const isOnRoute = ({ routes: named }: KeptAlert) =>
    !routes || named.some(({ route, mode }) => routes.includes(route.toUpperCase()) && modes.includes(mode));
  const isWanted = (alert: KeptAlert) => isOfMode(alert) && isOnRoute(alert);
  if (stopId === undefined) return { isWanted, notices: [] };

  const stop = stops.get(stopId);
  const leaving = stops.linesOf(stopId, now);
  const isAt = ({ id, parent, platforms }: KeptAlert['stops'][number]) =>
    id === stopId || parent === stopId || id === stop?.parent_id || platforms.includes(stopId);
  // Two regions may have buses of one number. Where a network is not known, the number decides.
  const leaves = ({ route, mode, network }: KeptAlert['routes'][number]) =>
    leaving?.some(
      (line) =>
        line.route === route &&
        line.mode === mode &&
        (network === null || line.networks.length === 0 || line.networks.includes(network)),
    );
  const isOfStop = (alert: KeptAlert) =>
    alert.stops.length > 0 ? alert.stops.some(isAt) : alert.routes.length === 0 || alert.routes.some(leaves);
  const text = `The lines of stop ${stopId} are not known: alerts that name only lines are left out.`;
  return {
    isWanted: (alert: KeptAlert) => isOfStop(alert) && isWanted(alert),
    notices: leaving ? [] : [{ text }],
  };
}

/** The modes of the lines that the alert names; where it names none, those of its stops. */
function modesOf({ routes, stops }: KeptAlert): readonly Mode[] {
  return routes.length > 0 ? routes.map(({ mode }) => mode) : stops.flatMap(({ modes }) => modes);
}

/** Upstream repeats a text under several identifiers, each with other stops and lines. */
function mergeAlerts(alerts: readonly KeptAlert[]): KeptAlert {
  const [first] = alerts.toSorted(compareAlerts) as [KeptAlert];
  if (alerts.length === 1) return first;
  return {
    ...first,
    url: alerts.find(({ url }) => url !== null)?.url ?? null,
    periods: alerts.some(({ periods }) => periods.length === 0) ? [] : alerts.flatMap(({ periods }) => periods),
    stops: alerts.flatMap(({ stops }) => stops),
    routes: alerts.flatMap(({ routes }) => routes),
    runs: alerts.flatMap(({ runs }) => runs),
  };
}

function compareAlerts(one: KeptAlert, other: KeptAlert): number {
  return (
    SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity) ||
    (other.updatedAt ?? 0) - (one.updatedAt ?? 0) ||
    ALERT_KINDS.indexOf(one.kind) - ALERT_KINDS.indexOf(other.kind) ||
    (one.id < other.id ? -1 : 1)
  );
}

function toBody(alert: KeptAlert, at: number): z.infer<typeof alertSchema> {
  const { id, kind, severity, title, text, url, periods, updatedAt } = alert;
  const stops = alert.stops.map((stop) => ({ stop_id: stop.id, name: stop.name }));
  const runs = alert.runs.flatMap((run) =>
    run.tripId && (run.endsAt === null || runsAt(run, at))
      ? { trip_id: run.tripId, route: run.route, starts_at: formatOrNull(run.startsAt) }
      : [],
  );
  return {
    id,
    kind,
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

/** The first of each key. */
function distinctBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.toReversed().map((item) => [keyOf(item), item])).values()].reverse();
}

function formatOrNull(moment: number | null): string | null {
  return moment === null ? null : formatTimestamp(new Date(moment));
}

import { z } from 'zod';
import type { AlertList } from '../../alerts/alert-list.ts';
import type { LineDirection } from '../../lines/directions.ts';
import type { LineCatalogue } from '../../lines/lines.ts';
import { routeOf } from '../../routes.ts';
import { freshnessOfList, type StopRegister } from '../../stops/register.ts';
import { alertId } from '../../transit/additional-fields.ts';
import { FRESHNESS_WINDOWS } from '../../transit/freshness.ts';
import { collectionTypeField, formatParameter, geoJsonConstant, lngLatSchema } from '../../transit/geojson.ts';
import { count, field, list, part, record } from '../../transit/schema.ts';
import { formatTimestamp, timestampSchema, toSydneyWallClock } from '../../transit/time.ts';
import { defineOperation, requestedWallClock } from '../operation.ts';
import {
  dateField,
  directionIdField,
  exampleLine,
  exampleStops,
  formatDay,
  freshnessOfDay,
  headsignsField,
  lineFields,
  lineIdQuery,
  lineStopsField,
  noticesOfLeftOut,
  serviceDayQuery,
  toLineBody,
  toStopBody,
} from './line.ts';

const lineQuery = z.object({
  line_id: lineIdQuery,
  date: serviceDayQuery,
  format: formatParameter(
    '`geojson` adds the course of each direction as features of a FeatureCollection (RFC 7946), in which longitude comes first.',
  ),
});

const directionSchema = record('LineDirection', 'One direction of a line on a day.', {
  direction_id: directionIdField,
  headsigns: headsignsField,
  runs: count('Number of runs on this day', 96),
  first_departure_at: field(timestampSchema.nullable(), 'When the first run of the day starts, UTC; null if none runs'),
  last_departure_at: field(timestampSchema.nullable(), 'When the last run of the day starts, UTC; null if none runs'),
  headway_minutes: field(
    z.int().min(0).nullable(),
    'Median minutes between departures, at the stop with most of them; null with fewer than two departures',
    10,
  ),
  stops: lineStopsField,
});

const featureSchema = record('LineFeature', 'The course of a direction as GeoJSON.', {
  type: geoJsonConstant('Feature'),
  geometry: part('The course, simplified for maps; straight between stops if unknown', {
    type: geoJsonConstant('MultiLineString'),
    coordinates: list(z.array(lngLatSchema), 'Longitude and latitude in degrees'),
  }),
  properties: part('Properties for drawing the course', {
    direction_id: directionIdField,
    headsigns: headsignsField,
    route: lineFields.route,
    mode: lineFields.mode,
    color: lineFields.color,
    text_color: lineFields.text_color,
  }),
});

const lineResponse = record('Line', 'A line with its directions, stops and alerts.', {
  ...lineFields,
  date: dateField,
  directions: list(directionSchema, 'One or two directions, with the stops of this day or, if none runs, of all days'),
  alerts: list(
    z.string(),
    'Alerts now in force for the whole line; `/v1/alerts` also has those for single stops and runs',
  ),
  alert_ids: list(z.string(), 'IDs of these alerts, as in /v1/alerts', ['nP3k9QzVx0']),
  type: collectionTypeField,
  features: field(z.array(featureSchema).optional(), 'The course of each direction; only with `format=geojson`'),
});

const exampleBody: z.infer<typeof lineResponse> = {
  ...exampleLine,
  directions: [
    {
      direction_id: 0,
      headsigns: ['Manly'],
      runs: 41,
      first_departure_at: '2026-11-19T18:20:00Z',
      last_departure_at: '2026-11-20T12:40:00Z',
      headway_minutes: 20,
      stops: exampleStops,
    },
  ],
  alerts: [],
  alert_ids: [],
};

interface LineSources {
  lines: LineCatalogue;
  stops: StopRegister;
  alerts: AlertList;
}

/** `GET /v1/lines/{line_id}` */
export const createLineOperation = ({ lines, stops, alerts: list }: LineSources) =>
  defineOperation({
    ...routeOf('getLine'),
    tag: 'Stops',
    summary: 'A line',
    description:
      'One line on a day: its directions with headsigns, ordered stops, first and last departure and headway, by the timetable; and the alerts for the line. With `format=geojson` also its course, to draw on a map. Live times are on boards and runs.',
    query: lineQuery,
    body: lineResponse,
    example: { query: 'line_id=ferry_F1', body: exampleBody },
    tool: {
      description:
        'One line on a day: operator, directions with their stops in order, first and last departure, how often it runs, and its alerts. Get the `line_id` from listLines. For times at each stop use getLineTimetable.',
    },

    async handle(query, { now }) {
      const { date: day } = requestedWallClock(query, now()) ?? toSydneyWallClock(now());
      const { line, directions } = await lines.load(query.line_id, day);
      const { mode, route, network } = line;
      // An empty stop and no run: only alerts for the line apply.
      const lineAlerts = list.alertsOf({ mode, route, network, tripId: null, stopIds: [''], at: now() });
      const alerts = lineAlerts.map(({ text }) => text);
      const lineBody = toLineBody(line);
      const features =
        query.format === 'geojson'
          ? await Promise.all(
              directions.map(async (direction) => ({
                type: 'Feature' as const,
                geometry: {
                  type: 'MultiLineString' as const,
                  coordinates: (await lines.draw(direction)).map((part) =>
                    part.map(([lat, lng]): [number, number] => [lng, lat]),
                  ),
                },
                properties: {
                  direction_id: direction.direction,
                  headsigns: direction.headsigns,
                  route,
                  mode,
                  color: lineBody.color,
                  text_color: lineBody.text_color,
                },
              })),
            )
          : null;
      // Alerts change more often than the timetable.
      const freshUntil = now() + FRESHNESS_WINDOWS.notices.freshMs;
      const staleUntil = freshUntil + FRESHNESS_WINDOWS.notices.staleMs;
      const freshness = { ...freshnessOfList(stops, now()), freshUntil, staleUntil };
      return {
        body: {
          ...lineBody,
          date: formatDay(day),
          directions: directions.map(toDirectionBody),
          alerts,
          alert_ids: alerts.map(alertId),
          ...(features && { type: 'FeatureCollection' as const, features }),
        },
        freshness: freshnessOfDay(query, freshness, now()),
        notices: noticesOfLeftOut(directions),
      };
    },
  });

function toDirectionBody({ direction, headsigns, stops, runs, headwayMinutes }: LineDirection) {
  const starts = runs.map(({ startsAt }) => startsAt);
  const format = (moment: number) => (runs.length === 0 ? null : formatTimestamp(moment));
  return {
    direction_id: direction,
    headsigns,
    runs: runs.length,
    first_departure_at: format(starts.reduce((first, start) => Math.min(first, start), Number.POSITIVE_INFINITY)),
    last_departure_at: format(starts.reduce((last, start) => Math.max(last, start), 0)),
    headway_minutes: headwayMinutes,
    stops: stops.map(toStopBody),
  };
}

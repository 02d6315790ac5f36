import { z } from 'zod';
import type { LineDirection, LineStop } from '../../lines/directions.ts';
import type { Line } from '../../lines/line-index.ts';
import type { Freshness } from '../../transit/freshness.ts';
import { colorsOf, lineColorFields } from '../../transit/line-colour.ts';
import { lineIdField, lineIdParameter } from '../../transit/line-id.ts';
import { modeSchema } from '../../transit/mode.ts';
import { describe, optional } from '../../transit/parameter.ts';
import { latitudeSchema, longitudeSchema } from '../../transit/place.ts';
import { field, list, record, text, textOrNull } from '../../transit/schema.ts';
import { dateParameter, endOfDay } from '../../transit/time.ts';
import type { Notice } from '../operation.ts';

export const lineIdQuery = describe(lineIdParameter, 'A `line_id` from /v1/lines.', 'train_T1');
export const serviceDayQuery = optional(
  dateParameter,
  'The service day as `YYYYMMDD` or `YYYY-MM-DD`, yesterday or later. Runs after midnight belong to the day before. Default: today in Sydney.',
);

export const lineFields = {
  line_id: lineIdField,
  route: text('Short route name', 'T1'),
  name: text('Full name: that of the line or, for buses and coaches, its course', 'T1 North Shore & Western Line'),
  mode: modeSchema,
  operator: textOrNull('Operator; null if unknown', 'Sydney Trains'),
  ...lineColorFields,
};

export const dateField = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/)
  .meta({ format: 'date', description: 'The service day', example: '2026-11-20' });
export const directionIdField = field(
  z.int().min(0).max(1),
  'Direction number, 0 or 1; the same for all runs in one direction',
  0,
);
export const headsignsField = list(z.string(), 'Headsigns, most frequent first', ['Berowra via Gordon']);
export const lineStopsField = list(
  record('LineStop', 'A stop of a line.', {
    stop_id: text('The station, wharf or street stop', '200070'),
    name: text('Stop name', 'Town Hall Station'),
    lat: latitudeSchema,
    lng: longitudeSchema,
  }),
  'All stops of this direction in order; branches follow one another. A stop that loops call at twice is listed twice',
);

export const exampleLine = {
  line_id: 'ferry_F1',
  route: 'F1',
  name: 'F1 Manly',
  mode: 'ferry' as const,
  operator: 'Sydney Ferries',
  color: '00774B',
  text_color: 'FFFFFF',
  date: '2026-11-20',
};
export const exampleStops = [
  { stop_id: '200020', name: 'Circular Quay', lat: -33.861351, lng: 151.210813 },
  { stop_id: '209573', name: 'Manly Wharf', lat: -33.800337, lng: 151.283786 },
];

export function toLineBody({ id, route, name, mode, operator }: Line) {
  return { line_id: id, route, name, mode, operator, ...colorsOf(mode, route) };
}

export function toStopBody({ id, name, lat, lng }: LineStop) {
  return { stop_id: id, name, lat, lng };
}

/** A notice if runs are missing from the table; else none. */
export function noticesOfLeftOut(directions: readonly LineDirection[]): Notice[] {
  const runs = directions.reduce((sum, { leftOut }) => sum + leftOut, 0);
  return runs > 0 ? [{ text: `${runs} runs are left out, because a table with their stops would be too long.` }] : [];
}

/** Without a date, the response is for today in Sydney, and stops being fresh when the day ends. */
export function freshnessOfDay({ date }: { date?: string | undefined }, freshness: Freshness, now: number): Freshness {
  const { freshUntil, staleUntil } = freshness;
  if (date !== undefined) return freshness;
  const end = endOfDay(now);
  return { ...freshness, freshUntil: Math.min(freshUntil, end), staleUntil: Math.min(staleUntil, end) };
}

export function formatDay(date: string): string {
  return `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`;
}

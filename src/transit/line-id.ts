import { z } from 'zod';
import type { Mode } from './mode.ts';
import { readAs, requiredText } from './parameter.ts';

export const lineIdField = z.string().meta({
  description: 'ID for `/v1/lines/{line_id}`; stays the same when the timetable is renewed',
  example: 'train_T1',
});

export const nullableLineIdField = lineIdField.nullable().meta({
  description: 'ID for `/v1/lines/{line_id}`; null if the line is not in the timetable',
});

const LINE_ID = /^[\w.-]{1,100}$/;
const allowed = 'must be a line ID such as train_T1 or 2507_333';

export const lineIdParameter = readAs(requiredText('a line ID such as train_T1'), (text, refuse) => {
  const id = text.trim();
  return LINE_ID.test(id) ? id : refuse(allowed, { hint: `Find IDs with /v1/lines?q=${encodeURIComponent(id)}.` });
}).meta({ type: 'string', pattern: LINE_ID.source });

/** Two operators may have road lines with the same number, but never in one network of rails or ferries. */
const ROAD: readonly Mode[] = ['bus', 'coach', 'schoolbus'];

/**
 * The ID of a route's line. It consists of parts that a new import keeps: the mode or, on roads, the agency, and the short
 * name. For buses it equals the `route_id` of upstream's files.
 */
export function lineIdOf({ mode, route, agencyId }: { mode: Mode; route: string; agencyId: string }): string {
  const owner = (ROAD.includes(mode) && agencyId) || mode;
  return `${owner}_${route}`.replace(/[^\w.]+/g, '-');
}

/** What a caller's name for a line is compared with. `lineId` is null or missing if it is unknown. */
interface NamedLine {
  mode: Mode;
  route: string;
  lineId?: string | null | undefined;
}

/** Whether one of the names, in capitals, is the line's: its short name ("T4") or its ID ("TRAIN_T4"). */
export function isNamed(names: readonly string[], { mode, route, lineId }: NamedLine): boolean {
  if (names.includes(route.toUpperCase())) return true;
  const id = (lineId ?? lineIdOf({ mode, route, agencyId: '' })).toUpperCase();
  if (lineId || !isOnRoad(mode)) return names.includes(id);
  // Without the agency, the number decides.
  const number = id.slice(id.indexOf('_'));
  return names.some((name) => name.endsWith(number));
}

export function isOnRoad(mode: Mode): boolean {
  return ROAD.includes(mode);
}

import type { Mode } from './modes.ts';

/** Modes in which two operators may use the same line number. In the other modes, a short name has one line. */
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

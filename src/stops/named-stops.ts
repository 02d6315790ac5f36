import { parseFlag, parseObject } from '../efa/response/field.ts';
import {
  isRealName,
  listModes,
  parseStopPoint,
  type StopPoint,
  toLocality,
  toOwnPosition,
  withoutLocality,
} from '../efa/stop-point.ts';
import { STOP_ID } from '../transit/region.ts';
import { noStops, type StopRecord, type StopTable } from './table.ts';

/** The trip planner's stops, which the register combines with those of the timetable. */
export interface PlannerStops {
  /** All stops that it lists, including those of the timetable. */
  readonly table: StopTable;
  /** Lists the platforms, stands and poles that it groups under this stop. */
  membersOf(stopId: string): readonly string[];
  onChange(listener: () => void): void;
}

/** The trip planner's stops from a table that never changes. */
export function plannerStops(table: StopTable): PlannerStops {
  const members = new Map<string, string[]>();
  for (const { stop_id, parent_id } of table) {
    if (parent_id === null) continue;
    const existing = members.get(parent_id);
    if (existing) existing.push(stop_id);
    else members.set(parent_id, [stop_id]);
  }
  return { table, membersOf: (stopId) => members.get(stopId) ?? [], onChange() {} };
}

export const noPlannerStops: PlannerStops = plannerStops(noStops());

/** Parses the stops, platforms and poles in the trip planner's list of places. Also returns the groups (`G…`) that only poles refer to. */
export function parseNamedStops(locations: readonly unknown[]): StopRecord[] {
  const stops = new Map<string, StopRecord>();
  const groups = new Map<string, StopRecord>();
  for (const place of locations) {
    const point = parseStopPoint(place);
    const stop = point && parseFlag(parseObject(place)?.isGlobalId) ? parseNamedStop(point) : null;
    if (!point || !stop) continue;
    stops.set(stop.stop_id, stop);
    const [name, suburb] = splitPlace(point.properties?.STOP_NAME_WITH_PLACE) ?? [];
    if (name && suburb && stop.parent_id?.startsWith('G')) {
      groups.set(stop.parent_id, {
        ...stop,
        stop_id: stop.parent_id,
        name,
        suburb,
        parent_id: null,
        is_platform: false,
      });
    }
  }
  return [...new Map([...groups, ...stops]).values()];
}

/**
 * Null if the place is not a stop. Parents in the list are not used as stops, because at stations they have the name of the
 * platform. Modes of platforms are left out, because upstream gives those of the whole station.
 */
function parseNamedStop(point: StopPoint): StopRecord | null {
  const isStop = point.type === 'stop' || point.type === 'platform';
  if (!point.id || !isStop || !STOP_ID.test(point.id)) return null;
  // A platform with the ID of its station would overwrite the station's name and position. Poles have a STOP_GLOBAL_ID.
  if (point.type === 'platform' && point.parent?.id === point.id && !point.properties?.STOP_GLOBAL_ID) return null;
  const [name, suburb] = parseNames(point);
  const position = toOwnPosition(point);
  if (!isRealName(name) || !position) return null;
  const parentId = point.properties?.STOP_GLOBAL_ID ?? point.parent?.id ?? point.id;
  const hasParent = parentId !== point.id && STOP_ID.test(parentId);
  return {
    stop_id: point.id,
    name,
    suburb,
    lat: position[0],
    lng: position[1],
    modes: hasParent ? [] : listModes(point),
    parent_id: hasParent ? parentId : null,
    is_platform: hasParent,
  };
}

/** In lists of stops around a place, a stop's suburb appears only at the end of its name. */
function parseNames(point: StopPoint): readonly [name: string, suburb: string] {
  const split = point.type === 'stop' ? splitPlace(point.properties?.STOP_NAME_WITH_PLACE) : null;
  const name = withoutLocality(point, point.disassembledName ?? point.name)?.trim() ?? '';
  return split ?? [name, toLocality(point) ?? ''];
}

/** "Town Hall Station, Sydney" */
function splitPlace(name = ''): readonly [name: string, suburb: string] | null {
  const comma = name.lastIndexOf(', ');
  return comma > 0 && isRealName(name) ? [name.slice(0, comma), name.slice(comma + 2)] : null;
}

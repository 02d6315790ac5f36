import { AUSTRALIA } from '../../transit/region.ts';
import { parseFlag } from '../../transit/vehicle-access.ts';
import { findFerryHub } from '../ferry-hubs.ts';
import type { LeftOutCounter } from './left-out.ts';
import type { ScheduleStop } from './schedule-file.ts';
import type { ScheduleZip } from './zip.ts';

const MAX_TEXT = 200;
/** Stops and stations. Entrances, nodes of paths and boarding areas have other types. */
const STOPS_AND_STATIONS: readonly string[] = ['', '0', '1'];
/** Entrances, taxi ranks and car parks of the bundle have no type: "222710_ENT6", "222710_TXI1", "222710_KAR1". */
const NODE_ID = /_[A-Z]{3}\d{1,9}$/;

/** Returns the stops by id, in the order of the file; ferry hubs come last. */
export async function loadStops(zip: ScheduleZip, leftOut: LeftOutCounter): Promise<Map<string, ScheduleStop>> {
  const stops = new Map<string, ScheduleStop>();
  const table = {
    name: 'stops.txt',
    required: ['stop_id', 'stop_name', 'stop_lat', 'stop_lon'],
    optional: ['location_type', 'parent_station', 'wheelchair_boarding', 'platform_code'],
  } as const;
  await zip.loadRows(table, (row, at) => {
    const type = row.text(at.location_type);
    const [id, name] = [row.text(at.stop_id), row.text(at.stop_name)];
    if (!STOPS_AND_STATIONS.includes(type) || NODE_ID.test(id)) return leftOut.add('entrance, node or boarding area');
    const [lat, lng] = [row.decimal(at.stop_lat), row.decimal(at.stop_lon)];
    const isPlaced = lat > AUSTRALIA.south && lat < AUSTRALIA.north && lng > AUSTRALIA.west && lng < AUSTRALIA.east;
    const isNamed = id !== '' && name !== '' && id.length <= MAX_TEXT && name.length <= MAX_TEXT;
    if (!isNamed || !isPlaced) return leftOut.add('stop without id, name or position');
    stops.set(id, {
      id,
      name,
      lat,
      lng,
      parentId: row.text(at.parent_station) || null,
      isStation: type === '1',
      platformCode: row.text(at.platform_code) || null,
      wheelchair: parseFlag(row.text(at.wheelchair_boarding)),
    });
  });
  return moveToHubs(stops);
}

/** Assigns the wharves to the trip planner's stops and removes their previous parents. */
function moveToHubs(stops: Map<string, ScheduleStop>): Map<string, ScheduleStop> {
  const oldParents = new Set<string>();
  for (const stop of [...stops.values()]) {
    const hub = findFerryHub(stop.id);
    if (!hub) continue;
    if (stop.parentId && stop.parentId !== hub.id) oldParents.add(stop.parentId);
    const { lat, lng, wheelchair } = stops.get(stop.parentId ?? '') ?? stop;
    if (!stops.has(hub.id)) {
      stops.set(hub.id, { ...hub, lat, lng, parentId: null, isStation: true, platformCode: null, wheelchair });
    }
    stop.parentId = hub.id;
    stop.isStation = false;
  }
  for (const id of oldParents) if (stops.get(id)?.isStation && !findFerryHub(id)) stops.delete(id);
  return stops;
}

import { packAccess } from '../../transit/vehicle-access.ts';
import type { Services } from './calendar.ts';
import type { LeftOutCounter } from './left-out.ts';
import { isEmptyRoute } from './passenger-trips.ts';
import type { Routes } from './routes.ts';
import type { ScheduleShapes, ScheduleTrip } from './schedule-file.ts';
import type { ScheduleZip } from './zip.ts';

type TripRecord = Omit<ScheduleTrip, 'callCount'>;

/** The trips, and their indices by id; -1 for trips that are left out. */
export interface TripList {
  trips: TripRecord[];
  indexes: ReadonlyMap<string, number>;
}

export async function loadTrips(
  zip: ScheduleZip,
  { routes, services, shapes }: { routes: Routes; services: Services; shapes: ScheduleShapes },
  leftOut: LeftOutCounter,
): Promise<TripList> {
  const trips: TripRecord[] = [];
  const indexes = new Map<string, number>();
  // Many trips share a headsign or a block: use one string for each.
  const texts = new Map<string, string>();
  const share = (text: string) => {
    const cached = texts.get(text);
    if (cached === undefined) texts.set(text, text);
    return cached ?? text;
  };
  const table = {
    name: 'trips.txt',
    required: ['route_id', 'service_id', 'trip_id'],
    optional: ['trip_headsign', 'block_id', 'direction_id', 'wheelchair_accessible', 'bikes_allowed', 'shape_id'],
  } as const;
  await zip.loadRows(table, (row, at) => {
    const [id, routeId] = [row.text(at.trip_id), row.text(at.route_id)];
    const leaveOut = (reason: string) => {
      if (!indexes.has(id)) indexes.set(id, -1);
      leftOut.add(reason);
    };
    if (id === '') return leftOut.add('trip without id');
    if (isEmptyRoute(routeId)) return leaveOut('empty train');
    const route = routes.indexes.get(routeId);
    if (route === undefined) return leaveOut('trip of an unknown route');
    const service = services.indexes.get(row.text(at.service_id));
    if (service === undefined) return leaveOut('trip that never runs');
    if (indexes.has(id)) return leftOut.add('repeated trip');
    indexes.set(id, trips.length);
    trips.push({
      id,
      route,
      service,
      headsign: share(row.text(at.trip_headsign)),
      blockId: share(row.text(at.block_id)) || null,
      direction: row.text(at.direction_id) === '1' ? 1 : 0,
      access: packAccess(row.text(at.wheelchair_accessible), row.text(at.bikes_allowed)),
      shape: shapes.ids.get(row.text(at.shape_id)) ?? -1,
      calls: trips.length,
      shift: 0,
      headway: 0,
    });
  });
  return { trips, indexes };
}

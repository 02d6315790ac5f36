import bindings from 'gtfs-realtime-bindings';
import { wayBetween } from '../network/geometry.ts';
import { BUS, distanceMetres, type LatLng, TRAIN } from '../network/network.ts';
import {
  cancellationOf,
  delaySeconds,
  EXTRA_RUN_DELAY_SECONDS,
  isReplaced,
  isReported,
  isTracked,
  occupancyOf,
} from '../timetable/realtime.ts';
import { classOf, extraTripId, plannedSeconds, type Run, realtimeTripId } from '../timetable/run.ts';
import { trait } from '../trait.ts';
import { carriagesOf, OCCUPANCY_NUMBERS, own, tripOf } from './run-updates.ts';

const { ScheduleRelationship } = bindings.transit_realtime.TripDescriptor;
const { VehicleStopStatus } = bindings.transit_realtime.VehiclePosition;

/** Numbers of a run's traits. */
const REPORTED = 16;
const SILENT = 17;
const OLDEST_REPORT_SECONDS = 20;
/** Vehicles whose last report stays in the feed. */
const SILENT_SHARE = 0.02;
const SILENT_AFTER_SECONDS = 300;

const OBSERVED = 3;

/** A feed's report of the vehicle of a run; null while it is not on its way, or not tracked. */
export function positionOfRun(run: Run, nowSeconds: number): bindings.transit_realtime.IVehiclePosition | null {
  const isCancelled = cancellationOf(run) === 'trip';
  if (!isReported(run, nowSeconds) || !isTracked(run, nowSeconds) || (isCancelled && !isReplaced(run))) return null;
  const leaves = (call: number) =>
    plannedSeconds(run, call) + (isCancelled ? EXTRA_RUN_DELAY_SECONDS : delaySeconds(run, call));
  const last = run.pattern.points.length - 1;
  if (nowSeconds < leaves(0) || nowSeconds >= leaves(last)) return null;
  const isSilent = trait(run.seed, SILENT) < SILENT_SHARE;
  const ageSeconds = Math.floor(OLDEST_REPORT_SECONDS * trait(run.seed, REPORTED));
  const latest = isSilent ? Math.min(nowSeconds, leaves(0) + SILENT_AFTER_SECONDS) : nowSeconds;
  const timestamp = Math.max(leaves(0), latest - ageSeconds);
  const from = run.pattern.points.findLastIndex((_, call) => leaves(call) <= timestamp);
  const share = (timestamp - leaves(from)) / (leaves(from + 1) - leaves(from));
  const { at, bearing } = alongWay(wayBetween(run.pattern, from, from + 1), share);
  const next = run.pattern.points[from + 1]?.point.id ?? '';
  const isTrain = classOf(run) === TRAIN;
  const occupancy = isCancelled ? undefined : occupancyOf(run, from);
  const { headsign, wheelchairAccessible } = run.pattern.pattern;
  return {
    trip: {
      tripId: isCancelled ? extraTripId(run) : realtimeTripId(run),
      ...tripOf(run),
      scheduleRelationship: isCancelled ? ScheduleRelationship.ADDED : ScheduleRelationship.SCHEDULED,
    },
    // Trains report no bearing, and the signal where they are.
    position: { latitude: at[0], longitude: at[1], ...(!isTrain && { bearing }) },
    timestamp,
    ...(isTrain
      ? { stopId: `Sydney.SM${next.slice(-4)} Loc` }
      : { stopId: next, currentStopSequence: from + 2, currentStatus: VehicleStopStatus.IN_TRANSIT_TO }),
    vehicle: {
      id: `${classOf(run)}-${run.seed >>> 0}`,
      ...(isTrain && { label: `${nameOf(run, 0)} Station to ${headsign} Station ` }),
      ...(classOf(run) === BUS &&
        wheelchairAccessible !== null && { $unknowns: [own([2 << 3, wheelchairAccessible ? 1 : 2])] }),
    },
    ...(occupancy && { occupancyStatus: OCCUPANCY_NUMBERS[occupancy] }),
    $unknowns: carriagesOf(run, from, { field: OBSERVED, occupancy }),
  };
}

function nameOf(run: Run, call: number): string {
  return run.pattern.points[call]?.home.stop.name ?? '';
}

/** The place after a share of the way, and its direction in degrees. */
function alongWay(way: readonly LatLng[], share: number): { at: LatLng; bearing: number } {
  const lengths = way.slice(1).map((to, index) => metresBetween(way[index] as LatLng, to));
  let left = share * lengths.reduce((sum, length) => sum + length, 0);
  const leg = Math.max(
    0,
    lengths.findIndex((length) => {
      if (left <= length) return true;
      left -= length;
      return false;
    }),
  );
  const [from, to] = [way[leg] as LatLng, (way[leg + 1] ?? way[leg]) as LatLng];
  const part = lengths[leg] ? left / lengths[leg] : 0;
  const east = (to[1] - from[1]) * Math.cos((from[0] * Math.PI) / 180);
  const bearing = (Math.atan2(east, to[0] - from[0]) * (180 / Math.PI) + 360) % 360;
  return { at: [from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])], bearing };
}

function metresBetween(from: LatLng, to: LatLng): number {
  return distanceMetres({ lat: from[0], lng: from[1] }, { lat: to[0], lng: to[1] });
}

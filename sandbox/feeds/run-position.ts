import bindings from 'gtfs-realtime-bindings';
import { BUS, distanceMetres, type Position, TRAIN } from '../network/network.ts';
import { pathBetween } from '../network/network-index.ts';
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
import { carriagesOf, OCCUPANCY_NUMBERS, ownExtension, tripOf } from './run-updates.ts';

const { ScheduleRelationship } = bindings.transit_realtime.TripDescriptor;
const { VehicleStopStatus } = bindings.transit_realtime.VehiclePosition;

/* Trait numbers of a run. */
const REPORTED = 16;
const SILENT = 17;
const OLDEST_REPORT_SECONDS = 20;
/** The share of vehicles that fall silent, with their last report staying in the feed. */
const SILENT_SHARE = 0.02;
const SILENT_AFTER_SECONDS = 300;

const OBSERVED_FIELD = 3;

/** A feed's report of the vehicle of a run; null if it is not in service or not tracked. */
export function positionOfRun(run: Run, nowSeconds: number): bindings.transit_realtime.IVehiclePosition | null {
  const isCancelled = cancellationOf(run) === 'trip';
  if (!isReported(run, nowSeconds) || !isTracked(run, nowSeconds) || (isCancelled && !isReplaced(run))) return null;
  const leavesAt = (call: number) =>
    plannedSeconds(run, call) + (isCancelled ? EXTRA_RUN_DELAY_SECONDS : delaySeconds(run, call));
  const last = run.pattern.points.length - 1;
  if (nowSeconds < leavesAt(0) || nowSeconds >= leavesAt(last)) return null;
  const isSilent = trait(run.seed, SILENT) < SILENT_SHARE;
  const ageSeconds = Math.floor(OLDEST_REPORT_SECONDS * trait(run.seed, REPORTED));
  const latest = isSilent ? Math.min(nowSeconds, leavesAt(0) + SILENT_AFTER_SECONDS) : nowSeconds;
  const timestamp = Math.max(leavesAt(0), latest - ageSeconds);
  const from = run.pattern.points.findLastIndex((_, call) => leavesAt(call) <= timestamp);
  const share = (timestamp - leavesAt(from)) / (leavesAt(from + 1) - leavesAt(from));
  const { at, bearing } = positionAlong(pathBetween(run.pattern, from, from + 1), share);
  const next = run.pattern.points[from + 1]?.id ?? '';
  const isTrain = classOf(run) === TRAIN;
  const occupancy = isCancelled ? undefined : occupancyOf(run, from);
  const { headsign, wheelchairAccessible } = run.pattern;
  return {
    trip: {
      tripId: isCancelled ? extraTripId(run) : realtimeTripId(run),
      ...tripOf(run),
      scheduleRelationship: isCancelled ? ScheduleRelationship.ADDED : ScheduleRelationship.SCHEDULED,
    },
    // Trains report no bearing, and a signal as their stop.
    position: { latitude: at.lat, longitude: at.lng, ...(!isTrain && { bearing }) },
    timestamp,
    ...(isTrain
      ? { stopId: `Sydney.SM${next.slice(-4)} Loc` }
      : { stopId: next, currentStopSequence: from + 2, currentStatus: VehicleStopStatus.IN_TRANSIT_TO }),
    vehicle: {
      id: `${classOf(run)}-${run.seed >>> 0}`,
      ...(isTrain && { label: `${run.pattern.points[0]?.home.name} Station to ${headsign} Station ` }),
      ...(classOf(run) === BUS &&
        wheelchairAccessible !== null && { $unknowns: [ownExtension([2 << 3, wheelchairAccessible ? 1 : 2])] }),
    },
    ...(occupancy && { occupancyStatus: OCCUPANCY_NUMBERS[occupancy] }),
    $unknowns: carriagesOf(run, from, { field: OBSERVED_FIELD, occupancy }),
  };
}

/** The position after a share of the path, and the direction there in degrees. */
function positionAlong(path: readonly Position[], share: number): { at: Position; bearing: number } {
  const metres = path.slice(1).map((to, leg) => distanceMetres(path[leg] as Position, to));
  let remainingMetres = share * metres.reduce((sum, length) => sum + length, 0);
  let leg = 0;
  while (leg < metres.length - 1 && remainingMetres > (metres[leg] ?? 0)) {
    remainingMetres -= metres[leg] ?? 0;
    leg++;
  }
  const from = path[leg] as Position;
  const to = path[leg + 1] ?? from;
  const part = remainingMetres / (metres[leg] || 1);
  const [north, east] = [to.lat - from.lat, to.lng - from.lng];
  const bearing = Math.atan2(east * Math.cos((from.lat * Math.PI) / 180), north) * (180 / Math.PI);
  return { at: { lat: from.lat + part * north, lng: from.lng + part * east }, bearing: (bearing + 360) % 360 };
}

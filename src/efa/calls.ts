import { MINUTE_MS } from '../core/clock.ts';
import type { Call, RunCall, RunCalls } from '../transit/call.ts';
import type { Departure } from '../transit/departure.ts';
import type { Mode } from '../transit/mode.ts';
import type { Position } from '../transit/place.ts';
import { isTimedCall } from './payload.ts';
import { isCancelled, toTimes } from './realtime.ts';
import { firstElements, type JsonObject, parseIdentifier, parseObject, parseStrings } from './response/field.ts';
import {
  listIds,
  parseStopPoint,
  parseTimedStopPoint,
  type TimedStopPoint,
  toOccupancy,
  toPlatform,
  toPosition,
  toStopId,
  toStopName,
} from './stop-point.ts';

/** A longer list of calls counts as incomplete. No run has as many. */
const MAX_CALLS = 200;

/** Null for a stop without an ID. `positionOf` gives the position of stops that have none themselves. */
export function mapCall(
  point: TimedStopPoint | undefined,
  { mode, isTracked, positionOf }: { mode: Mode; isTracked: boolean; positionOf?: (stopId: string) => Position | null },
): Call | null {
  const stopId = point && toStopId(point);
  if (!stopId) return null;
  const name = toStopName(point) ?? stopId;
  return {
    stopId,
    name,
    platform: toPlatform(point, mode, name),
    position: toPosition(point) ?? positionOf?.(stopId) ?? null,
    arrival: toTimes(point.arrival, isTracked),
    departure: toTimes(point.departure, isTracked),
    occupancy: toOccupancy(point.properties?.occupancy),
  };
}

/** The calls of a departure's run, from the unparsed departure record. */
export function mapRunCalls(record: unknown, departure: Departure): RunCalls {
  const event = parseObject(record);
  const point = parseStopPoint(event?.location);
  const isRunCancelled = isCancelled('arrival', undefined, parseStrings(event?.realtimeStatus));
  const mapAll = (list: unknown): RunCall[] | null => {
    const elements = firstElements(list, MAX_CALLS + 1);
    // Upstream also lists stations that a train passes, without times.
    const calls = elements
      .filter(isTimedCall)
      .map((element) => mapRunCall(parseObject(element), departure, isRunCancelled));
    const isComplete = elements.length <= MAX_CALLS && calls.every((call) => call !== null);
    return isComplete && calls.length > 0 ? (calls as RunCall[]) : null;
  };
  const after = mapAll(event?.onwardLocations);
  const isHere = ({ stopId, departure: leaves }: RunCall) =>
    stopId === departure.stopId && leaves?.plannedAt === departure.plannedAt;
  const isLater = ({ arrival, departure: leaves }: RunCall) =>
    // Planned times of boards are rounded down to the minute.
    ((arrival ?? leaves)?.plannedAt ?? 0) >= departure.plannedAt - MINUTE_MS;
  return {
    position: point ? toPosition(point) : null,
    ids: point ? listIds(point) : [],
    before: (mapAll(event?.previousLocations) ?? []).filter((call) => !isHere(call)),
    after: after?.every(isLater) ? after.filter((call) => !isHere(call)) : null,
  };
}

function mapRunCall(record: JsonObject | undefined, departure: Departure, isRunCancelled: boolean): RunCall | null {
  const point = parseTimedStopPoint(record);
  const call = mapCall(point, { mode: departure.mode, isTracked: departure.state.kind === 'live' });
  if (!point || !call) return null;
  const properties = parseObject(record?.properties);
  const nextRunId = parseIdentifier(properties?.realtimeTripId ?? properties?.RealtimeTripId)?.trim();
  const parentId = parseIdentifier(record?.parentId);
  const isCancelledHere = isRunCancelled || isCancelled('arrival', undefined, point.properties?.realtimeStatus);
  return {
    ...call,
    ids: [...listIds(point), ...(parentId === undefined ? [] : [parentId])],
    isCancelled: isCancelledHere,
    ...(nextRunId && nextRunId !== departure.runId && { nextRunId }),
  };
}

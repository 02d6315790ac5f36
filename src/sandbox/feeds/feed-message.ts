import { messageField, numberField, textField } from './protobuf.ts';
import {
  STOP_RELATIONSHIPS,
  type StopTime,
  type StopUpdate,
  TRIP_RELATIONSHIPS,
  type TripUpdate,
} from './trip-update.ts';

const FULL_DATASET = 0;

/** A feed in protobuf. The numbers of the fields are those of GTFS-realtime, but for the occupancy of a stop update. */
export function feedMessage(epochSeconds: number, trips: readonly TripUpdate[]): Buffer {
  const header = [textField(1, '2.0'), numberField(2, FULL_DATASET), numberField(3, epochSeconds)];
  return Buffer.concat([messageField(1, header), ...trips.map((trip) => messageField(2, entity(trip, epochSeconds)))]);
}

function entity(trip: TripUpdate, epochSeconds: number): Buffer[] {
  const { tripId, routeId, start, relationship, stopUpdates } = trip;
  const descriptor = [
    textField(1, tripId),
    ...(start ? [textField(2, start.time), textField(3, start.date)] : []),
    numberField(4, TRIP_RELATIONSHIPS[relationship]),
    textField(5, routeId),
  ];
  const stops = stopUpdates.map((update) => messageField(2, stopUpdate(update)));
  return [textField(1, tripId), messageField(3, [messageField(1, descriptor), ...stops, numberField(4, epochSeconds)])];
}

function stopUpdate({ stopId, sequence, relationship, arrival, departure, occupancy }: StopUpdate): Buffer[] {
  return [
    ...(sequence === undefined ? [] : [numberField(1, sequence)]),
    ...(arrival ? [messageField(2, stopTime(arrival))] : []),
    ...(departure ? [messageField(3, stopTime(departure))] : []),
    textField(4, stopId),
    numberField(5, STOP_RELATIONSHIPS[relationship]),
    // The standard has another meaning for this field.
    ...(occupancy === undefined ? [] : [numberField(6, occupancy)]),
  ];
}

function stopTime({ delaySeconds, epochSeconds }: StopTime): Buffer[] {
  return [
    ...(delaySeconds === undefined ? [] : [numberField(1, delaySeconds)]),
    ...(epochSeconds === undefined ? [] : [numberField(2, epochSeconds)]),
  ];
}

import { createMessageWriter, type MessageWriter } from './protobuf.ts';
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
  const writer = createMessageWriter();
  writer.message(1, () => {
    writer.text(1, '2.0');
    writer.number(2, FULL_DATASET);
    writer.number(3, epochSeconds);
  });
  for (const trip of trips) {
    writer.message(2, () => {
      writer.text(1, trip.tripId);
      writer.message(3, () => writeTripUpdate(writer, trip, epochSeconds));
    });
  }
  return writer.finish();
}

function writeTripUpdate(writer: MessageWriter, trip: TripUpdate, epochSeconds: number): void {
  const { tripId, routeId, start, relationship, stopUpdates } = trip;
  writer.message(1, () => {
    writer.text(1, tripId);
    if (start) {
      writer.text(2, start.time);
      writer.text(3, start.date);
    }
    writer.number(4, TRIP_RELATIONSHIPS[relationship]);
    writer.text(5, routeId);
  });
  for (const update of stopUpdates) writer.message(2, () => writeStopUpdate(writer, update));
  writer.number(4, epochSeconds);
}

function writeStopUpdate(writer: MessageWriter, update: StopUpdate): void {
  const { stopId, sequence, relationship, arrival, departure, occupancy } = update;
  if (sequence !== undefined) writer.number(1, sequence);
  if (arrival) writer.message(2, () => writeStopTime(writer, arrival));
  if (departure) writer.message(3, () => writeStopTime(writer, departure));
  writer.text(4, stopId);
  writer.number(5, STOP_RELATIONSHIPS[relationship]);
  // The standard has another meaning for this field.
  if (occupancy !== undefined) writer.number(6, occupancy);
}

function writeStopTime(writer: MessageWriter, { delaySeconds, epochSeconds }: StopTime): void {
  if (delaySeconds !== undefined) writer.number(1, delaySeconds);
  if (epochSeconds !== undefined) writer.number(2, epochSeconds);
}

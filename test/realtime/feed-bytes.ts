import bindings from 'gtfs-realtime-bindings';
import { Feed } from '#src/realtime/feed/feed.ts';
import { parseFeed } from '#src/realtime/feed/feed-reader.ts';
import { STOP, TRIP } from '#src/realtime/feed/packed-feed.ts';

const { FeedMessage } = bindings.transit_realtime;

/** A feed as tests write it: numbers as in GTFS-realtime, times in Unix seconds. */
export interface FeedSpec {
  timestamp: number;
  trips?: TripSpec[];
  vehicles?: bindings.transit_realtime.IVehiclePosition[];
}

export interface TripSpec {
  tripId?: string;
  startDate?: string;
  startTime?: string;
  routeId?: string;
  scheduleRelationship?: number;
  /** The delay of the whole trip, in seconds. */
  delay?: number;
  timestamp?: number;
  /** What a DUPLICATED trip is. */
  copy?: { tripId?: string; startDate?: string; startTime?: string };
  stops?: StopSpec[];
}

export interface StopSpec {
  stopId?: string;
  stopSequence?: number;
  scheduleRelationship?: number;
  arrival?: TimeSpec;
  departure?: TimeSpec;
  /** Field 6 as upstream uses it. */
  occupancy?: number;
  /** Field 6 of the standard. */
  assignedStopId?: string;
  /** What riders may do today, numbered as in `stop_times.txt`. */
  pickupType?: number;
  dropOffType?: number;
  /** Upstream's field 1007. */
  carriages?: { position?: number; occupancy?: number }[];
}

interface TimeSpec {
  delay?: number;
  time?: number;
  /** The planned time. */
  scheduledTime?: number;
}

/** Encodes with the reference bindings. They know only standard fields, so upstream's are appended raw. */
export function encodeFeed({ timestamp, trips = [], vehicles = [] }: FeedSpec): Buffer {
  const ofTrips = trips.map(({ stops = [], delay, timestamp: updatedAt, copy, ...trip }, index) => ({
    id: String(index),
    tripUpdate: {
      trip,
      ...(delay !== undefined && { delay }),
      ...(updatedAt !== undefined && { timestamp: updatedAt }),
      ...(copy && { tripProperties: copy }),
      stopTimeUpdate: stops.map(({ occupancy, assignedStopId, pickupType, dropOffType, carriages = [], ...stop }) => ({
        ...stop,
        ...([assignedStopId, pickupType, dropOffType].some((one) => one !== undefined) && {
          stopTimeProperties: {
            ...(assignedStopId !== undefined && { assignedStopId }),
            ...(pickupType !== undefined && { pickupType }),
            ...(dropOffType !== undefined && { dropOffType }),
          },
        }),
        $unknowns: [
          ...(occupancy === undefined ? [] : [Uint8Array.of(0x30, occupancy)]),
          ...carriages.map((one) => new Uint8Array(carriageField(one))),
        ],
      })),
    },
  }));
  const entity = [...ofTrips, ...vehicles.map((vehicle, index) => ({ id: `v${index}`, vehicle }))];
  const header = { gtfsRealtimeVersion: '2.0', timestamp };
  return Buffer.from(FeedMessage.encode({ header, entity }).finish());
}

/** A carriage of a stop update. */
export function carriageField({ position, occupancy }: NonNullable<StopSpec['carriages']>[number]): Buffer {
  const fields = [
    [2, position],
    [7, occupancy],
  ] as const;
  return field(
    1007,
    2,
    ...fields.flatMap(([number, value]) => (value === undefined ? [] : [field(number, 0, varint(value))])),
  );
}

export function feedOf(spec: FeedSpec): Feed {
  return new Feed(parseFeed(encodeFeed(spec)));
}

/** The trips of a feed in its order, or those with this identifier. */
export function tripsOf(feed: Feed, tripId?: string) {
  const trips = Array.from({ length: feed.tripCount }, (_, index) => feed.trip(index * TRIP.words));
  return trips.filter((trip) => tripId === undefined || trip.tripId === tripId);
}

/** The loads of the carriages at each stop update of a feed, in its order. */
export function loadsOf(feed: Feed): ((number | null)[] | null)[] {
  const loads = new Map(feed.carriages());
  return Array.from({ length: feed.stops.length / STOP.words }, (_, update) => loads.get(update) ?? null);
}

/** The header timestamp of feeds written field by field: 2026-01-14 13:27:25 in Sydney. */
export const TIMESTAMP = 1_768_357_645;
export const header = field(1, 2, field(3, 0, varint(TIMESTAMP)));
export const text = (value: string) => Buffer.from(value);
/** An entity with the fields of a trip update. */
export const entity = (...tripUpdate: Buffer[]) => field(2, 2, field(1, 2, text('1')), field(3, 2, ...tripUpdate));
/** The trip of a trip update. */
export const trip = (id: string, ...more: Buffer[]) => field(1, 2, field(1, 2, text(id)), ...more);
export const read = (...entities: Buffer[]) => new Feed(parseFeed(Buffer.concat([header, ...entities])));

/** A field of the protobuf wire format, for bytes that no encoder would write. */
export function field(number: number, wireType: number, ...content: (number | Uint8Array)[]): Buffer {
  const bytes = Buffer.concat(content.map((part) => (typeof part === 'number' ? Buffer.of(part) : part)));
  const tag = varint(number * 8 + wireType);
  return wireType === 2 ? Buffer.concat([tag, varint(bytes.length), bytes]) : Buffer.concat([tag, bytes]);
}

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

import { FeedPacker, MAX_CARRIAGES, NONE, packCarriages, STOP, TRIP, VEHICLE } from './packed-feed.ts';
import {
  type Cursor,
  floatTag,
  lengthTag,
  MalformedMessage,
  readFloat,
  readLength,
  readTag,
  readText,
  readVarint,
  skipField,
  varintTag,
} from './wire.ts';

/*
 * The fields of GTFS-realtime that we read, by their tags in the wire format
 * (https://gtfs.org/documentation/realtime/proto/).
 */

const FEED = { header: lengthTag(1), entity: lengthTag(2) };
const FEED_HEADER = { incrementality: varintTag(2), timestamp: varintTag(3) };
const ENTITY = { isDeleted: varintTag(2), tripUpdate: lengthTag(3), vehicle: lengthTag(4) };
const TRIP_UPDATE = { trip: lengthTag(1), stopTimeUpdate: lengthTag(2) };
const TRIP_DESCRIPTOR = {
  tripId: lengthTag(1),
  startTime: lengthTag(2),
  startDate: lengthTag(3),
  relationship: varintTag(4),
  routeId: lengthTag(5),
};
/** The number of all of upstream's own fields. */
const OWN = 1007;
const VEHICLE_POSITION = {
  trip: lengthTag(1),
  position: lengthTag(2),
  reportedAt: varintTag(5),
  stopId: lengthTag(7),
  vehicle: lengthTag(8),
  occupancy: varintTag(9),
  carriage: lengthTag(OWN),
};
const POSITION = { lat: floatTag(1), lng: floatTag(2), bearing: floatTag(3) };
const VEHICLE_DESCRIPTOR = { id: lengthTag(1), label: lengthTag(2), wheelchair: varintTag(4), own: lengthTag(OWN) };
const OWN_DESCRIPTOR = { wheelchair: varintTag(2), isOnEarlierTrip: varintTag(4) };
/** A vehicle tells how full a carriage is, a stop update how full it is predicted to be when it leaves. */
const CARRIAGE = { position: varintTag(2), occupancy: varintTag(3), departureOccupancy: varintTag(7) };
const STOP_TIME_UPDATE = {
  sequence: varintTag(1),
  arrival: lengthTag(2),
  departure: lengthTag(3),
  stopId: lengthTag(4),
  relationship: varintTag(5),
  /** Upstream's own. The standard has a message in field 6, which is passed over like any unknown field. */
  occupancy: varintTag(6),
  carriage: lengthTag(OWN),
};
const STOP_TIME_EVENT = { delay: varintTag(1), time: varintTag(2) };

/** The incrementality of a feed that holds only what has changed. */
const DIFFERENTIAL = 1;

/** The largest feed (buses) has 7 MB, 4,500 trips and 160,000 stop updates. */
export const MAX_FEED_BYTES = 32 * 1024 * 1024;
const MAX_ENTITIES = 20_000;
const MAX_STOP_UPDATES = 500_000;
const MAX_IDENTIFIERS = 100_000;
/** Identifiers of upstream have up to 35 characters. */
const MAX_TEXT_LENGTH = 100;
const MAX_DELAY_SECONDS = 24 * 3600;
const MAX_SEQUENCE = 100_000;
/** In the standard's numbers 2 is accessible and 3 is not, in upstream's own 1 is and 2 is not. */
const WHEELCHAIR = { yes: 2, no: 3 };
const START_TIME = /^(\d{1,3}):([0-5]\d):([0-5]\d)$/;

/** The bytes are not a feed, or not one that can be used. The message says why. */
export class UndecodableFeed extends Error {
  override readonly name = 'UndecodableFeed';
}

/** The state of one reading. The rows and the carriages are used again for every trip, stop update and vehicle. */
interface Reading {
  cursor: Cursor;
  packer: FeedPacker;
  trip: Int32Array;
  stop: Int32Array;
  vehicle: Int32Array;
  isOnEarlierTrip: boolean;
  /** How full the carriages of one train are, by their positions. */
  carriages: Map<number, number>;
  headerSeconds: number;
  isDifferential: boolean;
  entities: number;
  unreadable: number;
}

/**
 * Reads the trip updates and the positions of vehicles of a feed into its packed form. Throws `UndecodableFeed` and nothing else. An entity that
 * cannot be read or is beyond the bounds of a trip costs itself and is counted. Vehicles that are on no trip are left out.
 */
export function readFeed(bytes: Buffer): ArrayBuffer {
  if (bytes.length > MAX_FEED_BYTES) throw new UndecodableFeed(`more than ${MAX_FEED_BYTES} bytes`);
  const reading: Reading = {
    cursor: { bytes, at: 0 },
    packer: new FeedPacker(),
    trip: new Int32Array(TRIP.words),
    stop: new Int32Array(STOP.words),
    vehicle: new Int32Array(VEHICLE.words),
    isOnEarlierTrip: false,
    carriages: new Map(),
    headerSeconds: 0,
    isDifferential: false,
    entities: 0,
    unreadable: 0,
  };
  try {
    readMessage(reading, bytes.length);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    throw new UndecodableFeed('not a protobuf message', { cause: error });
  }
  if (reading.isDifferential) throw new UndecodableFeed('holds changes only, not the full data set');
  if (reading.headerSeconds === 0) throw new UndecodableFeed('has no header with a timestamp');
  return reading.packer.finish(reading.headerSeconds, reading.unreadable);
}

function readMessage(reading: Reading, end: number): void {
  const { cursor } = reading;
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === FEED.header) readHeader(reading, readLength(cursor, end));
    else if (tag === FEED.entity) readEntity(reading, readLength(cursor, end));
    else skipField(cursor, tag, end);
  }
}

function readHeader(reading: Reading, end: number): void {
  const { cursor } = reading;
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === FEED_HEADER.timestamp) reading.headerSeconds = toSeconds(readVarint(cursor, end));
    else if (tag === FEED_HEADER.incrementality) reading.isDifferential = readVarint(cursor, end) === DIFFERENTIAL;
    else skipField(cursor, tag, end);
  }
}

function readEntity(reading: Reading, end: number): void {
  const { cursor, packer } = reading;
  if (++reading.entities > MAX_ENTITIES) throw new UndecodableFeed(`more than ${MAX_ENTITIES} entities`);
  const firstUpdate = packer.mark();
  let isDeleted = false;
  let hasTripUpdate = false;
  let hasVehicle = false;
  reading.trip.fill(NONE);
  try {
    while (cursor.at < end) {
      const tag = readTag(cursor, end);
      if (tag === ENTITY.tripUpdate) {
        hasTripUpdate = true;
        readTripUpdate(reading, readLength(cursor, end));
      } else if (tag === ENTITY.vehicle) {
        hasVehicle = true;
        readVehicle(reading, readLength(cursor, end));
      } else if (tag === ENTITY.isDeleted) isDeleted = readVarint(cursor, end) !== 0;
      else skipField(cursor, tag, end);
    }
    if (hasVehicle && !isDeleted) addVehicle(reading);
    if (hasTripUpdate && !isDeleted) {
      if (reading.trip[TRIP.tripId] === NONE) throw new MalformedMessage('a trip without an identifier');
      if (packer.addTrip(reading.trip, firstUpdate)) return;
      reading.unreadable++;
    }
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    reading.unreadable++;
    cursor.at = end;
  }
  packer.rollback(firstUpdate);
}

function readTripUpdate(reading: Reading, end: number): void {
  const { cursor } = reading;
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === TRIP_UPDATE.stopTimeUpdate) readStopTimeUpdate(reading, readLength(cursor, end));
    else if (tag === TRIP_UPDATE.trip) readTripDescriptor(reading, reading.trip, readLength(cursor, end));
    else skipField(cursor, tag, end);
  }
}

/** `row` is that of a trip or of a vehicle. */
function readTripDescriptor({ cursor, packer }: Reading, row: Int32Array, end: number): void {
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === TRIP_DESCRIPTOR.tripId) row[TRIP.tripId] = readIdentifier(cursor, packer, end);
    else if (tag === TRIP_DESCRIPTOR.startDate) row[TRIP.startDate] = toDate(readText(cursor, end));
    else if (tag === TRIP_DESCRIPTOR.startTime) row[TRIP.startTimeSeconds] = toSecondsOfDay(readText(cursor, end));
    else if (tag === TRIP_DESCRIPTOR.relationship) row[TRIP.relationship] = readEnum(cursor, end);
    else if (tag === TRIP_DESCRIPTOR.routeId) row[TRIP.routeId] = readIdentifier(cursor, packer, end);
    else skipField(cursor, tag, end);
  }
}

function readStopTimeUpdate(reading: Reading, end: number): void {
  const { cursor, packer, stop } = reading;
  if (packer.mark() >= MAX_STOP_UPDATES) throw new UndecodableFeed(`more than ${MAX_STOP_UPDATES} stop updates`);
  stop.fill(NONE);
  forgetCarriages(reading);
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === STOP_TIME_UPDATE.arrival) readStopTime(cursor, stop, STOP.arrivalDelay, readLength(cursor, end));
    else if (tag === STOP_TIME_UPDATE.departure)
      readStopTime(cursor, stop, STOP.departureDelay, readLength(cursor, end));
    else if (tag === STOP_TIME_UPDATE.stopId) stop[STOP.stopId] = readIdentifier(cursor, packer, end);
    else if (tag === STOP_TIME_UPDATE.sequence) stop[STOP.sequence] = toSequence(readVarint(cursor, end));
    else if (tag === STOP_TIME_UPDATE.relationship) stop[STOP.relationship] = readEnum(cursor, end);
    else if (tag === STOP_TIME_UPDATE.carriage)
      readCarriage(reading, CARRIAGE.departureOccupancy, readLength(cursor, end));
    else if (tag === STOP_TIME_UPDATE.occupancy) stop[STOP.occupancy] = readEnum(cursor, end);
    else skipField(cursor, tag, end);
  }
  packer.addStopUpdate(stop, reading.carriages);
}

/** The delay goes to the word `delay`, the time to the one behind it. */
function readStopTime(cursor: Cursor, stop: Int32Array, delay: number, end: number): void {
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === STOP_TIME_EVENT.delay) stop[delay] = toDelay(readVarint(cursor, end));
    else if (tag === STOP_TIME_EVENT.time) stop[delay + 1] = toSeconds(readVarint(cursor, end)) || NONE;
    else skipField(cursor, tag, end);
  }
}

function readVehicle(reading: Reading, end: number): void {
  const { cursor, packer, vehicle } = reading;
  vehicle.fill(NONE);
  reading.isOnEarlierTrip = false;
  forgetCarriages(reading);
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === VEHICLE_POSITION.trip) readTripDescriptor(reading, vehicle, readLength(cursor, end));
    else if (tag === VEHICLE_POSITION.position) readPosition(cursor, vehicle, readLength(cursor, end));
    else if (tag === VEHICLE_POSITION.reportedAt)
      vehicle[VEHICLE.reportedSeconds] = toSeconds(readVarint(cursor, end)) || NONE;
    else if (tag === VEHICLE_POSITION.stopId) vehicle[VEHICLE.stopId] = readIdentifier(cursor, packer, end);
    else if (tag === VEHICLE_POSITION.vehicle) readVehicleDescriptor(reading, readLength(cursor, end));
    else if (tag === VEHICLE_POSITION.occupancy) vehicle[VEHICLE.occupancy] = readEnum(cursor, end);
    else if (tag === VEHICLE_POSITION.carriage) readCarriage(reading, CARRIAGE.occupancy, readLength(cursor, end));
    else skipField(cursor, tag, end);
  }
}

function readPosition(cursor: Cursor, vehicle: Int32Array, end: number): void {
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === POSITION.lat) vehicle[VEHICLE.lat] = toMillionths(readFloat(cursor, end), 90);
    else if (tag === POSITION.lng) vehicle[VEHICLE.lng] = toMillionths(readFloat(cursor, end), 180);
    else if (tag === POSITION.bearing) vehicle[VEHICLE.bearing] = toBearing(readFloat(cursor, end));
    else skipField(cursor, tag, end);
  }
}

function readVehicleDescriptor(reading: Reading, end: number): void {
  const { cursor, packer, vehicle } = reading;
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === VEHICLE_DESCRIPTOR.id) vehicle[VEHICLE.vehicleId] = readIdentifier(cursor, packer, end);
    else if (tag === VEHICLE_DESCRIPTOR.label) vehicle[VEHICLE.label] = readIdentifier(cursor, packer, end);
    else if (tag === VEHICLE_DESCRIPTOR.wheelchair) vehicle[VEHICLE.wheelchair] = readEnum(cursor, end);
    else if (tag === VEHICLE_DESCRIPTOR.own) readOwnDescriptor(reading, readLength(cursor, end));
    else skipField(cursor, tag, end);
  }
}

function readOwnDescriptor(reading: Reading, end: number): void {
  const { cursor, vehicle } = reading;
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === OWN_DESCRIPTOR.wheelchair) {
      const given = readEnum(cursor, end);
      if (given === 1 || given === 2) vehicle[VEHICLE.wheelchair] = given === 1 ? WHEELCHAIR.yes : WHEELCHAIR.no;
    } else if (tag === OWN_DESCRIPTOR.isOnEarlierTrip) reading.isOnEarlierTrip = readVarint(cursor, end) !== 0;
    else skipField(cursor, tag, end);
  }
}

/** To clear an empty map would cost as much as a full one, for each of 160,000 stop updates. */
function forgetCarriages({ carriages }: Reading): void {
  if (carriages.size > 0) carriages.clear();
}

/** A carriage without a position comes last. Of two at one position the latter counts. */
function readCarriage({ cursor, carriages }: Reading, occupancyTag: number, end: number): void {
  let position: number | null = null;
  let occupancy = NONE;
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === CARRIAGE.position) position = readVarint(cursor, end);
    else if (tag === occupancyTag) occupancy = readEnum(cursor, end);
    else skipField(cursor, tag, end);
  }
  const at = position ?? Math.max(0, ...carriages.keys()) + 1;
  if (carriages.has(at) || carriages.size < MAX_CARRIAGES) carriages.set(at, occupancy);
}

/** A vehicle without a trip, or on its way to one, carries nobody; one without place or time cannot be shown. */
function addVehicle(reading: Reading): void {
  const { vehicle, packer } = reading;
  const needed = [VEHICLE.tripId, VEHICLE.lat, VEHICLE.lng, VEHICLE.reportedSeconds];
  if (reading.isOnEarlierTrip || needed.some((position) => vehicle[position] === NONE)) return;
  if (vehicle[VEHICLE.vehicleId] === NONE) vehicle[VEHICLE.vehicleId] = vehicle[VEHICLE.tripId] ?? NONE;
  const wheelchair = vehicle[VEHICLE.wheelchair];
  vehicle[VEHICLE.wheelchair] = wheelchair === WHEELCHAIR.yes ? 1 : wheelchair === WHEELCHAIR.no ? 0 : NONE;
  if (reading.carriages.size > 0) packCarriages(reading.carriages, vehicle, VEHICLE.carriages);
  packer.addVehicle(vehicle);
}

/** `NONE` for what is no latitude or longitude; both are 0 where a vehicle does not know its place. */
function toMillionths(degrees: number, most: number): number {
  return Math.abs(degrees) <= most && degrees !== 0 ? Math.round(degrees * 1e6) : NONE;
}

function toBearing(degrees: number): number {
  return degrees >= 0 && degrees <= 360 ? Math.round(degrees) % 360 : NONE;
}

/** Some of upstream's identifiers end in blanks. One with a line feed is no identifier. */
function readIdentifier(cursor: Cursor, packer: FeedPacker, end: number): number {
  const text = readText(cursor, end).trim();
  if (text === '') return NONE;
  if (text.length > MAX_TEXT_LENGTH || text.includes('\n')) throw new MalformedMessage('not an identifier');
  const number = packer.internText(text);
  if (number >= MAX_IDENTIFIERS) throw new UndecodableFeed(`more than ${MAX_IDENTIFIERS} identifiers`);
  return number;
}

function readEnum(cursor: Cursor, end: number): number {
  const number = readVarint(cursor, end);
  return number >= 0 && number <= 255 ? number : 255;
}

/** 0 for what is no time between 1970 and 2106; fits 32 bits without a sign. */
function toSeconds(number: number): number {
  return number > 0 && number < 2 ** 32 && number !== 2 ** 31 ? number : 0;
}

function toDelay(number: number): number {
  return Math.abs(number) <= MAX_DELAY_SECONDS ? number : NONE;
}

function toSequence(number: number): number {
  return number >= 0 && number <= MAX_SEQUENCE ? number : NONE;
}

function toDate(text: string): number {
  return /^\d{8}$/.test(text) ? Number(text) : NONE;
}

function toSecondsOfDay(text: string): number {
  const [, hours, minutes, seconds] = START_TIME.exec(text) ?? [];
  return hours === undefined ? NONE : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

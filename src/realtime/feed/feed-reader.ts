import { PbfReader } from 'pbf';
import { Int32Column } from '../../core/columns.ts';
import {
  DROP_OFF_SHIFT,
  FeedPacker,
  MAX_CARRIAGES,
  NONE,
  packCarriages,
  RIDERS_MASK,
  STOP,
  TRIP,
  VEHICLE,
} from './packed-feed.ts';

/*
 * The fields of GTFS-realtime that we read, by their tags in the wire format (https://gtfs.org/documentation/realtime/proto/).
 */

/** The tag of a field: its number and wire type. */
const varintTag = (field: number) => field * 8;
const lengthTag = (field: number) => field * 8 + 2;
const floatTag = (field: number) => field * 8 + 5;

const FEED = { header: lengthTag(1), entity: lengthTag(2) };
const FEED_HEADER = { incrementality: varintTag(2), timestamp: varintTag(3) };
const ENTITY = { isDeleted: varintTag(2), tripUpdate: lengthTag(3), vehicle: lengthTag(4) };
const TRIP_UPDATE = {
  trip: lengthTag(1),
  stopTimeUpdate: lengthTag(2),
  timestamp: varintTag(4),
  delay: varintTag(5),
  properties: lengthTag(6),
};
const TRIP_PROPERTIES = { tripId: lengthTag(1), startDate: lengthTag(2), startTime: lengthTag(3) };
const TRIP_DESCRIPTOR = {
  tripId: lengthTag(1),
  startTime: lengthTag(2),
  startDate: lengthTag(3),
  relationship: varintTag(4),
  routeId: lengthTag(5),
};
/** The field number of most of upstream's extensions. */
const UPSTREAM_EXTENSION = 1007;
const VEHICLE_POSITION = {
  trip: lengthTag(1),
  position: lengthTag(2),
  sequence: varintTag(3),
  status: varintTag(4),
  reportedAt: varintTag(5),
  stopId: lengthTag(7),
  vehicle: lengthTag(8),
  occupancy: varintTag(9),
  carriage: lengthTag(UPSTREAM_EXTENSION),
};
const POSITION = { lat: floatTag(1), lng: floatTag(2), bearing: floatTag(3) };
const VEHICLE_DESCRIPTOR = {
  id: lengthTag(1),
  label: lengthTag(2),
  wheelchair: varintTag(4),
  own: lengthTag(UPSTREAM_EXTENSION),
};
const OWN_DESCRIPTOR = { wheelchair: varintTag(2), isOnEarlierTrip: varintTag(4) };
/** `occupancy` is the load of a carriage now, in positions of vehicles; `departureOccupancy` is the prediction in stop updates. */
const CARRIAGE = { position: varintTag(2), occupancy: varintTag(3), departureOccupancy: varintTag(7) };
const STOP_TIME_UPDATE = {
  sequence: varintTag(1),
  arrival: lengthTag(2),
  departure: lengthTag(3),
  stopId: lengthTag(4),
  relationship: varintTag(5),
  /** Upstream's extension, a varint. The standard uses the same field number for `properties`, a message. */
  occupancy: varintTag(6),
  properties: lengthTag(6),
  carriage: lengthTag(UPSTREAM_EXTENSION),
};
const STOP_TIME_PROPERTIES = { assignedStopId: lengthTag(1), pickup: varintTag(3), dropOff: varintTag(4) };
/** The highest value of `pickup_type` and `drop_off_type`. */
const MAX_RIDERS_TYPE = 3;
const STOP_TIME_EVENT = { delay: varintTag(1), time: varintTag(2), plannedTime: varintTag(4) };

/** The value of `incrementality` for a feed that contains only changes. */
const DIFFERENTIAL = 1;

/** The largest feed (buses) has 7 MB, 4,500 trips and 160,000 stop updates. */
export const MAX_FEED_BYTES = 32 * 1024 * 1024;
const MAX_ENTITIES = 20_000;
const MAX_STOP_UPDATES = 500_000;
const MAX_IDENTIFIERS = 100_000;
/** Upstream's identifiers have up to 35 characters. */
const MAX_TEXT_BYTES = 300;
const BLANK = 0x20;
const LINE_FEED = 0x0a;
const MAX_DELAY_SECONDS = 24 * 3600;
const MAX_SEQUENCE = 100_000;
/** The standard has 2 for accessible and 3 for not accessible; upstream's extension has 1 and 2. */
const WHEELCHAIR = { yes: 2, no: 3 };
const START_TIME = /^(\d{1,3}):([0-5]\d):([0-5]\d)$/;

/** The bytes are not a usable feed. The message has the reason. */
export class UndecodableFeed extends Error {
  override readonly name = 'UndecodableFeed';
}

/** Shared, because a hostile feed could otherwise create thousands of stack traces. */
const malformed = new Error('not a protobuf message, or one without a trip');

/** The state while reading one feed. Rows and carriages are reused for all trips, stop updates and vehicles. */
interface ReaderState {
  packer: FeedPacker;
  trip: Int32Column;
  stop: Int32Column;
  vehicle: Int32Column;
  /** The row that the current trip descriptor is written to: `trip` or `vehicle`. */
  described: Int32Column;
  isDeleted: boolean;
  hasTripUpdate: boolean;
  hasVehicle: boolean;
  isOnEarlierTrip: boolean;
  /** The load of each carriage of one train, by carriage position. */
  carriages: Map<number, number>;
  headerSeconds: number;
  isDifferential: boolean;
  entities: number;
  unreadable: number;
}

/**
 * Reads the trip updates and vehicle positions of a feed into its packed form. Throws only `UndecodableFeed`. An entity that is
 * unreadable or exceeds the bounds of a trip is skipped and counted. Vehicles without a trip are left out.
 */
export function parseFeed(bytes: Buffer): ArrayBuffer {
  if (bytes.length > MAX_FEED_BYTES) throw new UndecodableFeed(`more than ${MAX_FEED_BYTES} bytes`);
  const trip = new Int32Column(TRIP.words);
  const reading: ReaderState = {
    packer: new FeedPacker(),
    trip,
    described: trip,
    isDeleted: false,
    hasTripUpdate: false,
    hasVehicle: false,
    stop: new Int32Column(STOP.words),
    vehicle: new Int32Column(VEHICLE.words),
    isOnEarlierTrip: false,
    carriages: new Map(),
    headerSeconds: 0,
    isDifferential: false,
    entities: 0,
    unreadable: 0,
  };
  try {
    const pbf = new PbfReader(bytes);
    parseFields(pbf, bytes.length, reading, parseFeedField);
  } catch (error) {
    if (error instanceof UndecodableFeed) throw error;
    throw new UndecodableFeed('not a protobuf message', { cause: error });
  }
  if (reading.isDifferential) throw new UndecodableFeed('holds changes only, not the full data set');
  if (reading.headerSeconds === 0) throw new UndecodableFeed('has no header with a timestamp');
  return reading.packer.finish(reading.headerSeconds, reading.unreadable);
}

type ReadField<Into> = (tag: number, into: Into, pbf: PbfReader) => void;

/**
 * Reads the fields of a message up to `end`, and skips those that `parseField` ignores. `pbf` does not notice when a value is
 * longer than its message. The check at the end does, or a later read in the same entity.
 */
function parseFields<Into>(pbf: PbfReader, end: number, into: Into, parseField: ReadField<Into>): void {
  for (let field = pbf.nextField(end); field !== 0; field = pbf.nextField(end)) {
    parseField(field * 8 + pbf.type, into, pbf);
  }
  if (pbf.pos !== end) throw malformed;
}

function parseMessage<Into>(pbf: PbfReader, into: Into, parseField: ReadField<Into>): void {
  parseFields(pbf, pbf.readVarint() + pbf.pos, into, parseField);
}

function parseFeedField(tag: number, reading: ReaderState, pbf: PbfReader): void {
  if (tag === FEED.header) parseMessage(pbf, reading, parseHeaderField);
  else if (tag === FEED.entity) {
    const end = pbf.readVarint() + pbf.pos;
    if (end > pbf.length) throw malformed;
    parseEntity(reading, pbf.buf.subarray(pbf.pos, end));
    pbf.pos = end;
  }
}

function parseHeaderField(tag: number, reading: ReaderState, pbf: PbfReader): void {
  if (tag === FEED_HEADER.timestamp) reading.headerSeconds = toSeconds(pbf.readVarint(true));
  else if (tag === FEED_HEADER.incrementality) reading.isDifferential = pbf.readVarint(true) === DIFFERENTIAL;
}

function parseEntity(reading: ReaderState, bytes: Uint8Array): void {
  const { packer } = reading;
  if (++reading.entities > MAX_ENTITIES) throw new UndecodableFeed(`more than ${MAX_ENTITIES} entities`);
  const firstUpdate = packer.mark();
  reading.isDeleted = false;
  reading.hasTripUpdate = false;
  reading.hasVehicle = false;
  reading.trip.fill(NONE);
  try {
    parseFields(new PbfReader(bytes), bytes.length, reading, parseEntityField);
    if (reading.hasVehicle && !reading.isDeleted) addVehicle(reading);
    if (reading.hasTripUpdate && !reading.isDeleted) {
      if (reading.trip[TRIP.tripId] === NONE) throw malformed;
      if (packer.addTrip(reading.trip, firstUpdate)) return;
      reading.unreadable++;
    }
  } catch (error) {
    if (error instanceof UndecodableFeed) throw error;
    reading.unreadable++;
  }
  packer.rollback(firstUpdate);
}

function parseEntityField(tag: number, reading: ReaderState, pbf: PbfReader): void {
  if (tag === ENTITY.tripUpdate) {
    reading.hasTripUpdate = true;
    parseMessage(pbf, reading, parseTripUpdateField);
  } else if (tag === ENTITY.vehicle) {
    reading.hasVehicle = true;
    reading.vehicle.fill(NONE);
    reading.isOnEarlierTrip = false;
    clearCarriages(reading);
    parseMessage(pbf, reading, parseVehicleField);
  } else if (tag === ENTITY.isDeleted) reading.isDeleted = pbf.readVarint(true) !== 0;
}

function parseTripUpdateField(tag: number, reading: ReaderState, pbf: PbfReader): void {
  if (tag === TRIP_UPDATE.stopTimeUpdate) {
    if (reading.packer.mark() >= MAX_STOP_UPDATES)
      throw new UndecodableFeed(`more than ${MAX_STOP_UPDATES} stop updates`);
    reading.stop.fill(NONE);
    clearCarriages(reading);
    parseMessage(pbf, reading, parseStopTimeUpdateField);
    reading.packer.addStopUpdate(reading.stop, reading.carriages);
  } else if (tag === TRIP_UPDATE.trip) {
    reading.described = reading.trip;
    parseMessage(pbf, reading, parseTripDescriptorField);
  } else if (tag === TRIP_UPDATE.properties) parseMessage(pbf, reading, parseTripPropertiesField);
  else if (tag === TRIP_UPDATE.delay) reading.trip[TRIP.delay] = toDelay(pbf.readVarint(true));
  else if (tag === TRIP_UPDATE.timestamp) reading.trip[TRIP.timestamp] = toSeconds(pbf.readVarint(true)) || NONE;
}

function parseTripPropertiesField(tag: number, { trip, packer }: ReaderState, pbf: PbfReader): void {
  if (tag === TRIP_PROPERTIES.tripId) trip[TRIP.newTripId] = parseIdentifier(pbf, packer);
  else if (tag === TRIP_PROPERTIES.startDate) trip[TRIP.newStartDate] = toDate(pbf.readString());
  else if (tag === TRIP_PROPERTIES.startTime) trip[TRIP.newStartTimeSeconds] = toSecondsOfDay(pbf.readString());
}

function parseTripDescriptorField(tag: number, { described, packer }: ReaderState, pbf: PbfReader): void {
  if (tag === TRIP_DESCRIPTOR.tripId) described[TRIP.tripId] = parseIdentifier(pbf, packer);
  else if (tag === TRIP_DESCRIPTOR.startDate) described[TRIP.startDate] = toDate(pbf.readString());
  else if (tag === TRIP_DESCRIPTOR.startTime) described[TRIP.startTimeSeconds] = toSecondsOfDay(pbf.readString());
  else if (tag === TRIP_DESCRIPTOR.relationship) described[TRIP.relationship] = parseEnum(pbf);
  else if (tag === TRIP_DESCRIPTOR.routeId) described[TRIP.routeId] = parseIdentifier(pbf, packer);
}

function parseStopTimeUpdateField(tag: number, reading: ReaderState, pbf: PbfReader): void {
  const { packer, stop } = reading;
  if (tag === STOP_TIME_UPDATE.arrival) parseMessage(pbf, stop, parseArrivalField);
  else if (tag === STOP_TIME_UPDATE.departure) parseMessage(pbf, stop, parseDepartureField);
  else if (tag === STOP_TIME_UPDATE.stopId) stop[STOP.stopId] = parseIdentifier(pbf, packer);
  else if (tag === STOP_TIME_UPDATE.sequence) stop[STOP.sequence] = toSequence(pbf.readVarint(true));
  else if (tag === STOP_TIME_UPDATE.relationship) stop[STOP.relationship] = parseEnum(pbf);
  else if (tag === STOP_TIME_UPDATE.carriage) parseCarriage(reading, CARRIAGE.departureOccupancy, pbf);
  else if (tag === STOP_TIME_UPDATE.occupancy) stop[STOP.occupancy] = parseEnum(pbf);
  else if (tag === STOP_TIME_UPDATE.properties) parseMessage(pbf, reading, parseStopTimePropertiesField);
}

function parseStopTimePropertiesField(tag: number, { stop, packer }: ReaderState, pbf: PbfReader): void {
  if (tag === STOP_TIME_PROPERTIES.assignedStopId) stop[STOP.assignedStopId] = parseIdentifier(pbf, packer);
  else if (tag === STOP_TIME_PROPERTIES.pickup) addRiders(stop, parseEnum(pbf), 0);
  else if (tag === STOP_TIME_PROPERTIES.dropOff) addRiders(stop, parseEnum(pbf), DROP_OFF_SHIFT);
}

/** Records in `riders` what riders may do. Ignores types that the standard does not have. */
function addRiders(stop: Int32Column, type: number, shift: number): void {
  if (type > MAX_RIDERS_TYPE) return;
  const others = Math.max(0, stop.valueAt(STOP.riders)) & ~(RIDERS_MASK << shift);
  stop[STOP.riders] = others | ((type + 1) << shift);
}

const parseArrivalField = createStopTimeReader(STOP.arrivalDelay);
const parseDepartureField = createStopTimeReader(STOP.departureDelay);

/** Returns a reader that stores the delay in the word `delay` and the time in the word after it. */
function createStopTimeReader(delay: number): ReadField<Int32Column> {
  return (tag, stop, pbf) => {
    if (tag === STOP_TIME_EVENT.delay) stop[delay] = toDelay(pbf.readVarint(true));
    else if (tag === STOP_TIME_EVENT.time) stop[delay + 1] = toSeconds(pbf.readVarint(true)) || NONE;
    else if (tag === STOP_TIME_EVENT.plannedTime) completeStopTime(stop, delay, toSeconds(pbf.readVarint(true)));
  };
}

/** If either the delay or the time is missing, computes it from the planned time. Encoders write the planned time last. */
function completeStopTime(stop: Int32Column, at: number, planned: number): void {
  if (planned === 0) return;
  const [delay, seconds] = [stop.valueAt(at), stop.valueAt(at + 1)];
  if (delay === NONE && seconds !== NONE) stop[at] = toDelay((seconds >>> 0) - planned);
  else if (delay !== NONE && seconds === NONE) stop[at + 1] = toSeconds(planned + delay) || NONE;
}

function parseVehicleField(tag: number, reading: ReaderState, pbf: PbfReader): void {
  const { packer, vehicle } = reading;
  if (tag === VEHICLE_POSITION.trip) {
    reading.described = vehicle;
    parseMessage(pbf, reading, parseTripDescriptorField);
  } else if (tag === VEHICLE_POSITION.position) parseMessage(pbf, vehicle, parsePositionField);
  else if (tag === VEHICLE_POSITION.reportedAt)
    vehicle[VEHICLE.reportedSeconds] = toSeconds(pbf.readVarint(true)) || NONE;
  else if (tag === VEHICLE_POSITION.stopId) vehicle[VEHICLE.stopId] = parseIdentifier(pbf, packer);
  else if (tag === VEHICLE_POSITION.sequence) vehicle[VEHICLE.sequence] = toSequence(pbf.readVarint(true));
  else if (tag === VEHICLE_POSITION.status) vehicle[VEHICLE.status] = parseEnum(pbf);
  else if (tag === VEHICLE_POSITION.vehicle) parseMessage(pbf, reading, parseVehicleDescriptorField);
  else if (tag === VEHICLE_POSITION.occupancy) vehicle[VEHICLE.occupancy] = parseEnum(pbf);
  else if (tag === VEHICLE_POSITION.carriage) parseCarriage(reading, CARRIAGE.occupancy, pbf);
}

function parsePositionField(tag: number, vehicle: Int32Column, pbf: PbfReader): void {
  if (tag === POSITION.lat) vehicle[VEHICLE.lat] = toMillionths(pbf.readFloat(), 90);
  else if (tag === POSITION.lng) vehicle[VEHICLE.lng] = toMillionths(pbf.readFloat(), 180);
  else if (tag === POSITION.bearing) vehicle[VEHICLE.bearing] = toBearing(pbf.readFloat());
}

function parseVehicleDescriptorField(tag: number, reading: ReaderState, pbf: PbfReader): void {
  const { packer, vehicle } = reading;
  if (tag === VEHICLE_DESCRIPTOR.id) vehicle[VEHICLE.vehicleId] = parseIdentifier(pbf, packer);
  else if (tag === VEHICLE_DESCRIPTOR.label) vehicle[VEHICLE.label] = parseIdentifier(pbf, packer);
  else if (tag === VEHICLE_DESCRIPTOR.wheelchair) vehicle[VEHICLE.wheelchair] = parseEnum(pbf);
  else if (tag === VEHICLE_DESCRIPTOR.own) parseMessage(pbf, reading, parseOwnDescriptorField);
}

function parseOwnDescriptorField(tag: number, reading: ReaderState, pbf: PbfReader): void {
  if (tag === OWN_DESCRIPTOR.wheelchair) {
    const wheelchair = parseEnum(pbf);
    if (wheelchair === 1 || wheelchair === 2)
      reading.vehicle[VEHICLE.wheelchair] = wheelchair === 1 ? WHEELCHAIR.yes : WHEELCHAIR.no;
  } else if (tag === OWN_DESCRIPTOR.isOnEarlierTrip) reading.isOnEarlierTrip = pbf.readVarint(true) !== 0;
}

/** Clearing an empty map costs as much as clearing a full one, which is too slow for 160,000 stop updates. */
function clearCarriages({ carriages }: ReaderState): void {
  if (carriages.size > 0) carriages.clear();
}

/** Reads one carriage. Without a position it is put last. Of two with the same position, the later one counts. */
function parseCarriage({ carriages }: ReaderState, occupancyTag: number, pbf: PbfReader): void {
  const carriage: { position: number | null; occupancy: number } = { position: null, occupancy: NONE };
  parseMessage(pbf, carriage, (tag) => {
    if (tag === CARRIAGE.position) carriage.position = pbf.readVarint(true);
    else if (tag === occupancyTag) carriage.occupancy = parseEnum(pbf);
  });
  const at = carriage.position ?? Math.max(0, ...carriages.keys()) + 1;
  if (carriages.has(at) || carriages.size < MAX_CARRIAGES) carriages.set(at, carriage.occupancy);
}

/**
 * Adds the vehicle, unless it cannot carry passengers (without a trip, or still on an earlier one) or be shown (without position
 * or time).
 */
function addVehicle(reading: ReaderState): void {
  const { vehicle, packer } = reading;
  const needed = [VEHICLE.tripId, VEHICLE.lat, VEHICLE.lng, VEHICLE.reportedSeconds];
  if (reading.isOnEarlierTrip || needed.some((position) => vehicle[position] === NONE)) return;
  if (vehicle[VEHICLE.vehicleId] === NONE) vehicle[VEHICLE.vehicleId] = vehicle[VEHICLE.tripId] ?? NONE;
  const wheelchair = vehicle[VEHICLE.wheelchair];
  vehicle[VEHICLE.wheelchair] = wheelchair === WHEELCHAIR.yes ? 1 : wheelchair === WHEELCHAIR.no ? 0 : NONE;
  if (reading.carriages.size > 0) packCarriages(reading.carriages, vehicle, VEHICLE.carriages);
  packer.addVehicle(vehicle);
}

/** `NONE` if the value is not a valid latitude or longitude. Both are 0 if a vehicle has no position fix. */
function toMillionths(degrees: number, maxDegrees: number): number {
  return Math.abs(degrees) <= maxDegrees && degrees !== 0 ? Math.round(degrees * 1e6) : NONE;
}

function toBearing(degrees: number): number {
  return degrees >= 0 && degrees <= 360 ? Math.round(degrees) % 360 : NONE;
}

/**
 * Returns the number of an identifier, or `NONE` if it is empty. Trims blanks, which some of upstream's identifiers end with.
 * Throws if it contains a line feed.
 */
function parseIdentifier(pbf: PbfReader, packer: FeedPacker): number {
  const length = pbf.readVarint();
  let [start, end] = [pbf.pos, pbf.pos + length];
  pbf.pos = end;
  const bytes = pbf.buf;
  if (!(end <= bytes.length)) throw malformed;
  while (start < end && (bytes[start] as number) <= BLANK) start++;
  while (start < end && (bytes[end - 1] as number) <= BLANK) end--;
  if (start === end) return NONE;
  if (end - start > MAX_TEXT_BYTES) throw malformed;
  for (let at = start; at < end; at++) if (bytes[at] === LINE_FEED) throw malformed;
  const number = packer.internText(bytes, start, end);
  if (number >= MAX_IDENTIFIERS) throw new UndecodableFeed(`more than ${MAX_IDENTIFIERS} identifiers`);
  return number;
}

function parseEnum(pbf: PbfReader): number {
  const number = pbf.readVarint(true);
  return number >= 0 && number <= 255 ? number : 255;
}

/**
 * The value as seconds since 1970; 0 if it is not between 1970 and 2106. 2 ** 31 is excluded, because as a 32-bit integer it
 * means `NONE`.
 */
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

import { FeedPacker, NONE, STOP, STOP_WORDS, TRIP, TRIP_WORDS } from './packed-feed.ts';
import {
  type Cursor,
  lengthTag,
  MalformedMessage,
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
const ENTITY = { isDeleted: varintTag(2), tripUpdate: lengthTag(3) };
const TRIP_UPDATE = { trip: lengthTag(1), stopTimeUpdate: lengthTag(2) };
const TRIP_DESCRIPTOR = {
  tripId: lengthTag(1),
  startTime: lengthTag(2),
  startDate: lengthTag(3),
  relationship: varintTag(4),
};
const STOP_TIME_UPDATE = {
  sequence: varintTag(1),
  arrival: lengthTag(2),
  departure: lengthTag(3),
  stopId: lengthTag(4),
  relationship: varintTag(5),
  /** Upstream's own. The standard has a message in field 6, which is passed over like any unknown field. */
  occupancy: varintTag(6),
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
const START_TIME = /^(\d{1,3}):([0-5]\d):([0-5]\d)$/;

/** The bytes are not a feed, or not one that can be used. The message says why. */
export class UndecodableFeed extends Error {
  override readonly name = 'UndecodableFeed';
}

/** The state of one reading. The two rows are used again for every trip and every stop update. */
interface Reading {
  cursor: Cursor;
  packer: FeedPacker;
  trip: Int32Array;
  stop: Int32Array;
  headerSeconds: number;
  isDifferential: boolean;
  entities: number;
  unreadable: number;
}

/**
 * Reads the trip updates of a feed into its packed form. Throws `UndecodableFeed` and nothing else. An entity that
 * cannot be read or is beyond the bounds of a trip costs itself and is counted.
 */
export function readFeed(bytes: Buffer): ArrayBuffer {
  if (bytes.length > MAX_FEED_BYTES) throw new UndecodableFeed(`more than ${MAX_FEED_BYTES} bytes`);
  const reading: Reading = {
    cursor: { bytes, at: 0 },
    packer: new FeedPacker(),
    trip: new Int32Array(TRIP_WORDS),
    stop: new Int32Array(STOP_WORDS),
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
  reading.trip.fill(NONE);
  try {
    while (cursor.at < end) {
      const tag = readTag(cursor, end);
      if (tag === ENTITY.tripUpdate) {
        hasTripUpdate = true;
        readTripUpdate(reading, readLength(cursor, end));
      } else if (tag === ENTITY.isDeleted) isDeleted = readVarint(cursor, end) !== 0;
      else skipField(cursor, tag, end);
    }
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
    else if (tag === TRIP_UPDATE.trip) readTripDescriptor(reading, readLength(cursor, end));
    else skipField(cursor, tag, end);
  }
}

function readTripDescriptor({ cursor, packer, trip }: Reading, end: number): void {
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === TRIP_DESCRIPTOR.tripId) trip[TRIP.tripId] = readIdentifier(cursor, packer, end);
    else if (tag === TRIP_DESCRIPTOR.startDate) trip[TRIP.startDate] = toDate(readText(cursor, end));
    else if (tag === TRIP_DESCRIPTOR.startTime) trip[TRIP.startTimeSeconds] = toSecondsOfDay(readText(cursor, end));
    else if (tag === TRIP_DESCRIPTOR.relationship) trip[TRIP.relationship] = readEnum(cursor, end);
    else skipField(cursor, tag, end);
  }
}

function readStopTimeUpdate({ cursor, packer, stop }: Reading, end: number): void {
  if (packer.mark() >= MAX_STOP_UPDATES) throw new UndecodableFeed(`more than ${MAX_STOP_UPDATES} stop updates`);
  stop.fill(NONE);
  while (cursor.at < end) {
    const tag = readTag(cursor, end);
    if (tag === STOP_TIME_UPDATE.arrival) readStopTime(cursor, stop, STOP.arrivalDelay, readLength(cursor, end));
    else if (tag === STOP_TIME_UPDATE.departure)
      readStopTime(cursor, stop, STOP.departureDelay, readLength(cursor, end));
    else if (tag === STOP_TIME_UPDATE.stopId) stop[STOP.stopId] = readIdentifier(cursor, packer, end);
    else if (tag === STOP_TIME_UPDATE.sequence) stop[STOP.sequence] = toSequence(readVarint(cursor, end));
    else if (tag === STOP_TIME_UPDATE.relationship) stop[STOP.relationship] = readEnum(cursor, end);
    else if (tag === STOP_TIME_UPDATE.occupancy) stop[STOP.occupancy] = readEnum(cursor, end);
    else skipField(cursor, tag, end);
  }
  packer.addStopUpdate(stop);
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

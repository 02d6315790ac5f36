import { DateTime } from 'luxon';
import { z } from 'zod';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts';
import { parameterOf, requiredText, wholeBetween } from './parameter.ts';
import { SYDNEY } from './region.ts';

/*
 * Moments are numbers: milliseconds since 1970.
 */

/**
 * Sydney local time as a caller writes it and upstream reads it. It has no offset: a time that daylight saving repeats or skips
 * is passed on as written, so nothing shifts by an hour.
 */
export interface WallClock {
  /** `YYYYMMDD` */
  date: string;
  /** `HHmm` */
  time: string;
}

/** A UTC timestamp of a response, in whole seconds. */
export const timestampSchema = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  .meta({ format: 'date-time', example: '2026-04-15T06:29:00Z' });

/** The live time of an arrival or departure. */
export const estimateField = timestampSchema.nullable().meta({ description: 'Estimate, UTC; null without live data' });

const DAY = /^\d{8}$|^\d{4}-\d\d-\d\d$/;

/** Parses a date to `YYYYMMDD`. */
export const dateParameter = parameterOf(requiredText('a date such as 20261130'), (text, refuse) => {
  const trimmed = text.trim();
  const day = trimmed.replaceAll('-', '');
  if (!DAY.test(trimmed)) return refuse('must be a date such as 20261130 or 2026-11-30');
  return DateTime.fromISO(day, { zone: 'utc' }).isValid ? day : refuse('must be a day that exists, such as 20261130');
}).meta({
  type: 'string',
  pattern: DAY.source,
  examples: ['20261130'],
  description: 'Date `YYYYMMDD` or `YYYY-MM-DD`, Sydney local time, yesterday or later. Default: today.',
});

const CLOCK = /^([01]\d|2[0-3]):?[0-5]\d$/;
const ISO_8601 =
  /^(\d{4}-\d\d-\d\d)[T ]((?:[01]\d|2[0-3]):[0-5]\d)(?::\d\d(?:[.,]\d+)?)?(Z|[+ -](?:0\d|1[0-4])(?::?[0-5]\d)?)?$/i;
const timeAllowed = 'must be a Sydney time such as 0830 or 08:30, or ISO 8601 such as 2026-11-23T08:00+11:00';

/** Converts a time with an offset to `YYYYMMDDTHHmm` in Sydney, so that the same moment always makes the same query. */
export const timeParameter = parameterOf(requiredText('a time such as 0830'), (text, refuse) => {
  const trimmed = text.trim();
  return (CLOCK.test(trimmed) ? trimmed.replace(':', '') : parseMoment(trimmed)) ?? refuse(timeAllowed);
}).meta({
  type: 'string',
  pattern: `${CLOCK.source}|${ISO_8601.source.replaceAll('Z|', '[Zz]|').replaceAll('[T ]', '[Tt ]')}`,
  examples: ['0830'],
  description:
    'Time of day `HHmm` or `HH:mm`, 24-hour clock, Sydney local time. Or date and time as ISO 8601, such as `2026-11-23T08:00+11:00` or `2026-11-22T21:00Z`; without an offset it is Sydney local time. Default: now.',
});

/** A time, or only a date (`YYYYMMDD`, which no time looks like). */
export const dayOrTimeParameter = parameterOf(requiredText('a time such as 0830'), (text, refuse) => {
  const day = dateParameter.safeParse(text).data;
  return day ?? timeParameter.safeParse(text).data ?? refuse(`${timeAllowed}, or a date such as 2026-11-30`);
}).meta({ ...timeParameter.meta(), pattern: `${DAY.source}|${timeParameter.meta()?.pattern}` });

/** The Sydney time of ISO 8601 text as `YYYYMMDDTHHmm`; null for other text. An unencoded `+` (not `%2B`) arrives as a blank. */
function parseMoment(text: string): string | null {
  const [, day, clock, offset] = ISO_8601.exec(text) ?? [];
  const moment = DateTime.fromISO(`${day}T${clock}${offset?.replace(' ', '+') ?? ''}`, {
    zone: offset ? SYDNEY : 'utc',
  });
  return moment.isValid && moment.year <= 9999 ? moment.toFormat("yyyyMMdd'T'HHmm") : null;
}

function inSydney(moment: number): DateTime {
  return DateTime.fromMillis(moment, { zone: SYDNEY });
}

export function toSydneyWallClock(moment: number): WallClock {
  const local = inSydney(moment);
  return { date: local.toFormat('yyyyMMdd'), time: local.toFormat('HHmm') };
}

/** Parses the time as ISO 8601, which is several times faster than parsing it with a custom format. */
function parseWallClock({ date, time }: WallClock): DateTime {
  return DateTime.fromISO(`${date}T${time}`, { zone: SYDNEY });
}

/** The moment of a local time; null in the hours that daylight saving repeats or skips. */
export function fromSydneyWallClock({ date, time }: WallClock): number | null {
  const local = parseWallClock({ date, time });
  const isUnique = local.isValid && local.toFormat('HHmm') === time && local.getPossibleOffsets().length === 1;
  return isUnique ? local.toMillis() : null;
}

/**
 * The moment of a local time: the first of two in a repeated hour, and one hour later in a
 * skipped one.
 */
export function earliestMoment(local: WallClock): number {
  return Math.min(
    ...parseWallClock(local)
      .getPossibleOffsets()
      .map((offset) => offset.toMillis()),
  );
}

/**
 * The latest local time from which upstream lists everything planned since the moment. When clocks go back, an hour comes twice,
 * and upstream takes the one with the current offset. For a moment in the other one, the result is the last minute before that.
 */
export function wallClockFrom(moment: number, now: number): WallClock {
  const [local, present] = [inSydney(moment), inSydney(now)];
  if (local.getPossibleOffsets().length === 1 || local.offset === present.offset) return toSydneyWallClock(moment);
  // The larger offset is daylight saving time: the moment is in the first pass of the repeated hour.
  if (local.offset > present.offset) return toSydneyWallClock(local.startOf('hour').minus({ minutes: 1 }).toMillis());
  return { date: local.toFormat('yyyyMMdd'), time: local.toFormat("HH'59'") };
}

/**
 * The earliest local time up to which upstream lists everything planned before the moment. The repeated hour is ambiguous as in
 * `wallClockFrom`.
 */
export function wallClockUntil(moment: number, now: number): WallClock {
  const minute = Math.ceil(moment / MINUTE_MS) * MINUTE_MS;
  const [local, present] = [inSydney(minute), inSydney(now)];
  if (local.getPossibleOffsets().length === 1 || local.offset === present.offset) return toSydneyWallClock(minute);
  if (local.offset < present.offset) return toSydneyWallClock(afterDoubleHour(minute));
  return { date: local.toFormat('yyyyMMdd'), time: local.toFormat("HH'00'") };
}

/** The first moment, from the given one on, with an unambiguous local time. */
export function afterDoubleHour(moment: number): number {
  let local = inSydney(moment);
  while (local.getPossibleOffsets().length > 1) local = local.startOf('hour').plus({ hours: 1 });
  return local.toMillis();
}

/** 08:00 Sydney time on the next weekday (Monday to Friday) after today. */
export function nextWeekdayMorning(now: number): WallClock {
  let day = inSydney(now).plus({ days: 1 });
  while (day.weekday > 5) day = day.plus({ days: 1 });
  return { date: day.toFormat('yyyyMMdd'), time: '0800' };
}

/** The end of the day in Sydney. */
export function endOfDay(moment: number): number {
  return inSydney(moment).startOf('day').plus({ days: 1 }).toMillis();
}

/** The day before; both as `YYYYMMDD`. */
export function dayBefore(date: string): string {
  return DateTime.fromISO(date, { zone: 'utc' }).minus({ days: 1 }).toFormat('yyyyMMdd');
}

/** The day formatted last: a response has hundreds of timestamps, most of them of one day. */
const formatted = { day: Number.NaN, text: '' };
const SECONDS_OF_DAY = DAY_MS / SECOND_MS;
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

export function formatTimestamp(moment: number): string {
  const seconds = Math.floor(moment / SECOND_MS);
  const day = Math.floor(seconds / SECONDS_OF_DAY);
  if (day !== formatted.day) Object.assign(formatted, { day, text: new Date(moment).toISOString().slice(0, 11) });
  const ofDay = seconds - day * SECONDS_OF_DAY;
  const minutes = Math.floor(ofDay / 60);
  return `${formatted.text}${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[ofDay % 60]}Z`;
}

export function formatOrNull(moment: number | null): string | null {
  return moment === null ? null : formatTimestamp(moment);
}

/** Converts a UTC timestamp of a response to Sydney time with its offset; null if the text is no timestamp. */
export function toSydneyTimestamp(timestamp: string): string | null {
  return DateTime.fromISO(timestamp, { zone: SYDNEY }).toISO({ suppressMilliseconds: true });
}

/** The time of day in Sydney ("08:30") of a moment or of a timestamp. */
export function toSydneyClock(moment: string | number, form: 'HH:mm' | 'HH:mm:ss' = 'HH:mm'): string {
  return inSydney(typeof moment === 'string' ? Date.parse(moment) : moment).toFormat(form);
}

/** Parses an ISO 8601 timestamp, as UTC if it has no offset; undefined for other text and for years outside 1970 to 2999. */
export function parseTimestamp(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const parsed = parseOwnFormat(text) ?? DateTime.fromISO(text, { zone: 'utc' }).toJSDate();
  const year = parsed.getUTCFullYear();
  return year >= 1970 && year <= 2999 ? parsed.getTime() : undefined;
}

const OWN_FORMAT = /^\d{4}-\d\d-(\d\d)T\d\d:\d\d:\d\dZ$/;

/** A fast path for our usual format, because a response has hundreds of timestamps. Null for any other text. */
function parseOwnFormat(text: string): Date | null {
  const [, day] = OWN_FORMAT.exec(text) ?? [];
  const read = new Date(text);
  // `Date` accepts 30 February as 2 March.
  return read.getUTCDate() === Number(day) ? read : null;
}

/**
 * Rounds a moment down to the minute: boards and journeys for now omit what left before it. The trip planner rounds planned times
 * this way even where the bus timetable has seconds; rounding ours makes both match.
 */
export function toMinute(moment: number): number {
  return Math.floor(moment / MINUTE_MS) * MINUTE_MS;
}

/** The minutes from one moment to another, rounded; 0 if `until` is earlier. */
export function minutesBetween(from: number, until: number): number {
  return Math.max(0, Math.round((until - from) / MINUTE_MS));
}

/**
 * Minutes that the rider needs to get to the stop. The limit is 60 because a board reads at most the next 120 departures, which
 * cover little more than an hour at a busy station.
 */
export const leadParameter = wholeBetween(0, 60);

export interface CallTime {
  plannedAt: number;
  /** The estimate, if the vehicle is tracked; null without live data. */
  realtimeAt: number | null;
}

/** The estimate if there is one, else the planned time. */
export function bestKnown({ plannedAt, realtimeAt }: CallTime): number {
  return realtimeAt ?? plannedAt;
}

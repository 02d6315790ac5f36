import { z } from 'zod';
import { decorating, firstOf, flag, listOf, MAX_ELEMENTS, number, text } from './answer/field.ts';

/*
 * The parts of the authority's answers that this service uses, in the authority's spelling. The records of an answer stay
 * unread here; the mappers read them one by one (`mapRecords`), so that a bad record costs only itself. All schemas
 * are compiled: reading records is a large part of the work on an answer, and what a schema with a transform has read can
 * otherwise only be freed by a full garbage collection.
 */

/** Records beyond these are not looked at. The longest real lists had 40 departures, and 8 journeys of 5 legs. */
const MAX_STOP_EVENTS = 200;
const MAX_JOURNEYS = 50;
/** A journey with more legs is left out: without one of its legs it would be wrong. */
const MAX_LEGS = 20;

const list = firstOf(Number.POSITIVE_INFINITY);

const stopPointProperties = z.object({
  stopId: text,
  platform: text,
  platformName: text,
  occupancy: text,
  mainLocality: text,
  realtimeStatus: listOf(z.string()),
  distance: number,
  STOP_GLOBAL_ID: text,
  STOP_NAME_WITH_PLACE: text,
});

const placeSchema = z.object({
  id: text,
  name: text,
  disassembledName: text,
  type: text,
  coord: z.unknown().optional(),
  matchQuality: number,
  isBest: flag,
  /** Product classes of the vehicles that stop here. An answer has either this list or `productClasses`. */
  modes: listOf(z.number()),
  productClasses: listOf(z.number()),
  properties: decorating(stopPointProperties),
});

/** Written out, because the compiler infers a recursive type only when it meets the files in one order. */
export interface StopPoint extends z.infer<typeof placeSchema> {
  parent?: StopPoint | undefined;
}

/** A function, because a schema that holds itself cannot be compiled. */
const parent: z.ZodType<StopPoint | undefined> = z
  .transform((place) => stopPointSchema.safeParse(withoutEndlessParents(place)).data)
  .optional();

export const stopPointSchema = z.compile(placeSchema.extend({ parent }));

const timedStopPointSchema = stopPointSchema.extend({
  departureTimePlanned: text,
  departureTimeEstimated: text,
  departureTimeBaseTimetable: text,
  arrivalTimePlanned: text,
  arrivalTimeEstimated: text,
  arrivalTimeBaseTimetable: text,
});

/** What an answer says about one run and its vehicle. Boards have it with the event, journeys with the line. */
const vehiclePropertiesSchema = z.object({
  RealtimeTripId: text,
  AVMSTripID: text,
  /** Whether the vehicle on this run has a low floor. */
  AVMLowFloorVeh: flag,
  /** Whether the timetable plans an accessible vehicle. */
  PlanWheelChairAccess: flag,
  attributes: listOf(z.string()),
});

const transportationSchema = z.object({
  id: text,
  name: text,
  disassembledName: text,
  number: text,
  /** `id` is the network. */
  product: decorating(z.object({ class: number, iconId: number, id: number })),
  destination: decorating(z.object({ name: text })),
  properties: decorating(vehiclePropertiesSchema),
});

const infoTextSchema = z.object({ subtitle: text, urlText: text, content: text });

const infoSchema = infoTextSchema.extend({
  priority: text,
  properties: decorating(z.object({ speechText: text })),
  infoLinks: listOf(infoTextSchema.extend({ speechText: text })),
});

export const stopEventSchema = z.compile(
  z.object({
    isCancelled: flag,
    isRealtimeControlled: flag,
    realtimeStatus: listOf(z.string()),
    departureTimePlanned: text,
    departureTimeEstimated: text,
    departureTimeBaseTimetable: text,
    location: decorating(stopPointSchema),
    transportation: transportationSchema,
    infos: listOf(infoSchema),
    /** `WheelchairAccess` is about the stop, not about the vehicle. */
    properties: decorating(vehiclePropertiesSchema.extend({ WheelchairAccess: flag })),
  }),
);

export const efaLegSchema = z.compile(
  z.object({
    isCancelled: flag,
    isRealtimeControlled: flag,
    realtimeStatus: listOf(z.string()),
    /** Seconds, along the estimates. */
    duration: number,
    /** Metres; walks only. */
    distance: number,
    origin: timedStopPointSchema,
    destination: timedStopPointSchema,
    transportation: transportationSchema,
    stopSequence: list,
    coords: z.unknown().optional(),
    infos: listOf(infoSchema),
    footPathInfo: listOf(z.object({ position: text, duration: number })),
    interchange: decorating(z.object({ coords: z.unknown().optional() })),
    properties: decorating(vehiclePropertiesSchema),
  }),
);

export const efaJourneySchema = z.compile(z.object({ legs: list.pipe(z.array(z.unknown()).min(1).max(MAX_LEGS)) }));

const systemMessages = listOf(z.object({ code: number, text }));

export const departureMonitorSchema = z.compile(
  z.object({ systemMessages, locations: firstOf(MAX_ELEMENTS), stopEvents: firstOf(MAX_STOP_EVENTS) }),
);
export const locationsSchema = z.compile(z.object({ systemMessages, locations: list }));
export const tripSchema = z.compile(z.object({ systemMessages, journeys: firstOf(MAX_JOURNEYS) }));

export type TimedStopPoint = z.infer<typeof timedStopPointSchema>;
export type Transportation = z.infer<typeof transportationSchema>;
export type VehicleProperties = z.infer<typeof vehiclePropertiesSchema>;
export type Info = z.infer<typeof infoSchema>;
export type StopEvent = z.infer<typeof stopEventSchema>;
export type EfaLeg = z.infer<typeof efaLegSchema>;
export type SystemMessage = z.infer<typeof systemMessages>[number];
export type DepartureMonitorPayload = z.infer<typeof departureMonitorSchema>;
export type LocationsPayload = z.infer<typeof locationsSchema>;
export type TripPayload = z.infer<typeof tripSchema>;

/** Upstream nests platform, stop and locality. Reading a very deep chain of parents would overflow the stack. */
const MAX_PARENTS = 10;

function withoutEndlessParents(place: unknown): unknown {
  let depth = 0;
  for (let parent = place; typeof parent === 'object' && parent !== null; depth++) {
    if (depth === MAX_PARENTS) return undefined;
    parent = (parent as { parent?: unknown }).parent;
  }
  return place;
}

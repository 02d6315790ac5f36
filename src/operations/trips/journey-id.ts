import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { z } from 'zod';
import { SECOND_MS } from '../../core/clock.ts';
import { contentOf, type IdSigner } from '../../core/signer.ts';
import { type JourneyQuery, MOST_STAY_MINUTES, MOST_VIA } from '../../journeys/source.ts';
import { type Choices, choicesSchema } from '../../transit/choices.ts';
import { isOnDemand, type Journey, LEG_DEFAULTS, type Leg, type LegEnd, originOf } from '../../transit/journey.ts';
import { MODES, type Mode } from '../../transit/mode.ts';
import { parameterOf, requiredText } from '../../transit/parameter.ts';
import { formatPlace, type Place, placeParameter } from '../../transit/place.ts';

/** The parameters that a journey was found with. */
export interface JourneyRequest {
  from: Place;
  to: Place;
  modes: Mode[];
  wheelchair: boolean;
  booking?: 'include' | 'exclude';
  choices?: Choices | undefined;
  via?: JourneyQuery['via'];
}

/** A journey as planned, without live times, and the parameters it was found with. */
export type PlannedJourney = Journey & JourneyRequest;

const FORM = 1;
/** Three rides take about 500 characters. */
const MAX_ID_LENGTH = 1500;
const MAX_BYTES = 6000;
/** Brotli output is the same on every machine; deflate output is not. */
const PACKING = { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 16 } };
const MAX_LEGS = 20;
const DAY_SECONDS = 86_400;
const WALK = -1;
/** What the rider requested, as bits. */
const WHEELCHAIR = 1;
const NO_BOOKING = 2;

const textSchema = z.string().regex(/^[^\p{C}]{1,150}$/u);
const textOrNull = textSchema.nullable();
const between = (min: number, max: number) => z.int().min(min).max(max);
const durationSchema = between(0, DAY_SECONDS);
/** Seconds since the start of the journey. */
const offsetSchema = between(-DAY_SECONDS, 5 * DAY_SECONDS);
const placeSchema = z.tuple([
  textSchema,
  textOrNull,
  textSchema,
  textOrNull,
  z.number().min(-90).max(90),
  z.number().min(-180).max(180),
]);
const walkSchema = z.tuple([z.literal(WALK), durationSchema, offsetSchema, offsetSchema, z.int().min(0).nullable()]);
const rideSchema = z.tuple([
  between(0, MODES.length - 1),
  durationSchema,
  offsetSchema,
  offsetSchema,
  between(0, 500),
  textOrNull,
  textSchema,
  textOrNull,
  textOrNull,
]);
const viaSchema = z.array(z.tuple([textSchema, between(0, MOST_STAY_MINUTES)])).max(MOST_VIA);
/**
 * Format, `from`, `to`, modes as bits, requests as bits, start in seconds since 1970, the places that the legs connect, the legs.
 * If there are any: the rider's choices, and the stops of `via` with the minutes there.
 */
const writtenSchema = z
  .tuple([
    z.literal(FORM),
    z.string(),
    z.string(),
    between(1, 2 ** MODES.length - 1),
    between(0, WHEELCHAIR | NO_BOOKING),
    between(1_500_000_000, 4_000_000_000),
    z.array(placeSchema),
    z.array(z.union([walkSchema, rideSchema])).max(MAX_LEGS),
    choicesSchema.nullable().optional(),
    viaSchema.optional(),
  ])
  .refine(([, , , , , , places, legs]) => places.length === legs.length + 1 && legs.some(([mode]) => mode !== WALK));
type Written = z.infer<typeof writtenSchema>;

/**
 * Packs and signs the whole journey, so that no instance has to store it. Null for a walk, for rides on demand, and for a journey
 * whose ID would be too long.
 */
export function writeJourneyId(
  journey: Journey,
  { from, to, modes, wheelchair, booking, choices, via = [] }: JourneyRequest,
  ids: IdSigner,
): string | null {
  const { legs } = journey;
  if (isOnDemand(journey) || legs.every(({ mode }) => mode === 'walk')) return null;
  const start = Math.floor(originOf(journey).plannedAt / SECOND_MS);
  const offsetOf = ({ plannedAt }: LegEnd) => Math.floor(plannedAt / SECOND_MS) - start;
  const written: Written = [
    FORM,
    formatPlace(from),
    formatPlace(to),
    modes.reduce((bits, mode) => bits | (1 << MODES.indexOf(mode)), 0),
    (wheelchair ? WHEELCHAIR : 0) | (booking === 'exclude' ? NO_BOOKING : 0),
    start,
    [...legs.map(({ origin }) => origin), (legs.at(-1) as Leg).destination].map(
      ({ stopId, parentId, name, platform, position: [lat, lng] }) => [stopId, parentId, name, platform, lat, lng],
    ),
    legs.map(({ mode, durationMs, origin, destination, ...leg }) => {
      const seconds = Math.round(durationMs / SECOND_MS);
      const times = [offsetOf(origin), offsetOf(destination)] as const;
      if (mode === 'walk') return [WALK, seconds, ...times, leg.distanceMetres];
      const { stops, runId, route, lineName, direction } = leg;
      return [MODES.indexOf(mode), seconds, ...times, stops, runId, route ?? mode, lineName, direction];
    }),
    ...(via.length > 0
      ? ([choices ?? null, via.map(({ stopId, stayMinutes }): [string, number] => [stopId, stayMinutes])] as const)
      : choices
        ? ([choices] as const)
        : ([] as const)),
  ];
  if (!writtenSchema.safeParse(written).success) return null;
  const id = ids.sign('journey', brotliCompressSync(JSON.stringify(written), PACKING).toString('base64url'));
  return id.length <= MAX_ID_LENGTH ? id : null;
}

/** Parses a journey ID. Null if it is malformed. The operation checks the signature. */
export function parseJourneyId(id: string): PlannedJourney | null {
  try {
    const content = contentOf(id);
    const bytes = Buffer.from(content.slice(0, MAX_ID_LENGTH), 'base64url');
    if (bytes.toString('base64url') !== content) return null;
    const json = brotliDecompressSync(bytes, { maxOutputLength: MAX_BYTES }).toString();
    const [, from, to, modes, requests, start, places, legs, choices, via] = writtenSchema.parse(JSON.parse(json));
    const endAt = (place: number, offset: number): LegEnd => {
      const [stopId, parentId, name, platform, lat, lng] = places[place] as (typeof places)[0];
      const ids = parentId === null ? [stopId] : [stopId, parentId];
      const plannedAt = (start + offset) * SECOND_MS;
      const end = { stopId, ids, name, platform, parentId, plannedAt, realtimeAt: null };
      return { ...end, position: [lat, lng], isAccessible: null, parent: null };
    };
    return {
      from: placeParameter.parse(from),
      to: placeParameter.parse(to),
      modes: MODES.filter((_, index) => modes & (1 << index)),
      wheelchair: (requests & WHEELCHAIR) !== 0,
      booking: requests & NO_BOOKING ? 'exclude' : 'include',
      choices: choices ?? undefined,
      via: via?.map(([stopId, stayMinutes]) => ({ stopId, stayMinutes })),
      legs: legs.map((leg, index) => toLeg(leg, endAt(index, leg[2]), endAt(index + 1, leg[3]))),
    };
  } catch {
    return null;
  }
}

function toLeg(written: Written[7][number], origin: LegEnd, destination: LegEnd): Leg {
  const [mode, seconds] = written;
  const leg = { ...LEG_DEFAULTS, origin, destination, durationMs: seconds * SECOND_MS };
  if (written.length === 5) return { ...leg, distanceMetres: written[4] };
  const [, , , , stops, runId, route, lineName, direction] = written;
  return { ...leg, mode: MODES[mode] as Mode, stops, runId, route, lineName, direction, listCalls: () => null };
}

const allowed = 'must be a journey ID from /v1/trips with include=ids';

export const journeyIdParameter = parameterOf(requiredText(allowed), (text, refuse) => {
  const id = text.trim();
  return parseJourneyId(id) ? id : refuse(allowed);
}).meta({ type: 'string', pattern: '^[A-Za-z0-9_-]+$' });

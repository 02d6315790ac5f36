import { z } from 'zod';

/**
 * Query parameters arrive as text. `z.coerce` would read "" as 0, "0x1f" as 31 and "false" as true, so the text is matched
 * first. A problem's message says what is allowed, and `ProblemDetails` adds hints; `problemsOf` of operation.ts adds the
 * parameter's name and the value received.
 *
 * JSON Schema cannot be derived from such a chain, so each function states it in `meta`. OpenAPI is generated from that.
 */

/** Required text. `allowed` says what is expected and appears in every message about the parameter. */
export function requiredText(allowed: string, repeated = 'must be given once') {
  return z.string({
    error: ({ input }) => (Array.isArray(input) ? repeated : `is required: ${allowed.replace(/^must be /, '')}`),
  });
}

/** Extra details of a problem, passed as `params` of a custom issue. */
export interface ProblemDetails {
  /** One or more sentences that say what to do instead. */
  hint?: string | undefined;
  /** The message already names what is wrong, so the value is not repeated. */
  isComplete?: boolean;
  /** The message is a whole sentence, so the parameter's name is not prepended. */
  isSentence?: boolean;
}

/** Text parsed by `parse`. When `parse` calls `refuse`, its message becomes a problem of the parameter. */
export function parameterOf<Value>(
  schema: ReturnType<typeof requiredText>,
  parse: (text: string, refuse: (message: string, details?: ProblemDetails) => never) => Value,
) {
  return schema.transform(
    (text, context): Value =>
      parse(text, (message, details) => {
        context.issues.push({ code: 'custom', input: text, message, params: { ...details } });
        return z.NEVER;
      }),
  );
}

/** An optional parameter; an empty value counts as absent. */
export function optional<Schema extends z.ZodType>(schema: Schema, description?: string, example?: string | number) {
  return z
    .preprocess((value) => (value === '' ? undefined : value), schema.optional())
    .meta({ ...schema.meta(), ...described(description, example) });
}

/** Makes a parameter optional; `text` is the default, written as a caller would write it. */
export function withDefault<Schema extends z.ZodType>(
  schema: Schema,
  text: z.input<Schema> & string,
  description?: string,
  example?: string | number,
) {
  return z
    .preprocess((value) => (value === '' || value === undefined ? text : value), schema)
    .meta({
      ...schema.meta(),
      default: toDefault(schema.meta()?.type, text),
      ...described(description, example),
    });
}

/** The most records that a response lists. `what` says which; larger numbers are reduced to `max`. */
export function limitParameter(max: number, byDefault: string, what: string) {
  return withDefault(countUpTo(max), byDefault, `Maximum number of ${what}. Values above ${max} count as ${max}.`);
}

/** Converts a default to JSON. `type` is the parameter's JSON Schema type. */
export function toDefault(type: unknown, text: string): unknown {
  const parse = DEFAULTS[String(type)] ?? String;
  return parse(text);
}

const DEFAULTS: Record<string, (text: string) => unknown> = {
  integer: Number,
  boolean: (text) => text === 'true',
  array: splitList,
};

/** How many there are, listed or not. `what` completes "Number of". */
export const totalField = (what: string, example: number) =>
  z
    .int()
    .min(0)
    .meta({ description: `Number of ${what}. If it exceeds \`limit\`, not all are listed`, example });

/**
 * An integer of at least `min`; values above `max` are reduced to it, and a notice says so. `meta` has no maximum, so clients do
 * not reject such values.
 */
export function countUpTo(max: number, min = 1) {
  const allowed = `must be a whole number from ${min} to ${max}`;
  return requiredText(allowed)
    .regex(/^\d+$/, allowed)
    .transform((digits) => Math.min(Number(digits), max))
    .pipe(z.number().min(min, allowed))
    .meta({ type: 'integer', minimum: min, 'x-counts-up-to': max });
}

/** An integer from `min` to `max`; other values are refused. */
export function wholeBetween(min: number, max: number) {
  const allowed = `must be a whole number from ${min} to ${max}`;
  return requiredText(allowed)
    .regex(/^\d+$/, allowed)
    .transform(Number)
    .pipe(z.number().min(min, allowed).max(max, allowed))
    .meta({ type: 'integer', minimum: min, maximum: max });
}

/** `true` or `false`, in any case. */
export const booleanParameter = requiredText('true or false')
  .pipe(z.stringbool({ truthy: ['true'], falsy: ['false'], error: 'must be true or false' }))
  .meta({ type: 'boolean' });

/** A plain decimal number: no exponent, no blanks. */
export const DECIMAL = /^-?(\d+(\.\d*)?|\.\d+)$/;

/** A plain decimal number from `min` to `max`. */
export function decimalBetween(min: number, max: number) {
  const allowed = `must be a decimal number from ${min} to ${max}`;
  return requiredText(allowed)
    .regex(DECIMAL, allowed)
    .transform(Number)
    .pipe(z.number({ error: allowed }).min(min, allowed).max(max, allowed))
    .meta({ type: 'number', minimum: min, maximum: max });
}

/** One of a few words, case-sensitive. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  const list = OR.format(words);
  return requiredText(list)
    .pipe(z.enum(words, { error: `must be ${list}` }))
    .meta({ type: 'string', enum: [...words] });
}

const OR = new Intl.ListFormat('en-AU', { type: 'disjunction' });

/** Some of a few words, in any case, separated by commas. */
export function someOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  const allowed = words.length > 1 ? `must be some of ${words.join(', ')}, separated by commas` : `must be ${words[0]}`;
  return parameterOf(requiredText(allowed), (text, refuse): Words[number][] => {
    const names = splitList(text.toLowerCase());
    const unknown = splitList(text).filter((name) => !words.includes(name.toLowerCase()));
    if (names.length === 0) return refuse(allowed);
    return unknown.length > 0
      ? refuse(notAllowed(allowed, unknown), { isComplete: true })
      : words.filter((word) => names.includes(word));
  }).meta({ type: 'array', items: { type: 'string', enum: [...words] }, minItems: 1, examples: [[words[0]]] });
}

/** For `refine`: a parameter without its companion would be ignored, so it is refused. `companionText` names the companion. */
export function onlyWith<Name extends string, Companion extends string>(
  name: Name,
  companion: Companion,
  companionText = `\`${companion}\``,
): [
  (query: Partial<Record<Name | Companion, unknown>>) => boolean,
  { path: string[]; message: string; params: ProblemDetails },
] {
  return [
    (query) => query[companion] !== undefined || query[name] === undefined,
    { path: [name], message: `\`${name}\` works only with ${companionText}.`, params: { isSentence: true } },
  ];
}

export function describe<Schema extends z.ZodType>(schema: Schema, description: string, example?: string | number) {
  return schema.meta({ ...schema.meta(), ...described(description, example) });
}

function described(description?: string, example?: string | number) {
  return {
    ...(description !== undefined && { description }),
    ...(example !== undefined && { examples: [example] }),
  };
}

/** Maximum number of list entries named in a message. */
const MAX_NAMED = 5;

/** The message for a list with invalid entries; it quotes them as received. */
export function notAllowed(allowed: string, entries: readonly string[]): string {
  return `${allowed}, not ${[...new Set(entries)].slice(0, MAX_NAMED).map(quote).join(', ')}`;
}

/** Splits text at commas, trims each part and drops empty ones. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

const MAX_LENGTH = 100;

/**
 * Formats a received value for a message: as JSON, which shows blanks and control characters. Long values are cut by code
 * point, because half a surrogate pair would be invalid.
 */
export function quote(value: unknown): string {
  const text = JSON.stringify(value);
  const characters = Array.from(text.slice(0, 2 * MAX_LENGTH + 1));
  if (characters.length <= MAX_LENGTH) return text;
  return `${characters.slice(0, MAX_LENGTH).join('')}…${typeof value === 'string' ? '"' : ''}`;
}

/** Every parameter of the API, with other names that callers use for it. Misspellings by one letter are found without this list. */
const OTHER_NAMES = {
  stop: ['id', 'stop_id', 'stopid', 'station', 'station_id'],
  limit: ['count', 'max', 'max_results', 'per_page'],
  modes: ['type', 'transport_mode'],
  routes: ['line', 'lines'],
  lead: ['lead_time', 'lead_minutes', 'walking_time'],
  per_route: ['limit_per_route', 'per_line'],
  date: [],
  time: [],
  lat: ['lats', 'latitude'],
  lng: ['lngs', 'lon', 'long', 'longitude'],
  radius: ['distance'],
  q: ['query', 'search', 'text', 'term', 'name'],
  from: ['origin'],
  to: ['destination'],
  arrive_by: ['arrive', 'arriving', 'arrival'],
  minutes: ['duration', 'max_duration', 'max_minutes'],
  wheelchair: ['accessible', 'wheelchair_accessible'],
  max_stops: ['stop_limit', 'limit_stops', 'num_stops'],
  max_changes: ['changes', 'transfers', 'max_transfers'],
  pace: ['walk_speed', 'walking_speed', 'walk_pace'],
  max_walk: ['max_walk_distance', 'max_walking_distance', 'walk_distance'],
  min_change: ['min_change_time', 'min_transfer_time', 'transfer_time'],
  prefer: ['optimize', 'preference', 'route_preference'],
  booking: ['bookings', 'reservation', 'reservations'],
  path: [],
  via: [],
  cancelled: [],
  include: [],
  cursor: ['page_token', 'next_cursor', 'continuation'],
  stops: ['ids', 'stop_ids'],
  near: [],
  bbox: ['bounds', 'bounding_box'],
  format: [],
  severity: [],
  category: [],
  at: [],
  weekday: ['day_of_week', 'dow'],
  hour: ['hour_of_day'],
  days: [],
  run: [],
  line: ['line_id'],
  direction: ['direction_id'],
} as const satisfies Record<string, readonly string[]>;

export const PARAMETER_NAMES: readonly string[] = Object.keys(OTHER_NAMES);

/** Shorter names are one letter away from too many words: "lang" is close to "lng". */
const MIN_LENGTH_FOR_TYPOS = 4;

/** The name in `names` that a caller probably means by an unknown name; null if there is none. */
export function findMeant(name: string, names: readonly string[]): string | null {
  const lower = inOurWriting(name);
  return (
    names.find((name) => name === lower) ??
    names.find((name) => otherNamesOf(name).includes(lower) || isSingularOrPlural(lower, name)) ??
    // A name that means something else is no typo: `page` is close to `pace`.
    names.find(
      (name) => name.length >= MIN_LENGTH_FOR_TYPOS && !Object.hasOwn(OTHER_WAYS, lower) && isOneSlipAway(lower, name),
    ) ??
    null
  );
}

/**
 * The parameter of another operation that a caller probably means; null if there is none. Typos are not considered here: they
 * would be too much of a guess.
 */
export function findForeign(name: string): string | null {
  const lower = inOurWriting(name);
  return (
    PARAMETER_NAMES.find(
      (candidate) =>
        candidate === lower || otherNamesOf(candidate).includes(lower) || isSingularOrPlural(lower, candidate),
    ) ?? null
  );
}

const MOMENT =
  'Give the day as `date` (YYYYMMDD) and the time as `time` (HHmm), both in Sydney local time, or both as ISO 8601 in `time`';
const NO_PAGES =
  'For the next page use `cursor` from the `Link` header (boards and journeys). For other lists raise `limit`.';
const POSITION =
  'Give a position as `lat` and `lng` on /v1/nearby and /v1/vehicles, as `lat,lng` in `near` of /v1/boards, /v1/stops, /v1/carparks and the searches, and in `from` and `to` of /v1/trips.';
const ONLY_MODES = 'No such filter exists. `modes` lists the modes to use.';
const KEY_IN_HEADER = 'Send the key in the header `Authorization: Bearer YOUR_KEY`, never in a URL.';

/** Names that the requested operation does not have, with a hint on what to use instead. */
const OTHER_WAYS: Readonly<Record<string, string>> = {
  datetime: `${MOMENT}.`,
  depart_at: `${MOMENT}.`,
  departure_time: `${MOMENT}.`,
  when: `${MOMENT}.`,
  arrive_at: `${MOMENT}; on /v1/trips add \`arrive_by=true\`.`,
  arrival_time: `${MOMENT}; on /v1/trips add \`arrive_by=true\`.`,
  page: NO_PAGES,
  offset: NO_PAGES,
  cursor: 'Only /v1/departures and /v1/arrivals (one stop) and /v1/trips take it.',
  format:
    'Only /v1/stops (with `near` or `bbox`), /v1/vehicles, /v1/lines/{line_id}, /v1/reachable and /v1/carparks take `format=geojson`.',
  avoid: ONLY_MODES,
  exclude: ONLY_MODES,
  platform: 'No such filter exists. Read `platform` of each record.',
  direction: 'Only /v1/lines/{line_id}/timetable takes it. On other lists read `destination` of each record.',
  wheelchair:
    'On departures `include=access` adds `vehicle_accessible` and `stop_accessible`; /v1/trips takes `wheelchair=true`.',
  lat: POSITION,
  lng: POSITION,
  near: POSITION,
  ll: POSITION,
  location: POSITION,
  position: POSITION,
  latlng: POSITION,
  coord: POSITION,
  coords: POSITION,
  lang: 'All texts are in English.',
  language: 'All texts are in English.',
  apikey: KEY_IN_HEADER,
  api_key: KEY_IN_HEADER,
  key: KEY_IN_HEADER,
  token: KEY_IN_HEADER,
};

/** A hint on how to get what the caller probably wants, for a name that the operation does not have; null if there is none. */
export function findOtherWay(name: string): string | null {
  const lower = inOurWriting(name);
  return Object.hasOwn(OTHER_WAYS, lower) ? (OTHER_WAYS[lower] ?? null) : null;
}

/** `maxTransfers[]` and `max-transfers` → `max_transfers` */
function inOurWriting(name: string): string {
  const parts = withoutBrackets(name).replace(/([a-z])([A-Z])/g, '$1_$2');
  return parts.replaceAll('-', '_').toLowerCase();
}

/** Removes brackets after a name: some clients write lists as `stops[]` or `stops[0]`. */
export function withoutBrackets(name: string): string {
  const opening = name.indexOf('[');
  return opening > 0 && name.endsWith(']') ? name.slice(0, opening) : name;
}

function otherNamesOf(name: string): readonly string[] {
  return Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name as keyof typeof OTHER_NAMES] : [];
}

function isSingularOrPlural(name: string, other: string): boolean {
  return other.length >= MIN_LENGTH_FOR_TYPOS && (name === `${other}s` || other === `${name}s`);
}

/** Whether the names differ by one letter (missing, added or changed) or by two swapped neighbours. */
export function isOneSlipAway(name: string, other: string): boolean {
  if (Math.abs(name.length - other.length) > 1) return false;
  let commonLength = 0;
  while (commonLength < name.length && name[commonLength] === other[commonLength]) commonLength++;
  const [remainder, otherRemainder] = [name.slice(commonLength), other.slice(commonLength)];
  const isSwapped =
    remainder[0] === otherRemainder[1] &&
    remainder[1] === otherRemainder[0] &&
    remainder.slice(2) === otherRemainder.slice(2);
  return (
    remainder.slice(1) === otherRemainder ||
    remainder === otherRemainder.slice(1) ||
    remainder.slice(1) === otherRemainder.slice(1) ||
    isSwapped
  );
}

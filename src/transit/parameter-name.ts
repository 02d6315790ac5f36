/** Every parameter of the API, and what callers write for it that is more than a letter away. */
const OTHER_NAMES = {
  stop: ['stop_id', 'stopid'],
  limit: [],
  modes: [],
  routes: [],
  date: [],
  time: [],
  lat: ['lats', 'latitude'],
  lng: ['lngs', 'lon', 'long', 'longitude'],
  radius: [],
  q: ['query'],
  from: [],
  to: [],
  arrive_by: [],
  wheelchair: ['accessible', 'wheelchair_accessible'],
  max_changes: ['changes', 'transfers', 'max_transfers'],
  path: [],
  cancelled: [],
  include: [],
  stops: [],
} as const satisfies Record<string, readonly string[]>;

export const PARAMETER_NAMES: readonly string[] = Object.keys(OTHER_NAMES);

/** Shorter names are a letter away from too many words, such as "lang" from "lng". */
const MIN_LENGTH_FOR_TYPOS = 4;

/** The one of `names` that a caller means by another name; null when it is none of them. */
export function findMeant(name: string, names: readonly string[]): string | null {
  const lower = withoutBrackets(name.toLowerCase());
  return (
    names.find((one) => one === lower) ??
    names.find((one) => otherNamesOf(one).includes(lower) || isSingularOrPlural(lower, one)) ??
    names.find((one) => one.length >= MIN_LENGTH_FOR_TYPOS && isOneSlipAway(lower, one)) ??
    null
  );
}

/** The parameter of another operation that a caller means; for these, slips of a letter are too much of a guess. */
export function findForeign(name: string): string | null {
  const lower = withoutBrackets(name.toLowerCase());
  return PARAMETER_NAMES.find((one) => one === lower || isSingularOrPlural(lower, one)) ?? null;
}

/** Some clients write the name of a list with brackets: `stops[]`, `stops[0]`. */
function withoutBrackets(name: string): string {
  const opening = name.indexOf('[');
  return opening > 0 && name.endsWith(']') ? name.slice(0, opening) : name;
}

function otherNamesOf(name: string): readonly string[] {
  return Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name as keyof typeof OTHER_NAMES] : [];
}

function isSingularOrPlural(name: string, other: string): boolean {
  return other.length >= MIN_LENGTH_FOR_TYPOS && (name === `${other}s` || other === `${name}s`);
}

/** Whether one letter is missing, too many or another one, or two neighbours have changed places. */
function isOneSlipAway(name: string, other: string): boolean {
  if (Math.abs(name.length - other.length) > 1) return false;
  let same = 0;
  while (same < name.length && name[same] === other[same]) same++;
  const [rest, otherRest] = [name.slice(same), other.slice(same)];
  const isSwapped = rest[0] === otherRest[1] && rest[1] === otherRest[0] && rest.slice(2) === otherRest.slice(2);
  return (
    rest.slice(1) === otherRest || rest === otherRest.slice(1) || rest.slice(1) === otherRest.slice(1) || isSwapped
  );
}

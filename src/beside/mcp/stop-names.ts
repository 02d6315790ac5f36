import { ApiError } from '../../errors/api-error.ts';
import { invalidParameters } from '../../errors/messages.ts';
import type { SearchResult } from '../../operations/stop-search/operation.ts';
import { quote } from '../../transit/parameter.ts';
import { isPlaceId } from '../../transit/place.ts';

/** The parameters of all tools that take one stop, and a name in place of its identifier. */
const STOP_PARAMETERS = ['stop', 'from', 'to'];
/** Identifiers of stops and positions have at most one letter in a row. */
const NAME = /\p{L}{2}/u;
/** How many stops a message lists. */
const MAX_LISTED = 10;

export function takesName(parameter: string): boolean {
  return STOP_PARAMETERS.includes(parameter);
}

/** The parameters that have the name of a stop. */
export function listNames(query: Readonly<Record<string, unknown>>): { parameter: string; name: string }[] {
  return STOP_PARAMETERS.flatMap((parameter) => {
    const name = query[parameter];
    return typeof name === 'string' && NAME.test(name) && !isPlaceId(name.trim()) ? [{ parameter, name }] : [];
  });
}

/**
 * The one stop that a name means: the only match, or the only one that is called exactly so, with its suburb or without,
 * else the only one that is called so but for "Station" or "Wharf", else the only one that has all its words, because
 * stops with similar names follow. Throws an error that lists the stops it may mean.
 */
export function chooseStop(parameter: string, name: string, found: readonly SearchResult[]): SearchResult {
  const wanted = plain(name);
  const exact = found.filter((stop) => [plain(stop.name), withoutSuburb(stop)].includes(wanted));
  const alike = found.filter((stop) => withoutKind(withoutSuburb(stop)) === withoutKind(wanted));
  const containing = found.filter((stop) => wanted.split(' ').every((word) => plain(stop.name).includes(word)));
  for (const matches of [found, exact, alike, containing]) {
    const [only, ...others] = matches;
    if (only && others.length === 0) return only;
  }
  if (found.length === 0) {
    throw new ApiError('STOP_NOT_FOUND', `No stop is named ${quote(name)} (\`${parameter}\`).`);
  }
  const listed = found.slice(0, MAX_LISTED).map((stop) => `${stop.stop_id} (${stop.name})`);
  const hint = `Send the ID of the one you mean: ${listed.join(', ')}.`;
  throw invalidParameters([{ parameter, value: name, allowed: 'must name one stop', hint }]);
}

function withoutSuburb({ name, suburb }: SearchResult): string {
  return plain(suburb !== '' && name.endsWith(`, ${suburb}`) ? name.slice(0, -suburb.length - 2) : name);
}

function withoutKind(name: string): string {
  return name.replace(/ (station|wharf|light rail|interchange)$/, '');
}

function plain(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}

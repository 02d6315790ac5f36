import { ApiError } from '../../errors/api-error.ts';
import { invalidParameters } from '../../errors/messages.ts';
import type { SearchResult } from '../../operations/stop-search/operation.ts';
import { quote } from '../../transit/parameter.ts';
import { isPlaceId } from '../../transit/place.ts';

/** Parameters that accept a stop's ID or name. */
const STOP_PARAMETERS = ['stop', 'from', 'to'];
/** IDs of stops and positions never have two letters in a row. */
const NAME = /\p{L}{2}/u;
/** Maximum number of stops listed in a message. */
const MAX_LISTED = 10;

export function takesName(parameter: string): boolean {
  return STOP_PARAMETERS.includes(parameter);
}

export function listNames(query: Readonly<Record<string, unknown>>): { parameter: string; name: string }[] {
  return STOP_PARAMETERS.flatMap((parameter) => {
    const name = query[parameter];
    return typeof name === 'string' && NAME.test(name) && !isPlaceId(name.trim()) ? [{ parameter, name }] : [];
  });
}

/**
 * Returns the stop that a name means: the only match; else the only exact match, with or without suburb; else the only match
 * that differs by "Station" or "Wharf"; else the only one that contains all words. Throws an error that lists the candidates.
 */
export function chooseStop(parameter: string, name: string, found: readonly SearchResult[]): SearchResult {
  const plainName = toPlain(name);
  const exact = found.filter((stop) => [toPlain(stop.name), withoutSuburb(stop)].includes(plainName));
  const alike = found.filter((stop) => withoutKind(withoutSuburb(stop)) === withoutKind(plainName));
  const containing = found.filter((stop) => plainName.split(' ').every((word) => toPlain(stop.name).includes(word)));
  for (const matches of [found, exact, alike, containing]) {
    const [first, ...others] = matches;
    if (first && others.length === 0) return first;
  }
  if (found.length === 0) {
    throw new ApiError('STOP_NOT_FOUND', `No stop is named ${quote(name)} (\`${parameter}\`).`);
  }
  const options = found.slice(0, MAX_LISTED).map((stop) => `${stop.stop_id} (${stop.name})`);
  const hint = `Send the ID of the one you mean: ${options.join(', ')}.`;
  throw invalidParameters([{ parameter, value: name, allowed: 'must name one stop', hint }]);
}

function withoutSuburb({ name, suburb }: SearchResult): string {
  return toPlain(suburb !== '' && name.endsWith(`, ${suburb}`) ? name.slice(0, -suburb.length - 2) : name);
}

function withoutKind(name: string): string {
  return name.replace(/ (station|wharf|light rail|interchange)$/, '');
}

function toPlain(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}

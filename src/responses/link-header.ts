import type { Operation, Pages } from '../operation.ts';
import { MODES } from '../transit/mode.ts';

/** The links of every response: description, documentation, status and the licence of the data. */
export const SERVICE_LINKS = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</docs>; rel="service-doc"; type="text/html"',
  '</status>; rel="status"',
  '<https://creativecommons.org/licenses/by/4.0/>; rel="license"',
].join(', ');

/** The whole `Link` header of a response with further pages. */
export function linkHeader(
  { path, query: schema }: Pick<Operation, 'path' | 'query'>,
  query: Readonly<Record<string, unknown>>,
  { prev, next }: Pages,
): string | undefined {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const usual = JSON.stringify(schema.shape[name]?.safeParse(undefined).data);
    if (name === 'cursor' || JSON.stringify(value) === usual) continue;
    for (const [part, text] of write(name, value)) parameters.set(part, text);
  }
  const links = Object.entries({ prev, next }).flatMap(([rel, cursor]) =>
    cursor ? `<${path}?${parameters}&cursor=${cursor}>; rel="${rel}"` : [],
  );
  return links.length > 0 ? [SERVICE_LINKS, ...links].join(', ') : undefined;
}

/** A value as a caller would write it. */
function write(name: string, value: unknown): [name: string, text: string][] {
  // Date and time in one are read as ISO 8601 only.
  const [date, time] = name === 'time' ? String(value).split('T') : [];
  if (date && time)
    return [
      ['date', date],
      ['time', time],
    ];
  const isAll = name === 'modes' && Array.isArray(value) && value.length === MODES.length;
  return [[name, isAll ? 'all' : String(value)]];
}

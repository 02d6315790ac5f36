import { ERROR_TABLE, type ErrorCode } from '../../errors/api-error.ts';
import { ERROR_DOCS } from '../../errors/docs.ts';
import { toParameters } from '../../http/openapi/schema.ts';
import { type Operation, streamPath } from '../../operation.ts';
import { listFields } from './fields.ts';
import type { Guide } from './guides.ts';
import { plainText } from './markdown.ts';
import { operationSlug } from './operation-page.ts';

/** One thing that the search in the page can find. */
export interface SearchEntry {
  page: string;
  heading: string;
  url: string;
  text: string;
}

/** Everything that the documentation says, for `assets/docs-search.js`, which runs in the browser. */
export function buildSearchIndex(
  guides: readonly Guide[],
  operating: readonly Guide[],
  operations: readonly Operation[],
): SearchEntry[] {
  const operationsFound = operations.flatMap(operationEntries);
  const fields = {
    page: 'Fields',
    heading: 'Fields',
    url: '/docs/fields',
    text: 'Every field of every response by its name.',
  };
  // Of the pages for operators the beginning only: their words would hide what developers look for.
  const begins = operating.flatMap((page) => guideEntries(page).slice(0, 1));
  return [...guides.flatMap(guideEntries), ...begins, ...operationsFound, ...errorEntries(), fields];
}

function guideEntries({ name, title, sections }: Guide): SearchEntry[] {
  return sections.map(({ heading, anchor, text }) => ({
    page: title,
    heading,
    url: `/docs/${name}${anchor && `#${anchor}`}`,
    text,
  }));
}

function operationEntries(operation: Operation): SearchEntry[] {
  const { path, summary, description, body, example, stream } = operation;
  const url = `/docs/operations/${operationSlug(path)}`;
  const page = `GET ${path}`;
  const parameters = toParameters(operation).map(({ name, description = '' }) => ({
    page,
    heading: String(name),
    url: `${url}#parameter-${name}`,
    text: plainText(String(description)),
  }));
  const fields = listFields(body, example.body).flatMap((field) =>
    'variant' in field
      ? []
      : [{ page, heading: field.path, url: `${url}#${field.anchor}`, text: plainText(field.description) }],
  );
  const entries = [{ page, heading: summary, url, text: plainText(description) }, ...parameters, ...fields];
  if (!stream) return entries;
  const streamed = streamPath(operation);
  const streamUrl = `/docs/operations/${operationSlug(streamed)}`;
  return [...entries, { page: `GET ${streamed}`, heading: stream.summary, url: streamUrl, text: stream.description }];
}

function errorEntries(): SearchEntry[] {
  return (Object.keys(ERROR_TABLE) as ErrorCode[]).map((code) => {
    const { title, cause, fix, retry } = ERROR_DOCS[code];
    const text = [title, cause, ...fix, retry].join(' ');
    return { page: 'Errors', heading: `${ERROR_TABLE[code].status} ${code}`, url: `/docs/errors/${code}`, text };
  });
}

import { urlOf } from '#src/http/paths.ts';
/** The parts of an OpenAPI document that the checks use. */
export interface Document {
  paths: Record<string, { get?: Described; post?: Described }>;
  components: { parameters: Record<string, Parameter> };
}

interface Described {
  parameters?: (Parameter | { $ref: string })[];
  responses: Record<string, Response>;
}

export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required?: boolean;
  schema: Schema;
}

export interface Schema {
  type?: string;
  enum?: string[];
  pattern?: string;
  items?: Schema;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  default?: unknown;
  examples?: unknown[];
}

interface Response {
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: object }>;
}

/** The one operation of a path. */
export function operationOf(document: Document, path: string): { method: string; described?: Described | undefined } {
  const { get, post } = document.paths[path] ?? {};
  return get ? { method: 'GET', described: get } : { method: 'POST', described: post };
}

export function parametersOf(document: Document, path: string): Parameter[] {
  return (operationOf(document, path).described?.parameters ?? []).map((parameter) =>
    '$ref' in parameter
      ? (document.components.parameters[parameter.$ref.split('/').at(-1) ?? ''] as Parameter)
      : parameter,
  );
}

/** The value as written in a URL or header, with lists separated by commas. */
export const toText = (value: unknown): string => (Array.isArray(value) ? value.join(',') : String(value));

/** The URL of a path with the document's examples of its required parameters or of all. */
export function exampleUrl(document: Document, path: string, which: 'required' | 'all'): string {
  const shown = parametersOf(document, path)
    .filter((parameter) => parameter.in !== 'header' && (parameter.required || which === 'all'))
    // A cursor belongs to one list and expires soon.
    .filter(({ name }) => name !== 'cursor')
    .map(({ name, schema }): [string, string] => [name, toText(schema.examples?.[0] ?? schema.default)]);
  return urlOf(path, new URLSearchParams(shown).toString());
}

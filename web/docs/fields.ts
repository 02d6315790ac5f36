import type { z } from 'zod';
import { toComponents } from '#src/http/openapi/schema.ts';

/** A response field as listed on the page of its operation. */
export interface Field {
  /** "departures[].realtime_at" */
  path: string;
  /** "string or null" */
  type: string;
  description: string;
  /**
   * Its ID on the page. Fields of later variants have a number appended. Fields of a record that was described earlier have the
   * IDs from there.
   */
  anchor: string;
  /** The earlier field with the same fields inside: "legs[].from" for "legs[].to". The page describes them once. */
  sameAs?: { path: string; anchor: string } | undefined;
  /** The fields inside it, with the variants that they belong to. */
  inner: (Field | Variant)[];
  /** JSON of a value from the operation's example, if it has a short one. */
  example: string | undefined;
}

/** One of several possible shapes of a record. */
export interface Variant {
  variant: string;
}

/** The parts of JSON Schema that our responses use. */
interface Schema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
  prefixItems?: Schema[];
  anyOf?: Schema[];
  $ref?: string;
}

/** Lists every field of a response, outer before inner. */
export function listFields(body: z.ZodType, example: object): (Field | Variant)[] {
  const flatten = (fields: readonly (Field | Variant)[]): (Field | Variant)[] =>
    fields.flatMap((one) => ('variant' in one ? [one] : [one, ...flatten(one.inner)]));
  return flatten(buildFieldTree(body, example));
}

/** Builds the tree of a response's fields from the schema used by OpenAPI. */
export function buildFieldTree(body: z.ZodType, example: object): (Field | Variant)[] {
  const { own, needed } = toComponents(body, example);
  const schemas = { ...needed, ...own } as Record<string, Schema>;
  const [root = {}] = Object.values(own) as Schema[];

  const anchorCounts = new Map<string, number>();
  /** The first field with these fields inside, by the shape of the inner ones. */
  const described = new Map<string, Field>();

  function anchorOf(path: string): string {
    const count = (anchorCounts.get(path) ?? 0) + 1;
    anchorCounts.set(path, count);
    return count === 1 ? fieldAnchor(path) : `${fieldAnchor(path)}-${count}`;
  }

  function resolve(schema: Schema): Schema {
    const [nonNull, empty] = schema.anyOf ?? [];
    if (nonNull && empty?.type === 'null') {
      const { type = 'object', ...known } = resolve(nonNull);
      return { ...known, description: schema.description ?? '', type: [type, 'null'].flat() };
    }
    const name = schema.$ref?.split('/').at(-1);
    return name ? { ...schemas[name], ...schema } : schema;
  }

  function fieldsOf(schema: Schema, prefix: string): Field[] {
    return Object.entries(schema.properties ?? {}).map(([name, property]) => {
      const field = resolve(property);
      const path = prefix + name;
      const anchor = anchorOf(path);
      const exampleJson = JSON.stringify(valuesAt(example, path).find((value) => value !== null) ?? undefined);
      const isShort =
        exampleJson !== undefined &&
        exampleJson.length <= MAX_EXAMPLE_LENGTH &&
        !/^[[{]./.test(exampleJson.replace('[]', ''));
      const entry: Field = {
        path,
        anchor,
        type: typeName(field, resolve),
        description: field.description ?? '',
        example: isShort ? exampleJson : undefined,
        inner: inside(field, path),
      };
      return withSameAs(entry);
    });
  }

  /** Records the field; if an earlier one has the same fields inside, refers to it. */
  function withSameAs(field: Field): Field {
    if (field.inner.length === 0) return field;
    const shape = shapeOf(field.inner, field.path);
    const first = described.get(shape);
    if (!first) {
      described.set(shape, field);
      return field;
    }
    const { path, anchor } = first;
    return { ...field, sameAs: { path, anchor }, inner: withAnchorsOf(field.inner, first.inner) };
  }

  function inside(field: Schema, path: string): (Field | Variant)[] {
    if (!field.items) return fieldsOf(field, `${path}.`);
    const item = resolve(field.items);
    if (!item.anyOf) return fieldsOf(item, `${path}[].`);
    return item.anyOf
      .map(resolve)
      .flatMap((schema) => [{ variant: schema.description ?? '' }, ...fieldsOf(schema, `${path}[].`)]);
  }

  return fieldsOf(root, '');
}

/** The names, types and descriptions of fields, without the path of the record that has them. */
function shapeOf(fields: readonly (Field | Variant)[], within: string): string {
  const parts = fields.map((one) =>
    'variant' in one
      ? one
      : [one.path.slice(within.length).replace(/^\[\]/, ''), one.type, one.description, shapeOf(one.inner, one.path)],
  );
  return fields.length > 0 ? JSON.stringify(parts) : '';
}

function withAnchorsOf(fields: readonly (Field | Variant)[], first: readonly (Field | Variant)[]): (Field | Variant)[] {
  return fields.map((one, index) => {
    const other = first[index];
    if ('variant' in one || !other || 'variant' in other) return one;
    return { ...one, anchor: other.anchor, inner: withAnchorsOf(one.inner, other.inner) };
  });
}

/** Returns all values at a path: two for "departures[].route" of two departures. */
function valuesAt(value: unknown, path: string): unknown[] {
  return path.split('.').reduce<unknown[]>(
    (records, step) =>
      records.flatMap((record) => {
        const inner = (record as Record<string, unknown> | null)?.[step.replace('[]', '')];
        return step.endsWith('[]') ? ((inner as unknown[] | undefined) ?? []) : [inner];
      }),
    [value],
  );
}

const MAX_EXAMPLE_LENGTH = 60;
/** An enum with more values is shown by its type instead. */
const MAX_LISTED_VALUES = 9;

/** "integer", "array of strings", "MANY_SEATS, FEW_SEATS or null" */
export function typeName(schema: Schema, resolve: (part: Schema) => Schema = (part) => part): string {
  const types = [schema.type ?? 'object'].flat();
  const orNull = types.includes('null') ? ' or null' : '';
  const [type = ''] = types.filter((name) => name !== 'null');
  if (schema.enum && schema.enum.length <= MAX_LISTED_VALUES)
    return schema.enum.filter((value) => value !== null).join(', ') + orNull;
  if (type !== 'array') return type + orNull;
  const item = resolve(schema.items ?? {});
  if (item.prefixItems) return `array of pairs${orNull}`;
  if (item.enum) return `array of ${typeName(item, resolve)}`;
  return `array of ${typeName(item, resolve)}s${orNull}`;
}

/** "departures[].realtime_at" → "field-departures-realtime_at" */
function fieldAnchor(path: string): string {
  return `field-${path.replaceAll('[]', '').replaceAll('.', '-')}`;
}

import type { z } from 'zod';
import { toComponents } from '#src/http/openapi/schema.ts';

/** A response field as listed on the page of its operation. */
export interface Field {
  /** "departures[].realtime_at" */
  path: string;
  /** Name in OpenAPI of the record that has the field, and the record's path: "Departure", "departures[]." */
  record: string;
  within: string;
  /** "string or null" */
  type: string;
  description: string;
  /** Its ID on the page; fields of further variants have a number appended. */
  anchor: string;
  /** JSON of a value from the operation's example, if it has a short one. */
  example: string | undefined;
}

/** One of several possible shapes of a record. */
export interface Variant {
  variant: string;
}

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

/** Lists every field of a response, outer before inner, from the schema used by OpenAPI. */
export function listFields(body: z.ZodType, example: object): (Field | Variant)[] {
  const { own, needed } = toComponents(body, example);
  const schemas = { ...needed, ...own } as Record<string, Schema>;
  const [[rootName, root] = ['', {}]] = Object.entries(own) as [string, Schema][];

  const anchorCounts = new Map<string, number>();

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

  function fieldsOf(schema: Schema, prefix: string, outer: Pick<Field, 'record' | 'within'>): (Field | Variant)[] {
    const record = schema.$ref?.split('/').at(-1);
    const place = record ? { record, within: prefix } : outer;
    return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
      const field = resolve(property);
      const path = prefix + name;
      const { description = '' } = field;
      const anchor = anchorOf(path);
      const exampleJson = JSON.stringify(valuesAt(example, path).find((value) => value !== null) ?? undefined);
      const isShort =
        exampleJson !== undefined &&
        exampleJson.length <= MAX_EXAMPLE_LENGTH &&
        !/^[[{]./.test(exampleJson.replace('[]', ''));
      const entry = {
        ...place,
        path,
        anchor,
        type: typeName(field, resolve),
        description,
        example: isShort ? exampleJson : undefined,
      };
      return [entry, ...inside(field, path, place)];
    });
  }

  function inside(field: Schema, path: string, place: Pick<Field, 'record' | 'within'>): (Field | Variant)[] {
    if (!field.items) return fieldsOf(field, `${path}.`, place);
    const item = resolve(field.items);
    if (!item.anyOf) return fieldsOf(item, `${path}[].`, place);
    return item.anyOf
      .map(resolve)
      .flatMap((schema) => [{ variant: schema.description ?? '' }, ...fieldsOf(schema, `${path}[].`, place)]);
  }

  return fieldsOf(root, '', { record: rootName, within: '' });
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

import { z } from 'zod';
import type { Operation } from '../../operations/operation.ts';
import { pathParameters } from '../paths.ts';

type JsonSchema = Record<string, unknown>;

const COMMAS = { style: 'form', explode: false };

/** The parameters of an operation: required where no default stands in for an absent value. */
export function toParameters({ path, query }: Pick<Operation, 'path' | 'query'>) {
  const inPath = pathParameters(path);
  return (Object.entries(query.shape) as [string, z.ZodType][]).map(([name, field]) => {
    const { description, ...schema } = tidy({ ...field.meta() });
    const required = !field.safeParse(undefined).success;
    // A list is written with commas between.
    const isPart = inPath.includes(name);
    const lists = schema.type === 'array' && COMMAS;
    return { name, in: isPart ? 'path' : 'query', required, description, ...lists, schema };
  });
}

/**
 * The body of a response, or of a request (`input`), as a reference, its own schema and those it needs, by name. The example stands in the schema,
 * because converters take it from there.
 */
export function toComponents(
  body: z.ZodType,
  example: object,
  io: 'input' | 'output' = 'output',
): { ref: JsonSchema; own: Record<string, JsonSchema>; needed: Record<string, JsonSchema> } {
  const name = body.meta()?.id ?? '';
  const { $defs = {}, ...root } = toJsonSchema(body, io);
  // A schema that refers to itself by its name stands among the definitions.
  const own = { [name]: { ...($defs[name] ?? root), examples: [example] } };
  return {
    ref: { $ref: `#/components/schemas/${name}` },
    own: pointToComponents(own),
    needed: pointToComponents($defs),
  };
}

/** The body of a response as JSON Schema; the schemas that it refers to by name stand in `$defs`. */
export function toJsonSchema(
  body: z.ZodType,
  io: 'input' | 'output' = 'output',
): JsonSchema & { $defs?: Record<string, JsonSchema> } {
  const { $schema: _, ...schema } = z.toJSONSchema(body, { io, override: cleanse }) as JsonSchema;
  return schema;
}

/** Removes what a reader does not need, and what would bind readers to the fields of today. */
function cleanse({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  delete jsonSchema.additionalProperties;
  delete jsonSchema.id;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (Array.isArray(jsonSchema.prefixItems)) boundTuple(jsonSchema, jsonSchema.prefixItems);
  foldNull(jsonSchema);
  tidy(jsonSchema);
}

/** A tuple has as many items as it lists; in JSON Schema that has to be said. */
function boundTuple(jsonSchema: JsonSchema, { length }: readonly unknown[]): void {
  Object.assign(jsonSchema, { minItems: length, maxItems: length });
  delete jsonSchema.items;
}

/** `anyOf: [X, null]` as one schema that may be null. */
function foldNull(jsonSchema: JsonSchema): void {
  const [kept, empty] = (jsonSchema.anyOf ?? []) as JsonSchema[];
  if (empty?.type !== 'null' || typeof kept?.type !== 'string') return;
  delete jsonSchema.anyOf;
  const outer = { ...jsonSchema };
  Object.assign(jsonSchema, kept, outer, { type: [kept.type, 'null'] });
  if (Array.isArray(kept.enum)) jsonSchema.enum = [...kept.enum, null];
}

/** `example` is an old word for `examples`. */
function tidy(jsonSchema: JsonSchema): JsonSchema {
  if (jsonSchema.example !== undefined) {
    jsonSchema.examples = [jsonSchema.example];
    delete jsonSchema.example;
  }
  return jsonSchema;
}

function pointToComponents<T>(schemas: T): T {
  return JSON.parse(JSON.stringify(schemas).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

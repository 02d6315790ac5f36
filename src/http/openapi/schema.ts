import { z } from 'zod';
import type { Operation } from '../../operations/operation.ts';
import { pathParameters } from '../paths.ts';

type JsonSchema = Record<string, unknown>;

const COMMAS = { style: 'form', explode: false };

/** The parameters of an operation: required unless they have a default. */
export function toParameters({ path, query }: Operation) {
  const inPath = pathParameters(path);
  return (Object.entries(query.shape) as [string, z.ZodType][]).map(([name, field]) => {
    const { description, ...schema } = tidy({ ...field.meta() });
    const required = !field.safeParse(undefined).success;
    // Lists are separated by commas.
    const isPart = inPath.includes(name);
    const lists = schema.type === 'array' && COMMAS;
    return { name, in: isPart ? 'path' : 'query', required, description, ...lists, schema };
  });
}

/**
 * The body of a response, or of a request (`input`): a reference to its schema (`ref`), the schema by name (`own`), and by name
 * the schemas that it refers to (`needed`). The example is inside the schema, because converters take it from there.
 */
export function toComponents(
  body: z.ZodType,
  example: object,
  io: 'input' | 'output' = 'output',
): { ref: JsonSchema; own: Record<string, JsonSchema>; needed: Record<string, JsonSchema> } {
  const name = body.meta()?.id ?? '';
  const { $defs = {}, ...root } = toJsonSchema(body, io);
  // A schema that refers to itself by name is among the definitions.
  const ownSchema = { [name]: { ...($defs[name] ?? root), examples: [example] } };
  return {
    ref: { $ref: `#/components/schemas/${name}` },
    own: pointToComponents(ownSchema),
    needed: pointToComponents($defs),
  };
}

/** The body of a response as JSON Schema; schemas that it refers to by name are in `$defs`. */
export function toJsonSchema(
  body: z.ZodType,
  io: 'input' | 'output' = 'output',
): JsonSchema & { $defs?: Record<string, JsonSchema> } {
  const { $schema: _, ...schema } = z.toJSONSchema(body, { io, override: cleanSchema }) as JsonSchema;
  return schema;
}

/** Removes what readers do not need, and `additionalProperties`, which would forbid future fields. */
function cleanSchema({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  delete jsonSchema.additionalProperties;
  delete jsonSchema.id;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (Array.isArray(jsonSchema.prefixItems)) boundTuple(jsonSchema, jsonSchema.prefixItems);
  foldNull(jsonSchema);
  tidy(jsonSchema);
}

/** A tuple has exactly the items that it lists, which JSON Schema must state explicitly. */
function boundTuple(jsonSchema: JsonSchema, { length }: readonly unknown[]): void {
  Object.assign(jsonSchema, { minItems: length, maxItems: length });
  delete jsonSchema.items;
}

/** Folds `anyOf: [X, null]` into one nullable schema. */
function foldNull(jsonSchema: JsonSchema): void {
  const [nonNull, empty] = (jsonSchema.anyOf ?? []) as JsonSchema[];
  if (empty?.type !== 'null' || typeof nonNull?.type !== 'string') return;
  delete jsonSchema.anyOf;
  const outer = { ...jsonSchema };
  Object.assign(jsonSchema, nonNull, outer, { type: [nonNull.type, 'null'] });
  if (Array.isArray(nonNull.enum)) jsonSchema.enum = [...nonNull.enum, null];
}

/** Converts the older `example` to `examples`. */
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

import { z } from 'zod';

type JsonSchema = Record<string, unknown>;

/** The parameters of a query: required where no default stands in for an absent value. */
export function toParameters(query: z.ZodObject): JsonSchema[] {
  return (Object.entries(query.shape) as [string, z.ZodType][]).map(([name, field]) => {
    const { description, ...schema } = tidy({ ...field.meta() });
    return { name, in: 'query', required: !field.safeParse(undefined).success, description, schema };
  });
}

/** The body of an answer as a reference, and every schema it needs by name. */
export function toComponents(body: z.ZodType): { ref: JsonSchema; schemas: Record<string, JsonSchema> } {
  const name = body.meta()?.id ?? '';
  const {
    $defs = {},
    $schema: _,
    ...root
  } = z.toJSONSchema(body, { io: 'output', override: cleanse }) as JsonSchema & {
    $defs?: Record<string, JsonSchema>;
  };
  const schemas = { [name]: root, ...$defs };
  return { ref: { $ref: `#/components/schemas/${name}` }, schemas: pointToComponents(schemas) };
}

/** What zod says more than a reader needs, or what would bind readers to the fields of today. */
function cleanse({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  delete jsonSchema.additionalProperties;
  delete jsonSchema.id;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  // The format says it.
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  foldNull(jsonSchema);
  tidy(jsonSchema);
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

import { toSydneyTimestamp } from '../transit/time.ts';

type JsonSchema = Record<string, unknown>;

/** The fields of all bodies that are moments. */
const MOMENT = /_at(_realtime)?$/;
const LOCAL = '_local';

/**
 * The body of an operation as an assistant gets it: beside each moment the time in Sydney, and each alert once, under a
 * short name that the records of the body use.
 */
export function toToolBody(body: object): object {
  const names = new Map<string, string>();
  const nameOf = (text: string) => {
    const name = names.get(text) ?? `A${names.size + 1}`;
    names.set(text, name);
    return name;
  };

  function rewrite(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(rewrite);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, field]) => {
        if (key === 'alerts' && areTexts(field)) return [[key, field.map(nameOf)]];
        // The points of a path are many, and nothing in them is rewritten.
        if (key === 'path') return [[key, field]];
        const local = MOMENT.test(key) ? [[key + LOCAL, field && toSydneyTimestamp(String(field))]] : [];
        return [[key, rewrite(field)], ...local];
      }),
    );
  }

  const rewritten = rewrite(body) as object;
  const alerts = Object.fromEntries([...names].map(([text, name]) => [name, text]));
  return names.size === 0 ? rewritten : { ...rewritten, alerts };
}

/** False for a list of whole alerts, which a body has instead of the texts. */
function areTexts(alerts: unknown): alerts is string[] {
  return Array.isArray(alerts) && alerts.every((alert) => typeof alert === 'string');
}

/** The schema of such a body. `schema` is the schema of the operation's body. */
export function toToolSchema(schema: JsonSchema): JsonSchema {
  const rewritten = rewriteSchema(schema) as JsonSchema;
  const properties = {
    ...(rewritten.properties as JsonSchema),
    // A body that lists whole alerts has them under this name itself.
    ...(!isListOfObjects((schema.properties as Record<string, JsonSchema> | undefined)?.alerts) && {
      alerts: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'The texts of all alerts, by the names that records use; absent when there are none',
      },
    }),
    notes: {
      type: 'array',
      items: { type: 'string' },
      description:
        'What else to know: which stop a name was taken for, why a list is empty, what was left out as too long',
    },
  };
  return { ...rewritten, properties };
}

function rewriteSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(rewriteSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'properties' ? rewriteProperties(value as Record<string, JsonSchema>) : rewriteSchema(value),
    ]),
  );
}

function rewriteProperties(properties: Record<string, JsonSchema>): JsonSchema {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) => {
      if (name === 'alerts' && !isListOfObjects(schema)) {
        const description = 'Names of alerts; their texts stand once in `alerts` of the whole answer';
        return [[name, { type: 'array', items: { type: 'string' }, description }]];
      }
      const local = { type: schema.type, description: 'The same moment by the clocks of Sydney' };
      return [[name, rewriteSchema(schema)], ...(MOMENT.test(name) ? [[name + LOCAL, local]] : [])];
    }),
  );
}

function isListOfObjects(schema: JsonSchema | undefined): boolean {
  const items = schema?.items as JsonSchema | undefined;
  return items !== undefined && items.type !== 'string';
}

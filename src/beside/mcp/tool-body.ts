import { toSydneyTimestamp } from '../../transit/time.ts';

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
  const alert_texts = Object.fromEntries([...names].map(([text, name]) => [name, text]));
  return names.size === 0 ? rewritten : { ...rewritten, alert_texts };
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
    alert_texts: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'The texts of all alerts, by the names that `alerts` use; absent when there are none',
    },
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
        const description = 'Names of alerts; their texts stand once in `alert_texts` of the whole response';
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

const MAX_ALERT_LENGTH = 200;

/**
 * The body as JSON of at most `maxLength` characters. What an assistant misses least goes first: the paths of legs, the
 * ends of long alerts, the alerts, and then the last records of the list. A record that is shown has all its other fields.
 * `leftOut` says in words what is missing.
 */
export function shorten(body: object, maxLength: number) {
  const leftOut: string[] = [];
  let short = body;
  for (const { what, replace } of STEPS) {
    const text = JSON.stringify(short);
    if (text.length <= maxLength) return { text, leftOut };
    const shorter = JSON.parse(text, replace);
    if (JSON.stringify(shorter).length === text.length) continue;
    leftOut.push(what);
    short = shorter;
  }
  return cutList(short, maxLength, leftOut);
}

const STEPS: { what: string; replace: (key: string, value: unknown) => unknown }[] = [
  {
    what: 'the paths of legs',
    replace: (key, value) => (key === 'path' ? [] : key === 'polyline' ? undefined : value),
  },
  {
    what: 'the ends of long alerts',
    replace: (key, value) => (key === 'alert_texts' ? cutAlerts(value as Record<string, string>) : value),
  },
  {
    what: 'all alerts',
    replace: (key, value) => (key === 'alert_texts' ? undefined : key === 'alerts' && areTexts(value) ? [] : value),
  },
];

function cutAlerts(texts: Record<string, string>): Record<string, string> {
  const cut = (alert: string) => (alert.length > MAX_ALERT_LENGTH ? `${alert.slice(0, MAX_ALERT_LENGTH - 1)}…` : alert);
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, cut(text)]));
}

/** Keeps as many records of the body's list as fit. */
function cutList(body: object, maxLength: number, leftOut: string[]) {
  const text = JSON.stringify(body);
  const [name, records] = Object.entries(body).find(([, value]) => Array.isArray(value)) ?? [];
  if (text.length <= maxLength || name === undefined) return { text, leftOut };
  let room = maxLength - JSON.stringify({ ...body, [name]: [] }).length;
  const kept = (records as unknown[]).findIndex((record) => {
    room -= JSON.stringify(record).length + 1;
    return room < 0;
  });
  const cut = { ...body, [name]: records.slice(0, kept) };
  leftOut.push(`the last ${records.length - kept} of ${records.length} ${name}`);
  return { text: JSON.stringify(cut), leftOut };
}

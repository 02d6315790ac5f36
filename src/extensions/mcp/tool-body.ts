import { toSydneyTimestamp } from '../../transit/time.ts';

type BodySchema = Record<string, unknown>;

/** Names of fields with a timestamp, or with a list of them. */
const MOMENT = /_at(_realtime)?$|^times$/;
const LOCAL = '_local';

/**
 * Rewrites an operation's body for assistants: adds the Sydney time to each timestamp, and lists each alert text once under a
 * short name that records refer to.
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
        // Skip paths: they have many points and nothing to rewrite.
        if (key === 'path') return [[key, field]];
        const local = MOMENT.test(key) ? [[key + LOCAL, toLocal(field)]] : [];
        return [[key, rewrite(field)], ...local];
      }),
    );
  }

  const rewritten = rewrite(body) as object;
  const alert_texts = Object.fromEntries([...names].map(([text, name]) => [name, text]));
  return names.size === 0 ? rewritten : { ...rewritten, alert_texts };
}

function toLocal(field: unknown): unknown {
  return Array.isArray(field) ? field.map(toLocal) : field && toSydneyTimestamp(String(field));
}

/** False for a list of alert objects. */
function areTexts(alerts: unknown): alerts is string[] {
  return Array.isArray(alerts) && alerts.every((alert) => typeof alert === 'string');
}

/** Returns the schema of the rewritten body, from that of the operation's body. */
export function toToolSchema(schema: BodySchema): BodySchema {
  const rewritten = rewriteSchema(schema) as BodySchema;
  const properties = {
    ...(rewritten.properties as BodySchema),
    alert_texts: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'The texts of all alerts, by the names that `alerts` use; absent when there are none',
    },
    notes: {
      type: 'array',
      items: { type: 'string' },
      description:
        'Notes: the stop that a name was resolved to, why a list is empty, what was left out to shorten the response',
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
      key === 'properties' ? rewriteProperties(value as Record<string, BodySchema>) : rewriteSchema(value),
    ]),
  );
}

function rewriteProperties(properties: Record<string, BodySchema>): BodySchema {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) => {
      if (name === 'alerts' && !isListOfObjects(schema)) {
        const description = 'Names of alerts; the `alert_texts` of the whole response contains each text once';
        return [[name, { type: 'array', items: { type: 'string' }, description }]];
      }
      const local = { type: schema.type, description: 'The same time in Sydney local time' };
      return [[name, rewriteSchema(schema)], ...(MOMENT.test(name) ? [[name + LOCAL, local]] : [])];
    }),
  );
}

function isListOfObjects(schema: BodySchema | undefined): boolean {
  const items = schema?.items as BodySchema | undefined;
  return items !== undefined && items.type !== 'string';
}

const MAX_ALERT_LENGTH = 200;

/**
 * Returns the body as JSON of at most `maxLength` characters. Drops the paths of legs first, then the ends of long alerts, all
 * alerts, and the last records of the list. `leftOut` describes what was dropped.
 */
export function shorten(body: object, maxLength: number) {
  const leftOut: string[] = [];
  let short = body;
  for (const { description, replace } of STEPS) {
    const text = JSON.stringify(short);
    if (text.length <= maxLength) return { text, leftOut };
    const shorter = JSON.parse(text, replace);
    if (JSON.stringify(shorter).length === text.length) continue;
    leftOut.push(description);
    short = shorter;
  }
  return cutList(short, maxLength, leftOut);
}

const STEPS: { description: string; replace: (key: string, value: unknown) => unknown }[] = [
  {
    description: 'the paths of legs',
    replace: (key, value) => (key === 'path' ? [] : key === 'polyline' ? undefined : value),
  },
  {
    description: 'the ends of long alerts',
    replace: (key, value) => (key === 'alert_texts' ? cutAlerts(value as Record<string, string>) : value),
  },
  {
    description: 'all alerts',
    replace: (key, value) => (key === 'alert_texts' ? undefined : key === 'alerts' && areTexts(value) ? [] : value),
  },
];

function cutAlerts(texts: Record<string, string>): Record<string, string> {
  const shortenAlert = (alert: string) =>
    alert.length > MAX_ALERT_LENGTH ? `${alert.slice(0, MAX_ALERT_LENGTH - 1)}…` : alert;
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, shortenAlert(text)]));
}

/** Keeps the first records of the list, up to the maximum length. */
function cutList(body: object, maxLength: number, leftOut: string[]) {
  const text = JSON.stringify(body);
  const [name, records] = Object.entries(body).find(([, value]) => Array.isArray(value)) ?? [];
  if (text.length <= maxLength || name === undefined) return { text, leftOut };
  let room = maxLength - JSON.stringify({ ...body, [name]: [] }).length;
  const keptCount = (records as unknown[]).findIndex((record) => {
    room -= JSON.stringify(record).length + 1;
    return room < 0;
  });
  const shortened = { ...body, [name]: records.slice(0, keptCount) };
  leftOut.push(`the last ${records.length - keptCount} of ${records.length} ${name}`);
  return { text: JSON.stringify(shortened), leftOut };
}

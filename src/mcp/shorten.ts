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
    replace: (key, value) => (key === 'alerts' && isTexts(value) ? mapValues(value, cutAlert) : value),
  },
  {
    what: 'all alerts',
    replace: (key, value) => (key !== 'alerts' || areWhole(value) ? value : isTexts(value) ? undefined : []),
  },
];

/** The texts of alerts, by their names; the records have lists of names. */
function isTexts(alerts: unknown): alerts is Record<string, string> {
  return !Array.isArray(alerts);
}

/** The alerts that were asked for are the records of the body. */
function areWhole(alerts: unknown): boolean {
  return Array.isArray(alerts) && alerts.some((alert) => typeof alert === 'object');
}

function mapValues(texts: Record<string, string>, map: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, map(text)]));
}

function cutAlert(alert: string): string {
  return alert.length > MAX_ALERT_LENGTH ? `${alert.slice(0, MAX_ALERT_LENGTH - 1)}…` : alert;
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

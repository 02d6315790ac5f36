import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { excerpt } from '../../efa/failure.ts';
import type { Received, Step, Transport } from './check.ts';

/** Headers that tell something about the authority and nothing about who sent the request. */
const KEPT_HEADERS = /^(content-type|content-encoding|date|retry-after|server|cache-control|x-error-detail)$/;
const TELLING_HEADERS = /quota|rate-?limit|plan/;
/** Names of what a response says about the call itself. */
const PRIVATE_FIELDS = /^(transaction|session|request(ed)?)[-_]?(id|url)$/i;

const savedSchema = z.strictObject({
  id: z.string(),
  endpoint: z.string(),
  query: z.record(z.string(), z.string()),
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  sentAt: z.number(),
  tookMs: z.number(),
  /** Text, or base64 of a feed. */
  body: z.string(),
  encoding: z.enum(['utf8', 'base64']),
});

type Saved = z.infer<typeof savedSchema>;

/** `transport` that writes each response into the folder, without key, cookies, transaction ids and the requested URL. */
export async function savingTransport(
  folder: string,
  transport: Transport,
  keys: readonly string[],
): Promise<Transport> {
  await mkdir(folder, { recursive: true });
  let count = 0;
  return async (step) => {
    const number = String(++count).padStart(2, '0');
    const received = await transport(step);
    const saved = toSaved(step, received, keys);
    await writeFile(join(folder, `${number}-${step.id}.json`), `${JSON.stringify(saved, null, 2)}\n`, { mode: 0o600 });
    return received;
  };
}

function toSaved({ id, path, base }: Step, received: Received, keys: readonly string[]): Saved {
  const { status, headers, body, sentAt, tookMs } = received;
  const [endpoint = '', query = ''] = path.slice(1).split('?');
  const kept = Object.entries(headers).filter(([name]) => KEPT_HEADERS.test(name) || TELLING_HEADERS.test(name));
  const isFeed = base === 'feeds' && status === 200;
  return {
    id,
    endpoint,
    query: Object.fromEntries(new URLSearchParams(query)),
    status,
    headers: Object.fromEntries(kept.map(([name, value]) => [name, withoutKeys(value, keys)])),
    sentAt,
    tookMs,
    body: isFeed ? body.toString('base64') : withoutKeys(cleanText(body.toString(), status), keys),
    encoding: isFeed ? 'base64' : 'utf8',
  };
}

/** Error pages repeat the requested URL in their markup; responses name their transaction. */
function cleanText(text: string, status: number): string {
  try {
    return JSON.stringify(JSON.parse(text, (name, value) => (PRIVATE_FIELDS.test(name) ? undefined : value)));
  } catch {
    return status === 200 ? text : excerpt(text, '');
  }
}

function withoutKeys(text: string, keys: readonly string[]): string {
  return keys.filter(Boolean).reduce((rest, key) => rest.replaceAll(key, '[our key]'), text);
}

/** Responses of a folder in place of the authority's, found by the id of their step. */
export async function replayTransport(folder: string): Promise<{ transport: Transport; now: () => number }> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  const saved = await Promise.all(files.map((name) => readSaved(join(folder, name))));
  const byId = new Map(saved.map((one) => [one.id, one]));
  let latest = saved[0]?.sentAt ?? 0;
  const transport: Transport = async ({ id }) => {
    const found = byId.get(id);
    if (!found) throw new Error(`the folder has no response ${id}`);
    const { status, headers, sentAt, tookMs, body, encoding } = found;
    latest = sentAt;
    return { status, headers, sentAt, tookMs, body: Buffer.from(body, encoding) };
  };
  return { transport, now: () => latest };
}

/** Throws an error that names the file when it is no saved response. */
async function readSaved(file: string): Promise<Saved> {
  const parsed = savedSchema.safeParse(JSON.parse(await readFile(file, 'utf8')));
  if (!parsed.success) throw new Error(`${file} is no saved response: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** A fixture of the tests but for its expected response: the request of a caller, the moment, and what upstream sent. */
export async function toFixture(file: string): Promise<object> {
  const { endpoint, query, sentAt, tookMs, body } = await readSaved(file);
  const request = requestOf(endpoint, query);
  if (!request) throw new Error(`${file} is a response of ${endpoint}, of which no fixture is made`);
  const now = new Date(sentAt + tookMs).toISOString();
  return { request, now, upstream: { [endpoint]: JSON.parse(body) }, answer: {} };
}

function requestOf(endpoint: string, query: Readonly<Record<string, string>>): string | null {
  const { name_dm = '', name_sf = '', coord = '', radius_1 = '', name_origin = '', name_destination = '' } = query;
  const at = query.itdDate ? `&date=${query.itdDate}&time=${query.itdTime}` : '';
  const [lng, lat] = coord.split(':');
  switch (endpoint) {
    case 'departure_mon':
      return `/v1/departures?stop=${name_dm}&modes=all${at}`;
    case 'stop_finder':
      return `/v1/stops/search?q=${encodeURIComponent(name_sf)}`;
    case 'coord':
      return `/v1/nearby?lat=${lat}&lng=${lng}&radius=${radius_1}`;
    case 'trip':
      return `/v1/trips?from=${toPlace(name_origin)}&to=${toPlace(name_destination)}${at}`;
    default:
      return null;
  }
}

function toPlace(name: string): string {
  const [lng, lat] = name.split(':');
  return lat === undefined ? name : `${lat},${lng}`;
}

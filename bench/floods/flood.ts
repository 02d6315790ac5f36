import { readFileSync } from 'node:fs';
import { generateAccountId, generateKey } from '#src/access/keys.ts';
import { keepSending } from './client.ts';

/*
 * One flood, in its own process. Reports when it begins, and at the end its responses by status.
 * The name `requests FILE` sends the requests of a JSON file.
 * `node bench/floods/flood.ts NAME PORT FREE_KEY CONNECTIONS MILLISECONDS`
 */
const PATH = '/v1/departures?stop=200060&limit=20';
/** Together with the other headers just below Node's limit of 16 KB. */
const LONG_HEADER = `a${' '.repeat(15_000)}\xa0`;

const PAGES = ['/', '/docs', '/explore', '/status', '/signup', '/keys', '/docs/console', '/nothing-here'];

const [name = '', port, freeKey, connections, durationMs] = process.argv.slice(2);
const [kind = '', requestsFile] = name.split(' ');
const requests: string[] = requestsFile ? JSON.parse(readFileSync(requestsFile, 'utf8')) : [];
/** Generated before the flood, because that takes processor time. The service does not cache refused keys. */
const UNKNOWN_KEYS = 20_000;

const unknownKeys =
  name === 'unknown-keys' ? Array.from({ length: UNKNOWN_KEYS }, () => generateKey('live', generateAccountId())) : [];
let sent = 0;

const FLOODS: Record<string, () => string> = {
  'unknown-keys': () => get(PATH, `Authorization: Bearer ${unknownKeys[sent++ % UNKNOWN_KEYS]}\r\n`),
  'any-etag': () => get(`${PATH}&unknown=${sent++}`, `Authorization: Bearer ${freeKey}\r\nIf-None-Match: *\r\n`),
  'long-authorization': () => get(PATH, `Authorization: ${LONG_HEADER}\r\n`),
  pages: () => get(PAGES[sent++ % PAGES.length] ?? '/', 'Accept: text/html\r\n'),
  openapi: () => get('/openapi.json', ''),
  requests: () => requests[sent++ % requests.length] ?? '',
};

const request = FLOODS[kind];
if (!request) throw new Error(`no such flood: ${name}`);
process.send?.('begins');
const { statuses } = await keepSending({
  port: Number(port),
  connections: Number(connections),
  durationMs: Number(durationMs),
  request,
});
process.send?.(statuses, () => process.disconnect());

function get(path: string, headers: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
}

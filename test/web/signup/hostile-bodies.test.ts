import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openConnection, readResponses } from '../../http/socket.ts';
import { type Front, openKeysPage, startFront } from '../../support/front.ts';
import { listRoutes } from '../../support/routes.ts';

let front: Front;
let token: string;
let paths: string[];

beforeAll(async () => {
  front = await startFront({ mailLimits: { perHour: 1e6, perNetwork: 1e6, perAddress: 1e6 } });
  for (const url of ['/signup', '/keys/link']) {
    await front.app.inject({ method: 'POST', url, payload: { email: 'jo@example.com', terms: true } });
  }
  token = (await openKeysPage(front.app, (await front.readOutbox()).at(-1) as never)).token;
  paths = (await listRoutes(front.app)).filter((url) => !url.startsWith('/v1/'));
});
afterAll(() => front[Symbol.asyncDispose]());

const FORMS = [
  '/signup',
  '/keys',
  '/keys/link',
  '/keys/new',
  '/keys/publishable',
  '/keys/revoke',
  '/keys/rotate',
  '/keys/stops',
  '/keys/board',
  '/keys/quota-mails',
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const ACCEPTS = ['text/html', 'application/json', '', '*/*;q=x,,text/html;;'];

/** One in this many combinations of form, type and body is sent. */
const SHARE = 4;

const CONTENT_TYPES = [
  undefined,
  '',
  ';;;',
  'json',
  '__proto__',
  'application/json',
  'APPLICATION/JSON',
  'application/json; charset=utf-16',
  'application/json; charset=nonsense',
  'application/problem+json',
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded; charset=utf-7',
  'application/octet-stream',
  'application/xml',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'text/plain',
  'text/plain; charset=nonsense',
  'text/html, application/json',
];

const hostileValues = (field: string) =>
  [null, true, 1, -0, 1e308, '', 'x'.repeat(5000), '\0', '\ud800', [], [['a']], {}, { toString: null }, token].map(
    (value) => JSON.stringify({ email: 'jo@example', terms: 'on', token, key: 'x', overlap: '1', [field]: value }),
  );

const bodies = (): (string | Buffer)[] => [
  '',
  'text',
  '"text"',
  '0',
  '-1e999',
  'true',
  'null',
  '[]',
  '[null]',
  '[["email","jo@example.com"]]',
  '{}',
  '{',
  '{"email":',
  '{"__proto__":{"email":"jo@example.com"}}',
  '{"constructor":{"prototype":{"email":1}}}',
  '{"toString":1,"valueOf":null,"hasOwnProperty":1}',
  '['.repeat(8000),
  `${'{"email":'.repeat(1500)}1${'}'.repeat(1500)}`,
  ...['email', 'label', 'terms', 'token', 'key', 'overlap', 'stop', 'mails'].flatMap(hostileValues),
  'email',
  'email=',
  '=&=&&&',
  '%',
  'email=%zz&label=%00&terms=%E0%A4%A',
  'email=a&email=b&terms=on&terms=on&token=a&token=b&key=a&key=b&overlap=1&overlap=2',
  'email[$ne]=1&terms[]=on&token[a][b]=1',
  '__proto__=1&constructor=1&toString=1&hasOwnProperty=1',
  `token=${token}&key=__proto__&overlap=1`,
  `token=${token}&key[]=x&overlap=99999999999`,
  'a=b&'.repeat(3500),
  'x'.repeat(20_000),
  '--x\r\ncontent-disposition: form-data; name="email"\r\n\r\njo@example.com\r\n--x--\r\n',
  Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x80, 0xc0]),
  Buffer.from('1f8b0800000000000003', 'hex'),
];

const QUERIES = [
  '',
  '?token',
  '?token=',
  '?token=a&token=b',
  '?token[]=a',
  '?token=%00%ff',
  '?token=%E0%A4%A',
  '?token=__proto__&done=__proto__',
  '?__proto__=1&constructor=1&toString=1',
  `?token=${'a'.repeat(8000)}`,
];

it('this suite covers every form of the pages', async () => {
  const statuses = await Promise.all(
    paths.map(async (url) => (await front.app.inject({ method: 'POST', url })).statusCode),
  );
  const accepting = paths.filter((_path, index) => ![404, 405].includes(statuses[index] ?? 0));
  // /mcp and /v1/tokens are not pages; their bodies have tests of their own.
  expect(accepting.filter((path) => path !== '/mcp' && path !== '/v1/tokens').sort()).toEqual([...FORMS].sort());
});

describe.each(FORMS)('POST %s', (url) => {
  it.each(CONTENT_TYPES)(`POST ${url} answers hostile bodies of type %j with a 4xx`, async (contentType) => {
    const failed: unknown[] = [];
    // The type decides how a body is read; the form decides how it is used. So every body meets every type in some forms, and
    // every form with some types, each time with one of the headers.
    const shift = CONTENT_TYPES.indexOf(contentType) + FORMS.indexOf(url);
    for (const [index, payload] of bodies().entries()) {
      if ((index + shift) % SHARE !== 0) continue;
      const accept = ACCEPTS[Math.floor((index + shift) / SHARE) % ACCEPTS.length];
      const headers = { accept, ...(contentType !== undefined && { 'content-type': contentType }) };
      const { statusCode } = await front.app.inject({ method: 'POST', url, headers, payload });
      // With the token of a page, a form may succeed.
      const isTaken = statusCode < 300 && !payload.includes(token);
      if (isTaken || statusCode >= 500) failed.push([statusCode, accept, payload.toString().slice(0, 80)]);
    }
    expect(failed).toEqual([]);
  });
});

it.each(METHODS)('no page answers a hostile %s with a 5xx', async (method) => {
  const queries = [...QUERIES, `?token=${token}&done=a&done=b`, `?token=${token}&done[]=constructor`];
  const failed: unknown[] = [];
  for (const url of paths.flatMap((path) => queries.map((query) => path + query))) {
    for (const payload of ['', '"text"', '{"email":null}']) {
      const headers = { accept: 'text/html', origin: 'null', 'content-type': 'application/json' };
      const { statusCode } = await front.app.inject({ method, url, headers, payload });
      if (statusCode >= 500) failed.push([statusCode, url.slice(0, 80), payload]);
    }
  }
  expect(failed).toEqual([]);
});

it('a form sent without a body and its length gets the response to an empty form', async () => {
  const { port } = front.app.server.address() as AddressInfo;
  const statusesOf = async (length: string) => {
    const statuses: (number | undefined)[] = [];
    for (const url of FORMS) {
      const connection = await openConnection(port);
      const type = 'Content-Type: application/x-www-form-urlencoded';
      connection.write(`POST ${url} HTTP/1.1\r\nHost: x\r\n${type}\r\n${length}Connection: close\r\n\r\n`);
      statuses.push(readResponses(await connection.closed)[0]?.status);
      connection.socket.destroy();
    }
    return statuses;
  };
  const expected = await statusesOf('Content-Length: 0\r\n');
  expect(expected).not.toContain(undefined);
  expect(await statusesOf('')).toEqual(expected);
});

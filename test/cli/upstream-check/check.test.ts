import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DateTime } from 'luxon';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '#sandbox/server.ts';
import { runUpstreamCommand } from '#src/cli/upstream.ts';
import { ASSUMPTIONS, type AssumptionId } from '#src/cli/upstream-check/assumptions.ts';
import { startRedis } from '#test/support/redis.ts';
import { startSmtp } from '#test/support/smtp.ts';

/** A Tuesday, 8 a.m. in Sydney. */
const NOW = Date.parse('2026-11-23T21:00:00Z');
const KEY = 'the-secret-key-of-upstream';

interface Reply {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** How the made-up upstream differs from the sandbox: in the requests it receives, and in the responses it sends. */
interface Difference {
  request?(url: URL): void;
  reply?(reply: Reply, url: URL): void;
}

let sandbox: Sandbox;
let upstream: Server;
let url: string;
let difference: Difference = {};

beforeAll(async () => {
  sandbox = await startSandbox({ apiKey: KEY, now: () => new Date(NOW) });
  const { origin } = new URL(sandbox.url);
  upstream = createServer(async (request, response) => {
    const sent = new URL(request.url ?? '/', origin);
    difference.request?.(sent);
    const key = request.headers.authorization?.replace('apikey ', '') ?? '';
    const received = await fetch(sent, { headers: { authorization: `apikey ${key}`, 'accept-encoding': 'gzip' } });
    const body = Buffer.from(await received.arrayBuffer());
    const headers = {
      date: new Date(NOW).toUTCString(),
      'x-transaction-id': 'transaction-4711',
      'x-quota-limit': '60000',
    };
    const reply: Reply = { status: received.status, headers, body };
    difference.reply?.(reply, sent);
    response.writeHead(reply.status, reply.headers).end(reply.body);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
});

afterEach(() => {
  difference = {};
});

afterAll(async () => {
  upstream.closeAllConnections();
  upstream.close();
  await sandbox.close();
});

async function run(args: string[], env: Record<string, string> = {}) {
  const lines: string[] = [];
  const exitCode = await runUpstreamCommand(args, {
    env: { UPSTREAM_URL: `${url}/v1/tp`, UPSTREAM_API_KEY: KEY, ...env },
    print: (text) => lines.push(text),
    intervalMs: 0,
    now: () => NOW,
  });
  return { exitCode, output: lines.join('\n') };
}

interface Body {
  stopEvents?: { departureTimeEstimated?: string; departureTimePlanned?: string }[];
  locations?: { type: string }[];
}

/** Changes the body that the endpoint sends. */
const changed =
  (endpoint: string, change: (body: Body, url: URL) => object) =>
  (reply: Reply, sent: URL): void => {
    if (!sent.pathname.endsWith(endpoint) || reply.status !== 200) return;
    reply.body = Buffer.from(JSON.stringify(change(JSON.parse(reply.body.toString()), sent)));
  };
const UNKNOWN = {
  version: '10',
  systemMessages: [{ type: 'error', module: 'BROKER', code: -2000, text: 'stop invalid' }],
};
const is = (name: string, value: string) => (sent: URL) => sent.searchParams.get(name) === value;

function setStatus(reply: Reply, status: number, isWanted: boolean): void {
  if (isWanted) reply.status = status;
}

/** Every difference, with the assumption that the check must name and further expected output. */
const DIFFERENCES: [name: string, id: AssumptionId, difference: Difference, sees: string][] = [
  [
    'pages hold 20 events',
    'full-page-is-40',
    { reply: changed('departure_mon', (body) => ({ ...body, stopEvents: body.stopEvents?.slice(0, 20) })) },
    '20 events, and more follow',
  ],
  [
    'a wrong key gets 403',
    'only-401-refuses-a-key',
    { reply: (reply) => setStatus(reply, 403, reply.status === 401) },
    'a made-up key gets 403',
  ],
  [
    'unknown stops are 404',
    'unknown-is-200',
    { reply: (reply, sent) => setStatus(reply, 404, sent.search.includes('99999999')) },
    'an unknown stop: UPSTREAM_ERROR',
  ],
  [
    'requested times are UTC',
    'requested-times-are-sydney',
    {
      request({ searchParams }) {
        const sent = `${searchParams.get('itdDate')} ${searchParams.get('itdTime')}`;
        const time = DateTime.fromFormat(sent, 'yyyyMMdd HHmm', { zone: 'utc' }).setZone('Australia/Sydney');
        if (!time.isValid) return;
        searchParams.set('itdDate', time.toFormat('yyyyMMdd'));
        searchParams.set('itdTime', time.toFormat('HHmm'));
      },
    },
    '660 minutes after the requested time',
  ],
  [
    'a key has 50,000 calls of another day',
    'daily-quota',
    {
      reply: ({ headers }) =>
        void Object.assign(headers, { 'x-quota-limit': '50000', 'x-quota-reset': '2026-11-24T13:00:00Z' }),
    },
    'x-quota-reset: 2026-11-24T13:00:00Z',
  ],
  [
    'car parks report in UTC',
    'car-parks',
    {
      reply: changed('carpark', (body) => {
        if (!('MessageDate' in body)) return body;
        const utc = DateTime.fromISO(String(body.MessageDate), { zone: 'Australia/Sydney' }).toUTC();
        return { ...body, MessageDate: utc.toFormat("yyyy-MM-dd'T'HH:mm:ss"), time: null };
      }),
    },
    'taken, 66',
  ],
  [
    'car parks are listed in another form',
    'car-parks',
    { reply: changed('carpark', () => ({ carparks: [] })) },
    'no list of car parks',
  ],
  [
    'one coord takes one filter',
    'two-filters-in-one-coord',
    {
      reply: changed('coord', (body) => ({
        ...body,
        locations: body.locations?.filter(({ type }) => type === 'stop'),
      })),
    },
    'at Central stop,',
  ],
  [
    'Canberra is not served',
    'canberra-is-served',
    { reply: changed('coord', (body, sent) => (sent.search.includes('149.13') ? { ...body, locations: [] } : body)) },
    '0 stops around -35.278,149.13',
  ],
  [
    'an empty stop is an unknown one',
    'empty-is-not-unknown',
    { reply: changed('departure_mon', (body) => (body.stopEvents?.length ? body : UNKNOWN)) },
    'ferries at Town Hall: STOP_NOT_FOUND',
  ],
  [
    'boards for a time are ordered by estimates',
    'order-of-requested-boards',
    { reply: changed('departure_mon', (body) => ({ ...body, stopEvents: byEstimate(body.stopEvents) })) },
    'ordered by estimates',
  ],
  [
    'feeds have other ids',
    'feed-ids-match',
    {
      request(sent) {
        if (sent.pathname.includes('gtfs')) sent.pathname = '/v1/gtfs/realtime/ferries/sydneyferries';
      },
    },
    'sydneytrains: 0 of',
  ],
  [
    'groups have no board',
    'group-and-platform-ids',
    { reply: changed('departure_mon', (body, sent) => (is('name_dm', 'G201023')(sent) ? UNKNOWN : body)) },
    'board of G201023: ',
  ],
  [
    'responses are larger than 6 MB',
    'sizes-and-times',
    {
      reply(reply) {
        reply.body = Buffer.concat([reply.body, Buffer.alloc(6_000_000, ' ')]);
      },
    },
    'key-good has 6',
  ],
  [
    'journeys from positions fail',
    'trip-options',
    { reply: (reply, sent) => setStatus(reply, 500, is('type_origin', 'coord')(sent)) },
    'from a position: upstream answered 500',
  ],
  [
    'excluded modes come all the same',
    'filters-hold',
    { request: ({ searchParams }) => searchParams.delete('excludedMeans') },
    'other departures of',
  ],
];

function byEstimate(events: Body['stopEvents'] = []) {
  const time = (event: (typeof events)[0]) => event.departureTimeEstimated ?? event.departureTimePlanned ?? '';
  return events.toSorted((one, other) => time(one).localeCompare(time(other)));
}

it('the upstream check announces its cost first, and finds that all assumptions hold', async () => {
  const { exitCode, output } = await run(['check']);
  expect(output).toMatch(/^The check makes up to 38 calls to http:\/\/127\.0\.0\.1:\d+, two a second\./);
  expect(output).not.toContain('DIFFERS  ');
  expect(output.match(/^HOLDS /gm)).toHaveLength(19);
  expect(output).not.toContain(KEY);
  expect(exitCode).toBe(0);
});

it.each(DIFFERENCES)(
  'the check of an upstream where %s names the assumption %s and what to do',
  async (_name, id, differs, sees) => {
    difference = differs;
    const { exitCode, output } = await run(['check']);
    expect(output).toContain(`DIFFERS  ${id}: `);
    expect(output).toContain(ASSUMPTIONS[id].action);
    expect(output).toContain(sees);
    expect(exitCode).toBe(output.match(/^DIFFERS/gm)?.length === 1 && ASSUMPTIONS[id].harm === 'cost' ? 4 : 1);
  },
);

it('an assumption stays unsettled if its response cannot be received, and all other results remain', async () => {
  difference = {
    reply(reply, sent) {
      if (is('name_sf', 'townhal')(sent)) reply.headers['content-encoding'] = 'gzip';
    },
  };
  const { exitCode, output } = await run(['check']);
  expect(output.match(/^UNKNOWN +\S+:/gm)).toEqual(['UNKNOWN  search-takes-any-text:']);
  expect(output).toContain('search-typo has no response: ');
  expect(output).toContain('38 calls: 18 hold, 0 differ, 1 are not settled.');
  expect(exitCode).toBe(6);
});

it('a key without the car parks leaves them unsettled, and says what to tick', async () => {
  difference = { reply: (reply, sent) => setStatus(reply, 403, sent.pathname.endsWith('/carpark')) };
  const { exitCode, output } = await run(['check']);
  expect(output.match(/^UNKNOWN +\S+:/gm)).toEqual(['UNKNOWN  car-parks:']);
  expect(output).toContain('Tick the Car Park API, or set WITHOUT=carparks');
  expect(exitCode).toBe(6);
});

it('the upstream check ends early when upstream becomes unreachable, and reports its results until then', async () => {
  let calls = 0;
  difference = {
    reply({ headers }) {
      if (++calls > 5) headers['content-encoding'] = 'gzip';
    },
  };
  const { exitCode, output } = await run(['check']);
  expect(output).toContain('HOLDS    only-401-refuses-a-key');
  expect(output).toContain('UNKNOWN  canberra-is-served');
  expect(output).toContain('the check ended early');
  expect(calls).toBeLessThan(15);
  expect(exitCode).toBe(6);
});

it('the upstream check does not report that all assumptions hold if upstream does not show it', async () => {
  difference = { reply: ({ headers }) => void delete headers['x-quota-limit'] };
  const { exitCode, output } = await run(['check']);
  expect(output).toContain('UNKNOWN  daily-quota');
  expect(exitCode).toBe(6);
});

it('the upstream check makes no call that it has not announced, even where the service would look up a station’s name', async () => {
  const sent: string[] = [];
  difference = {
    request: ({ pathname }) => void sent.push(pathname),
    reply(reply, { pathname }) {
      // The service looks up station names only for bus stands, as at an interchange.
      if (pathname.endsWith('/trip'))
        reply.body = Buffer.from(reply.body.toString().replace(/"(class|iconId)":1,/g, '"$1":5,'));
    },
  };
  const { output } = await run(['check']);
  const [, announced] = /makes up to (\d+) calls/.exec(output) ?? [];
  expect(sent).toHaveLength(Number(announced));
});

it('the upstream check exits with 3 for a refused key, 5 when upstream is unreachable, and 2 if it cannot check anything', async () => {
  const refused = await run(['check'], { UPSTREAM_API_KEY: 'another-key' });
  expect(refused).toMatchObject({ exitCode: 3, output: expect.stringContaining('The key was refused: status 401') });
  expect(refused.output).not.toContain('another-key');
  const gone = await run(['check'], { UPSTREAM_URL: 'http://127.0.0.1:9/v1/tp' });
  expect(gone).toMatchObject({ exitCode: 5, output: expect.stringContaining('cannot be reached') });
  const usages: [string[], Record<string, string>, string][] = [
    [['check', '--nothing'], {}, '--nothing'],
    [['nothing'], {}, 'is no command'],
    [['check'], { UPSTREAM_API_KEY: '', UPSTREAM_URL: '' }, 'UPSTREAM_API_KEY must be set'],
    [['check'], { PORT: 'x' }, 'PORT'],
    [['check'], { UPSTREAM_DAILY_BUDGET: '120' }, 'calls 120 are left'],
  ];
  for (const [args, env, told] of usages) {
    const { exitCode, output } = await run(args, env);
    expect([exitCode, output], args.join(' ')).toEqual([2, expect.stringContaining(told)]);
  }
});

it('the upstream check counts its calls in the service’s budget', async () => {
  const redis = await startRedis();
  const left = async () => {
    const { output } = await run(['check'], {
      REDIS_URL: redis.url,
      LINK_SECRET: 'a-secret-of-thirty-two-characters',
      PUBLIC_URL: 'https://transit.example',
    });
    const [, calls = ''] = /through Redis, which has ([\d,]+) calls left today/.exec(output) ?? [];
    return Number(calls.replaceAll(',', ''));
  };
  const [before, after] = [await left(), await left()];
  await redis.stop();
  expect(before - after).toBe(38);
});

it('the configuration report shows every setting, its source, effect and contradictions, without secrets', async () => {
  const redis = await startRedis();
  const secrets = {
    LINK_SECRET: 'a-secret-of-thirty-two-characters',
    REDIS_URL: `redis://:hidden@${new URL(redis.url).host}`,
    UPSTREAM_PROXY: 'http://user:hidden@proxy:3128',
  };
  const env = {
    ...secrets,
    PUBLIC_URL: 'https://transit.test',
  };
  const { exitCode, output } = await run(['config'], env);
  await redis.stop();
  expect(exitCode, output).toBe(0);
  expect(output).not.toMatch(new RegExp(`${KEY}|hidden|a-secret-of`));
  expect(output).toMatch(/^REDIS_URL +environment +redis:\/\/[\w.]+:\d+$/m);
  expect(output).toMatch(/^PORT +default$/m);
  expect(output).toContain('with 1 key: 5 calls a second, 60,000 a day');
  expect(output).toContain('TRUST_PROXY is off');
});

it('the configuration report refuses names of examples, short keys, and servers that cannot be reached', async () => {
  const { exitCode, output } = await run(['config'], {
    UPSTREAM_API_KEY: `${KEY},short`,
    PUBLIC_URL: 'https://transit.example.org',
    LINK_SECRET: 'a-secret-of-thirty-two-characters',
    REDIS_URL: 'redis://127.0.0.1:1',
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'keys@mail.example.com',
  });
  expect(exitCode).toBe(2);
  const refused = output.split('\n').filter((line) => line.startsWith('Refused: '));
  expect(refused.map((line) => line.split(/[: ]+/)[1])).toEqual([
    'PUBLIC_URL',
    'MAIL_FROM',
    'UPSTREAM_API_KEY',
    'REDIS_URL',
    'SMTP_URL',
  ]);
});

it('the configuration report sends a test mail', async () => {
  await using smtp = await startSmtp();
  const settings = { SMTP_URL: smtp.url, MAIL_FROM: 'keys@transit.test' };
  const { exitCode, output } = await run(['config', '--test-mail', 'ada@transit.test'], settings);
  expect(exitCode, output).toBe(0);
  expect(smtp.received.map(({ recipients }) => recipients)).toEqual([['ada@transit.test']]);
});

it('the configuration report names upstream settings that the service does not know, wherever they are set', async () => {
  const { exitCode, output } = await run(['config'], { UPSTREAM_TIMEOUT: '5000' });
  expect(exitCode).toBe(0);
  expect(output).toContain('Unknown setting UPSTREAM_TIMEOUT in the environment.');
});

it('the configuration report knows the variables of OpenTelemetry, which the service passes on', async () => {
  const dotEnv = { OTEL_LOGS_EXPORTER: 'otlp', OTEL_SERVICE_NAME: 'transit', PORTS: '3000' };
  const lines: string[] = [];
  await runUpstreamCommand(['config'], { env: { ...dotEnv, SANDBOX: '1' }, dotEnv, print: (text) => lines.push(text) });
  expect(lines.filter((line) => line.startsWith('Unknown'))).toEqual(['Unknown setting PORTS in .env.']);
});

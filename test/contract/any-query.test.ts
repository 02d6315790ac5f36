import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { startUpstream, type TestUpstream } from '#test/support/upstream.ts';
import { expectContract } from './expect-contract.ts';
import { goodAnswerTo, OPERATIONS } from './operations.ts';
import { NOW } from './payloads.ts';

const RUNS = { seed: 20260415, numRuns: 250 };

let upstream: TestUpstream;
let app: TestApp;

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(goodAnswerTo(request.url));
  });
  app = await buildTestApp({ upstream: upstream.url, now: NOW });
});

afterAll(async () => {
  await app.close();
  await upstream.close();
});

/** Valid values and values that are nearly valid; any text is added later. */
const VALUES: Record<string, readonly string[]> = {
  stop: ['200020', 'G200098', 'g200098', '0', '1'.repeat(13), ' 200020 '],
  from: ['202091', 'G2095102', 'x', '-33.9336,151.1809', '0,0', '151.2,-33.8', '-33.8613,'],
  to: ['202091', 'G2095102', '', '-33.8000,151.2838', ' -33.8, 151.28 '],
  q: ['manly', ' Manly ', 'é', '"', '%', 'a'.repeat(101)],
  lat: ['-33.8613', '0', '-90', '90', '91', '.5', '5.', '+1', '151.2'],
  lng: ['151.2108', '-180', '180.1', '-33.8613', '1e2'],
  radius: ['1', '500', '2000', '99999999999999999999', '0', '-1', '1.5', '0x1f'],
  limit: ['1', '10', '50', '9999', '0', '-1', '1.5', '1e1', ' 5 '],
  modes: ['all', 'bus', 'BUS, train,,train', 'walk', ',', 'all,tram', 'ferry,all'],
  routes: ['F1', 'f1, t2', ',', Array.from({ length: 51 }, (_, index) => index).join()],
  date: ['20260415', '20260416', '20260414', '20260230', '99991231', '00000000', '2026-04-15'],
  time: ['0000', '2359', '2400', '0260', '800', '12:00', '2026-04-16T08:00+10:00'],
  arrive_by: ['true', 'false', 'TRUE', '1', 'yes'],
  wheelchair: ['true', 'false', 'on'],
  max_changes: ['0', '1', '99', '-1', 'one'],
  pace: ['slow', 'normal', 'walk'],
  min_change: ['0', '5', '-1', '61'],
  max_walk: ['0', '400', '1e9'],
  prefer: ['fewer_changes', 'less_walking', 'fast'],
  path: ['full', 'polyline', 'none', 'half'],
  cancelled: ['include', 'exclude', 'true', ''],
  include: ['ids', 'colors', 'colors, ids', 'alert_texts', 'access', 'ids,all', 'all', ',', ''],
};

const valuesOf = (name: string) => (Object.hasOwn(VALUES, name) ? (VALUES[name] as readonly string[]) : ['1', 'all']);

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ maxLength: 20 }),
  fc.constantFrom('', '__proto__', 'null', '[object Object]', '\u0000', '🚆'),
);

const parameter = fc
  .constantFrom(...Object.keys(VALUES), '__proto__', 'constructor', 'stop[]', 'key')
  .chain((name) =>
    fc.tuple(
      fc.constant(name),
      fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...valuesOf(name)) }, { weight: 1, arbitrary: anyText }),
    ),
  )
  .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`);

/** The valid request followed by more parameters, mostly other ones, sometimes repeated ones. */
const amended = fc.array(parameter, { maxLength: 4 }).map((list) => ({ list, isAmended: true }));
const fresh = fc.array(parameter, { maxLength: 8 }).map((list) => ({ list, isAmended: false }));
/** Malformed queries. */
const broken = fc
  .string({ unit: fc.constantFrom('%', '&', '=', '+', ';', '[', ']', 'G', '2', '0', 'f', 'stop', 'lat', 'q', 'from') })
  .map((text) => ({ list: [text], isAmended: false }));

describe.each(OPERATIONS)('queries of $name', (operation) => {
  it(`GET ${operation.url.split('?')[0]} answers any query with its schema or the error object, and never with a 5xx`, async () => {
    const [path, good] = operation.url.split('?') as [string, string];
    await fc.assert(
      fc.asyncProperty(fc.oneof(amended, fresh, broken), async ({ list, isAmended }) => {
        const response = await app.inject(`${path}?${(isAmended ? [good, ...list] : list).join('&')}`);
        expect(response.statusCode).toBeLessThan(500);
        expectContract(response, operation);
      }),
      RUNS,
    );
  });

  it(`GET ${operation.url.split('?')[0]} returns a response that matches its schema at any time of the year`, async () => {
    const moments = fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true });
    const suffix = operation.endpoint === 'departure_mon' || operation.endpoint === 'trip' ? '&time=0230' : '';
    await fc.assert(
      fc.asyncProperty(moments, async (moment) => {
        app.clock.now = moment;
        const response = await app.inject(operation.url + suffix);
        expect(response.statusCode).toBe(200);
        expectContract(response, operation);
      }),
      { ...RUNS, numRuns: 30 },
    );
    app.clock.now = new Date(NOW);
  });
});

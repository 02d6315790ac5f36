import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runTimetable } from '#src/cli/timetable.ts';
import { FILE_IDS, type FileId, SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import { loadStates, openNewest, zipPath } from '#src/timetable/update/folder.ts';
import { gtfsZip } from '../support/gtfs-zip.ts';
import { smallSchedule, startScheduleServer, zipAnswer } from '../support/schedule-server.ts';

const NOW = Date.parse('2026-11-24T00:00:00Z');
const LATER = '2026-11-23T03:00:00Z';
const root = mkdtempSync(join(tmpdir(), 'timetable-'));
/** A folder into which every file was imported once. */
const imported = join(root, 'imported');
let server: Awaited<ReturnType<typeof startScheduleServer>>;
let dataDir: string;
let count = 0;

async function run(args: string[], more: Partial<Parameters<typeof runTimetable>[1]> = {}) {
  const said: string[] = [];
  const key = { UPSTREAM_API_KEY: 'secret', UPSTREAM_RPS: '1000', UPSTREAM_DAILY_BUDGET: '100000000' };
  const env = { DATA_DIR: dataDir, UPSTREAM_URL: server.url, ...key };
  const code = await runTimetable(args, { env, print: (text) => said.push(text), now: () => NOW, ...more });
  expect(said.join('\n')).not.toContain('secret');
  return { code, said: said.join('\n') };
}

const folder = () => join(dataDir, 'timetable');
const stateOf = async (id: FileId) => (await loadStates(folder())).get(id);
const timetable = async () => (await openNewest(folder()))?.files.map(({ file, trips }) => `${file} ${trips}`) ?? null;
const tripsOf = async (id: FileId) => (await timetable())?.find((one) => one.startsWith(`${id} `));

beforeAll(async () => {
  server = await startScheduleServer();
  dataDir = imported;
  expect(await run(['update'])).toMatchObject({ code: 0 });
  await server.close();
});
afterAll(() => rmSync(root, { recursive: true }));

beforeEach(async () => {
  server = await startScheduleServer();
  dataDir = join(root, String(count++));
});
afterEach(() => server.close());

/** Continues from the first import of every file. */
const goOn = () => cpSync(imported, dataDir, { recursive: true });

describe('an update of the timetable', () => {
  it('an update downloads each file with the key, imports it, and reports trips, stop times and days', async () => {
    const { code, said } = await run(['update']);
    expect(code).toBe(0);
    expect(said).toMatch(/^buses +10 trips, 20 stop times, 20261120 to 20261231$/m);
    expect(said).toContain('23 of 23 files are up to date.');
    expect(server.requests.every(({ key }) => key === 'apikey secret')).toBe(true);
    expect(server.requests.map(({ method }) => method)).toEqual(Array(23).fill('GET'));
    expect(await tripsOf('buses')).toBe('buses 10');
    expect(readdirSync(folder()).sort()).toEqual([
      'files',
      'files.json',
      expect.stringMatching(/^timetable-\d+\.bin$/),
      expect.stringMatching(/^timetable-\d+\.paths$/),
    ]);
  });

  it('an update checks a file it has with HEAD, and downloads nothing while Last-Modified is the same', async () => {
    goOn();
    const before = readdirSync(folder());
    const { code, said } = await run(['update']);
    expect([code, said]).toEqual([0, expect.stringContaining('(unchanged)')]);
    expect(server.requests.map(({ method }) => method)).toEqual(Array(23).fill('HEAD'));
    expect(readdirSync(folder())).toEqual(before);
  });

  it('an update accepts a 304 to GET where upstream does not respond to HEAD', async () => {
    goOn();
    const answer = zipAnswer(smallSchedule(), { knows304: true });
    server.answer('metro', (request, response) => {
      if (request.method === 'HEAD') response.writeHead(405).end();
      else answer(request, response);
    });
    expect((await run(['update'])).code).toBe(0);
    expect(server.methodsOf('metro')).toEqual(['HEAD', 'GET']);
  });

  it('an update imports the files again without a download when another version made the timetable', async () => {
    goOn();
    for (const name of readdirSync(folder()))
      if (name.endsWith('.bin')) writeFileSync(join(folder(), name), 'FORMAT 0');
    expect(await timetable()).toBeNull();
    expect((await run(['update'])).code).toBe(0);
    expect(server.methodsOf('buses')).toEqual(['HEAD']);
    expect(await timetable()).toHaveLength(23);
  });

  it('an update retains the last two imports', async () => {
    goOn();
    const bins = () => readdirSync(folder()).filter((name) => name.endsWith('.bin'));
    const [newest = ''] = bins();
    for (const seconds of [1, 2]) cpSync(join(folder(), newest), join(folder(), `timetable-${seconds}.bin`));
    server.answer('metro', zipAnswer(smallSchedule(), { changedAt: LATER }));
    await run(['update']);
    expect(bins()).toEqual([newest, expect.stringMatching(/^timetable-\d{10}\.bin$/)]);
  });

  it('an update imports the files of a folder, and later only the changed ones', async () => {
    const from = join(root, 'from');
    const fileOf = (id: FileId) => join(from, `${SCHEDULE_FILES[id].path}.zip`);
    for (const id of FILE_IDS) {
      mkdirSync(dirname(fileOf(id)), { recursive: true });
      writeFileSync(fileOf(id), smallSchedule());
    }
    expect((await run(['update', '--from', from])).code).toBe(0);
    writeFileSync(fileOf('metro'), smallSchedule({ trips: 12 }));
    utimesSync(fileOf('metro'), NOW / 1000, NOW / 1000);
    expect((await run(['update', '--from', from])).said).toMatch(/^metro +12 trips/m);
    rmSync(fileOf('metro'));
    const { code, said } = await run(['update', '--from', from]);
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(/^metro +keeps its last good import: .*metro.zip does not exist$/m),
    ]);
    expect(server.requests).toEqual([]);
  });

  it('an update downloads a file again that broke off because upstream replaced it', async () => {
    const answer = zipAnswer(smallSchedule({ trips: 12 }));
    let requests = 0;
    server.answer('metro', (request, response) => {
      if (++requests > 1) return answer(request, response);
      response.setHeader('content-length', 100_000).write('PK\x03\x04 and', () => response.socket?.destroySoon());
    });
    expect((await run(['update'])).code).toBe(0);
    expect(await tripsOf('metro')).toBe('metro 12');
  });

  it('an update from a folder refuses a file that changes while it is copied', async () => {
    const from = join(root, 'changing');
    const file = join(from, `${SCHEDULE_FILES.metro.path}.zip`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, Buffer.alloc(20e6));
    const writer = setInterval(() => appendFileSync(file, 'x'), 1);
    const { said } = await run(['update', '--from', from]);
    clearInterval(writer);
    expect(said).toMatch(/^metro +is not in use: .*metro.zip changes while it is copied$/m);
  });

  it('an update imports the bundle of all operators, if requested, only once a first timetable exists', async () => {
    const seen: (string[] | null)[] = [];
    const answer = zipAnswer(smallSchedule({ trips: 12 }));
    server.answer('complete', async (request, response) => {
      seen.push(await timetable());
      answer(request, response);
    });
    const { code, said } = await run(['update', '--complete']);
    expect([code, said]).toEqual([0, expect.stringMatching(/^complete +12 trips, .*\n +left out: 10 doubles$/m)]);
    expect(seen).toEqual([expect.arrayContaining(['buses 10'])]);
    expect(await timetable()).toHaveLength(24);
  });

  it.each([
    ['an unknown command', ['renew']],
    ['an unknown option', ['update', '--force']],
    ['an unknown file', ['update', '--accept', 'trains']],
    ['a folder that does not exist', ['update', '--from', '/no/such/folder']],
  ])('an update exits with 2 for %s', async (_what, args) => {
    expect((await run(args)).code).toBe(2);
    expect(server.requests).toEqual([]);
  });

  it('an update forgets a file that is no longer wanted, which would otherwise count as out of date for ever', async () => {
    goOn();
    await run(['update', '--complete']);
    expect([await stateOf('complete'), existsSync(zipPath(folder(), 'complete'))]).toEqual([expect.anything(), true]);
    expect(await run(['update'])).toMatchObject({ code: 0 });
    expect([await stateOf('complete'), existsSync(zipPath(folder(), 'complete'))]).toEqual([undefined, false]);
    expect(await stateOf('buses')).toMatchObject({ problem: null });
  });

  it('an update exits with 2 without key and folder, and with an unusable configuration', async () => {
    expect((await run(['update'], { env: { DATA_DIR: dataDir } })).code).toBe(2);
    expect((await run(['update'], { env: { DATA_DIR: dataDir, PORT: 'x' } })).code).toBe(2);
  });

  it('an update exits with 2 while another update of the folder is running', async () => {
    goOn();
    writeFileSync(join(folder(), 'update.lease'), JSON.stringify({ host: 'another', pid: 1, token: 'x' }));
    expect(await run(['update'])).toEqual({ code: 2, said: expect.stringContaining('Another update is under way') });
    utimesSync(join(folder(), 'update.lease'), 0, 0);
    expect((await run(['update'])).code).toBe(0);
    expect(readdirSync(folder())).not.toContain('update.lease');
  });

  it.each([401, 403])('an update exits with 3 when the key is refused with %i for every file', async (status) => {
    server.others.answer = (_request, response) => response.writeHead(status).end('secret');
    expect((await run(['update'])).code).toBe(3);
  });

  it('an update exits with 5 when upstream is unreachable, and does not try every file', async () => {
    server.others.answer = (_request, response) => response.socket?.destroy();
    const { code, said } = await run(['update']);
    expect([code, said]).toEqual([5, expect.stringContaining('cannot be reached')]);
    expect(server.requests).toHaveLength(2);
  });
});

describe('an unusable file', () => {
  const BAD: Partial<
    Record<FileId, [what: RegExp, Parameters<Awaited<ReturnType<typeof startScheduleServer>>['answer']>[1]]>
  > = {
    sydneytrains: [/no zip/, zipAnswer(Buffer.from('stop_id,stop_name'), { changedAt: LATER })],
    nswtrains: [/404/, (_request, response) => response.writeHead(404).end()],
    metro: [
      /a web page/,
      (_request, response) => response.setHeader('content-type', 'text/html').end('<html>Sorry</html>'),
    ],
    sydneyferries: [
      /^stopped after \d+ bytes: /,
      (_request, response) => {
        response.setHeader('content-length', 100_000).write('PK\x03\x04 and', () => response.socket?.destroySoon());
      },
    ],
    MFF: [/5 trips on its busiest day, down from 10/, zipAnswer(smallSchedule({ trips: 5 }), { changedAt: LATER })],
    innerwest: [/ends on 20261125/, zipAnswer(smallSchedule({ to: '20261125' }), { changedAt: LATER })],
    cbdandsoutheast: [/begins on 20261130/, zipAnswer(smallSchedule({ from: '20261130' }), { changedAt: LATER })],
    parramatta: [
      /./,
      zipAnswer(gtfsZip({ 'stops.txt': 'stop_id\n1\n' }, { declaredSizes: { 'stops.txt': 4e9 } }), {
        changedAt: LATER,
      }),
    ],
    newcastle: [
      /no trips\.txt|no routes\.txt/,
      zipAnswer(gtfsZip({ 'stops.txt': 'stop_id\n1\n' }), { changedAt: LATER }),
    ],
    buses: [/./, zipAnswer(smallSchedule().subarray(0, 900), { changedAt: LATER })],
    'regionbuses/farwest': [/empty/, (_request, response) => response.end()],
    'regionbuses/northcoast': [
      /larger than 20000 bytes/,
      (_request, response) => response.end(Buffer.alloc(30_000, 'PK')),
    ],
    'regionbuses/northcoast2': [/50 ms|broke off/, (_request, response) => response.write('PK')],
  };
  const ids = Object.keys(BAD) as FileId[];
  let states: Awaited<ReturnType<typeof loadStates>>;
  let update: Awaited<ReturnType<typeof run>>;
  let after: string[] | null;

  beforeAll(async () => {
    server = await startScheduleServer();
    dataDir = join(root, 'bad');
    goOn();
    for (const id of ids) server.answer(id, BAD[id]?.[1] ?? (() => {}));
    server.answer('regionbuses/riverinamurray', zipAnswer(smallSchedule({ trips: 11 }), { changedAt: LATER }));
    update = await run(['update'], { limits: { downloadMs: 400, maxBytes: 20_000 }, now: () => NOW + 3_600_000 });
    states = await loadStates(folder());
    after = await timetable();
    await server.close();
  });

  it.each(ids)('the unusable file %s keeps its last good import, and the update says why', (id) => {
    expect(states.get(id)).toMatchObject({
      problem: expect.any(String),
      good: { report: { trips: 10 } },
      currentAt: NOW,
    });
    expect(update.said).toMatch(new RegExp(`^${id} +keeps its last good import: `, 'm'));
    expect(after).toContain(`${id} 10`);
  });

  it.each(ids)('the problem of the unusable file %s is described', (id) => {
    if (id !== 'regionbuses/northcoast2') expect(states.get(id)?.problem).toMatch(BAD[id]?.[0] as RegExp);
  });

  it('an unusable file does not stop the update of the others, and leaves nothing behind', () => {
    expect(update.code).toBe(1);
    expect(update.said).toContain(`${23 - ids.length} of 23 files are up to date`);
    expect(after).toContain('regionbuses/riverinamurray 11');
    expect(states.get('regionbuses/riverinamurray')).toMatchObject({ problem: null, currentAt: NOW + 3_600_000 });
    expect(readdirSync(join(root, 'bad/timetable/files')).filter((name) => !name.endsWith('.zip'))).toEqual([]);
    const zip = readFileSync(join(root, 'bad/timetable/files/MFF.zip'));
    expect(zip.equals(smallSchedule())).toBe(true);
  });

  it('a file that shrank is imported when the operator accepts it', async () => {
    goOn();
    server.answer('MFF', zipAnswer(smallSchedule({ trips: 2 }), { changedAt: LATER }));
    expect((await run(['update'])).code).toBe(1);
    expect((await run(['update', '--accept', 'MFF'])).code).toBe(0);
    expect(await tripsOf('MFF')).toBe('MFF 2');
  });

  it('an unusable file without a last good import is not in use', async () => {
    server.answer('MFF', (_request, response) => response.writeHead(500).end());
    const { code, said } = await run(['update']);
    expect([code, said]).toEqual([1, expect.stringMatching(/^MFF +is not in use: upstream answered 500$/m)]);
    expect((await run(['status'])).said).toMatch(
      /^MFF +is not in use\n +not up to date for 0 h: upstream answered 500$/m,
    );
  });

  it('an unchanged file that ends soon is not up to date', async () => {
    goOn();
    const now = () => Date.parse('2026-12-30T00:00:00Z');
    expect((await run(['update'], { now })).said).toMatch(/^buses +keeps its last good import: it ends on 20261231$/m);
  });

  it('the files of single contracts replace an unusable file of all buses until it is usable again', async () => {
    server.answer('buses', (_request, response) => response.writeHead(500).end());
    server.answer('buses/GSBC001', zipAnswer(smallSchedule({ trips: 3, prefix: 'contract' })));
    await run(['update']);
    expect(await tripsOf('buses/GSBC001')).toBe('buses/GSBC001 3');
    expect(await tripsOf('buses')).toBeUndefined();
    server.answer('buses', zipAnswer(smallSchedule({ trips: 30 }), { changedAt: LATER }));
    expect((await run(['update'])).code).toBe(0);
    expect(await tripsOf('buses')).toBe('buses 30');
    expect((await timetable())?.filter((one) => one.startsWith('buses/'))).toEqual([]);
    expect(await stateOf('buses/GSBC001')).toBeUndefined();
  });

  it('an update whose process ends leaves the previous timetable in place', async () => {
    goOn();
    const before = readdirSync(folder());
    server.answer('metro', zipAnswer(smallSchedule({ trips: 12 }), { changedAt: LATER }));
    const { code } = await run(['update'], { limits: { importMs: 1 } });
    expect(code).toBe(1);
    expect(readdirSync(folder())).toEqual(before);
    expect(await tripsOf('metro')).toBe('metro 10');
  });
});

describe('the status of the timetable', () => {
  it('the status lists the files in use as JSON', async () => {
    goOn();
    const { code, said } = await run(['status', '--json']);
    expect(code).toBe(0);
    const { files, imported_at } = JSON.parse(said);
    expect(imported_at).toBe('2026-11-24T00:00:00.000Z');
    expect(files).toHaveLength(23);
    expect(files[0]).toMatchObject({ file: 'sydneytrains', problem: null, in_use: { trips: 10, lastDay: '20261231' } });
  });

  it('the status reports that there is no timetable', async () => {
    expect((await run(['status'])).said).toContain(`There is no timetable in ${folder()}.`);
  });
});

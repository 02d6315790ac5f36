import { spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKeys } from '#src/cli/keys.ts';
import { ERROR_TABLE } from '#src/errors/api-error.ts';
import { plannerJourneys } from '#src/journeys/planner/planner.ts';
import { departuresResponse } from '#src/operations/departures/departure.ts';
import { createFollowOperation } from '#src/operations/follow/operation.ts';
import { runOperation } from '#src/operations/runs/operation.ts';
import { callSampleOf, operationUrl, sampleOf } from '#web/assets/sample.js';
import { type Front, startFront } from '../support/front.ts';
import { createRunner, listCommands, listDocumentSamples, listPageSamples, type Runner } from '../support/samples.ts';

const KEYS = /^npm run (--silent )?keys -- /;
/** The beginnings of commands that a test cannot run; the npm scripts that they name must exist. */
const NOT_RUN = [
  'npm ci --omit=dev && npm start',
  'npm ci && npm test',
  'UPSTREAM_API_KEY=... ',
  'npm run timetable -- update --from /tmp/broken',
  'npm run upstream -- check',
  'npm run timetable -- ',
  'npm run keys -- backup ',
  'npm run keys -- restore ',
  'docker compose ',
  'claude mcp add',
  'npx -p @hey-api/openapi-ts ',
];

let front: Front;
let folder: string;
let runner: Runner;
/** Replaces the example run and journey in a sample with ones that are under way now. */
let ofToday: (code: string) => string;

beforeAll(async () => {
  front = await startFront({ now: nextNoon() });
  folder = await mkdtemp(join(tmpdir(), 'transit-samples-'));
  await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  for (const name of ['src', 'web', 'sandbox']) await symlink(join(process.cwd(), name), join(folder, name));
  await symlink(join(process.cwd(), 'clients'), join(folder, 'clients'));
  await writeFile(join(folder, 'package.json'), await readFile('package.json'));
  for (const name of ['poll-boards.mjs', 'follow-board.mjs'])
    await copyFile(join('examples/javascript', name), join(folder, name));
  const headers = { authorization: `Bearer ${front.testKey}` };
  const board = await front.app.inject({ url: '/v1/departures?stop=200060&modes=all&limit=50&include=ids', headers });
  const [{ run_id: runId }] = board.json().departures.filter((one: { run_id: string | null }) => one.run_id);
  const trips = await front.app.inject({ url: '/v1/trips?from=202020&to=209573&include=ids', headers });
  const [{ journey_id: journeyId }] = trips.json().journeys;
  const journey = createFollowOperation({ journeys: plannerJourneys({ get: () => null }), listAlerts: async () => [] });
  ofToday = (code) =>
    code
      .replaceAll(runOperation.example.query.replace('run_id=', ''), runId)
      .replaceAll(journey.example.query.replace('journey_id=', ''), journeyId);
  runner = createRunner(folder, {
    TIS_KEY: front.testKey,
    TIS_URL: front.url,
    DATA_DIR: join(folder, 'data'),
    PYTHONPATH: 'clients/python',
  });
});

afterAll(async () => {
  await front[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Fills in the address and the key of the service under test. */
const filledIn = (code: string) =>
  code
    .replaceAll('http://localhost:3000', front.url)
    .replaceAll('https://YOUR_ADDRESS', front.url)
    .replaceAll('YOUR_KEY', front.testKey);

async function runCommand(command: string): Promise<void> {
  const text = filledIn(command);
  if (text.startsWith('curl -N ')) {
    expect(await runner.runUntil(/^event: board$/m, 'sh', ['-c', `exec ${text}`])).toContain('data: {');
  } else if (text.startsWith('curl -fsS')) await runner.run('sh', ['-c', text]);
  else if (text.startsWith('curl ')) expectGood(await runner.run('sh', ['-c', text]));
  else await runner.run('sh', ['-c', text]);
}

/** Expects a response of the service that is not an error. */
function expectGood(printed: string): void {
  if (printed.startsWith('{')) expect(JSON.parse(printed)).not.toHaveProperty('error');
  else if (printed.startsWith('event: message')) expect(printed).toContain('"isError":false');
  else expect(printed).toMatch(/^\S.* \(\d+\)\n.*CC BY 4\.0/s);
}

describe('the samples on the pages', () => {
  const runJavaScript = async (code: string) =>
    expect(await runner.run(process.execPath, ['--input-type=module', '-'], code)).toMatch(/^\{\s/);
  /** Some samples are on several pages. */
  const hasRun = new Set<string>();
  async function runOnce(code: string, run: (code: string) => Promise<void>): Promise<void> {
    if (hasRun.has(code)) return;
    await run(code);
    hasRun.add(code);
  }

  it('the command of the home page runs, and its response follows the contract', async () => {
    const samples = listPageSamples('/', (await front.app.inject('/')).body);
    const codes = (language: string) =>
      samples.filter((one) => one.language === language).map(({ code }) => ofToday(code));
    for (const command of codes('sh').flatMap(listCommands)) await runOnce(command, runCommand);
    const [board] = codes('json');
    expect(departuresResponse.parse(JSON.parse(board ?? '')).departures).not.toEqual([]);
  });

  it('the JavaScript samples show what went wrong', async () => {
    const { javascript } = sampleOf(front.url, '/v1/departures?stop=x');
    await expect(runner.run(process.execPath, ['--input-type=module', '-'], javascript)).rejects.toThrow(
      /`stop` must be/,
    );
  });

  it('every sample on the page of an operation requests that operation', async () => {
    const { paths } = (await front.app.inject('/openapi.json')).json();
    const operations = Object.keys(paths).filter((path) => paths[path].get && !path.endsWith('/stream'));
    expect(operations.length).toBeGreaterThan(10);
    for (const path of operations) {
      const url = operationUrl(path);
      const samples = listPageSamples(url, (await front.app.inject(url)).body);
      const code = (language: string) => ofToday(samples.find((one) => one.language === language)?.code ?? '');
      for (const language of ['sh', 'js', 'python', 'kotlin', 'swift'])
        expect(code(language), `${language} on ${url}`).toMatch(
          new RegExp(`${front.url}${path.replace(/\{\w+\}/, '[^{/]+')}[?"']`),
        );
      for (const command of listCommands(code('sh'))) await runOnce(command, runCommand);
      await runOnce(code('js'), runJavaScript);
      await runOnce(code('python'), expectPython);
      await expectAsks(code('kotlin'));
      await expectAsks(code('swift'));
      expect(await runner.run('sh', ['-c', code('mcp')])).toContain('"structuredContent":');
    }
  });

  it('the samples on the page of a stream follow it', async () => {
    const url = '/docs/reference/departures-stream';
    const samples = listPageSamples(url, (await front.app.inject(url)).body);
    const code = (language: string) => samples.find((one) => one.language === language)?.code ?? '';
    await runCommand(code('sh').replaceAll('\\\n', ' '));
    await writeFile(join(folder, 'stream.mjs'), code('js'));
    expect(await runner.runUntil(/^event: board$/m, process.execPath, ['stream.mjs'])).toContain('data: {');
  });

  it('a quote in a parameter stays a quote in every sample of the playground', async () => {
    const given = { path: {}, query: { q: "O'Connell" } };
    const { tool, client } = callSampleOf(front.url, 'searchStops', given, front.testKey);
    expect(await runner.run('sh', ['-c', tool])).toContain(`\\"query\\":\\"O'Connell\\"`);
    expect(client).toContain(String.raw`searchStops({ query: { q: 'O\'Connell' } })`);
  });

  it.each(Object.keys(ERROR_TABLE))('the command on the page of %s runs', async (code) => {
    const { body } = await front.app.inject({ url: `/docs/errors/${code}`, headers: { accept: 'text/html' } });
    const commands = listPageSamples(code, body).filter(({ language }) => language === 'sh');
    expect(commands).toHaveLength(1);
    for (const { code } of commands) await runCommand(code);
  });

  it('the stand-in for curl sends what samples request', async () => {
    const authorization = `Authorization: Bearer ${front.testKey}`;
    const send = (...args: string[]) => runner.run(process.execPath, [resolve('test/support/curl.ts'), ...args]);
    expectGood(await send('-H', authorization, `${front.url}/v1/stops/search?q=central`));
    await expect(send('--insecure', front.url)).rejects.toThrow(/does not know/);
  });

  it('the command in the mail with a key runs', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
    const payload = 'email=ada%40example.com&terms=on';
    expect((await front.app.inject({ method: 'POST', url: '/signup', headers, payload })).statusCode).toBe(202);
    const [mail] = await front.readOutbox();
    const [command = ''] = /curl .*/.exec(mail?.text ?? '') ?? [];
    await runCommand(command);
  });
});

describe('the samples in the README and in docs', () => {
  const samples = listDocumentSamples();
  const of = (...languages: string[]) => samples.filter(({ language }) => languages.includes(language));

  it('every sample is in a language that is tested here', () => {
    // The browser tests of the examples open the page in HTML.
    const known = ['sh', 'json', 'ts', 'js', 'python', 'kotlin', 'swift', 'html'];
    expect(samples.filter(({ language }) => !known.includes(language)).map(({ place }) => place)).toEqual([]);
  });

  const commands = of('sh').flatMap(({ place, code }) => listCommands(code).map((command) => ({ place, command })));
  const isRun = ({ command }: { command: string }) => !NOT_RUN.some((beginning) => command.startsWith(beginning));

  it.each(commands.filter(isRun).filter(({ command }) => !KEYS.test(command)))(
    'the command in $place runs: $command',
    ({ command }) => runCommand(command),
  );

  it('the commands for accounts and keys run, from the first key to the last deletion', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
    const operations = await readFile('docs/operations.md', 'utf8');
    const [, section = ''] = /^## Accounts and keys\n(.*?)^## /ms.exec(operations) ?? [];
    const named = [...section.matchAll(/`(\w+ [^`…>]+)`/g)].map(([, words = '']) => words);
    const startingWith = (verb: string) => named.filter((words) => words.startsWith(`${verb} `));
    const [issue = '', ...others] = ['issue', 'plan', 'list', 'suspend', 'revoke', 'delete'].flatMap(startingWith);
    // The first in a process of its own, which shows that the script starts.
    expect(await runner.run('sh', ['-c', `${scripts.keys} ${issue}`])).toMatch(/\btis_live_\w/);
    expect(others.length).toBeGreaterThan(4);
    for (const words of others) {
      const { code } = await runKeys(words.split(' '), { DATA_DIR: join(folder, 'data') });
      expect([code, words]).toEqual([0, words]);
    }
  });

  it('every command that is not run names scripts that exist', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
    const notRun = commands.filter((one) => !isRun(one)).map(({ command }) => command);
    for (const beginning of NOT_RUN) expect(notRun.join('\n')).toContain(beginning);
    for (const [, name = ''] of notRun.join('\n').matchAll(/npm (start|test)/g)) expect(scripts).toHaveProperty(name);
  });

  it.each(of('json').map(({ place, code }) => ({ place, code, start: code.slice(0, 40).replaceAll(/\s+/g, ' ') })))(
    'the JSON in $place is valid: $start',
    ({ code }) => {
      const value = JSON.parse(code);
      if ('departures' in value) expect(departuresResponse.parse(value)).toEqual(value);
    },
  );

  // test/contract/generated-clients.test.ts runs the sample of the generated client.
  it.each(of('ts').filter(({ code }) => !code.includes('./client/')))(
    'the TypeScript in $place runs',
    async ({ code }) => {
      const local = code.replace("'./transit/transit.ts'", "'./clients/typescript/src/transit.ts'");
      await writeFile(join(folder, 'sample.ts'), filledIn(local));
      expect(await runner.run(process.execPath, ['sample.ts'])).toMatch(/^\S+ .+ \d+$/m);
    },
  );

  it.skipIf(!hasPython).each(of('python').filter(isProgram))('the Python program in $place runs', async ({ code }) => {
    const printed = await runner.run('python3', ['-'], filledIn(code));
    expect(printed).toMatch(/^\S+ .+ \d+$/m);
    expect(printed).toMatch(/^NO_JOURNEYS_FOUND: .+ that fits wheelchair\. \(http.+\)$/m);
  });

  const programs = Map.groupBy(
    of('js').filter(({ setting }) => !setting),
    ({ place }) => place,
  );
  it.each([...programs])('the JavaScript of %s runs as one program', async (_place, parts) => {
    const code = parts.map((part) => part.code).join('\n');
    await writeFile(join(folder, 'sample.mjs'), filledIn(code));
    // A sample that polls or follows a stream never ends by itself.
    const said = code.includes('AbortController') ? /^Town Hall Station \d+$/m : null;
    const printed = said
      ? await runner.runUntil(said, process.execPath, ['sample.mjs'])
      : await runner.run(process.execPath, ['sample.mjs']);
    expect(printed).toMatch(/\S/);
    expect(printed).not.toContain('undefined');
  });

  it('the program that follows a journey learns of a missed change, and follows the next journey', async () => {
    const code = await readFile('examples/javascript/follow-journey.mjs', 'utf8');
    const said = /^\w+ leaves .+ at \d+:\d\d [ap]m\n(?:.+\n)*\d+ minutes to change at .+\n/m;
    await runner.runUntil(said, process.execPath, [resolve('examples/javascript/follow-journey.mjs')]);
    const headers = { authorization: `Bearer ${front.testKey}` };
    const url = '/v1/trips?from=99000008&to=99004007&include=ids';
    const { journeys } = (await front.app.inject({ url, headers })).json();
    // The sandbox makes the change impossible some time after the journey was first followed.
    for (const { journey_id: id } of journeys) await front.app.inject({ url: `/v1/trips/${id}`, headers });
    const before = front.clock.now;
    front.clock.now = new Date(before.getTime() + 90_000);
    const rehearsed = code.replace(/^const \[from, to\] = .+$/m, "const [from, to] = ['99000008', '99004007'];");
    await writeFile(join(folder, 'follow.mjs'), rehearsed);
    const saidNext = /^The change at .+ is missed\nContinue at .+\n(?:Alert: .+\n)*\w+ leaves .+ at /m;
    try {
      await runner.runUntil(saidNext, process.execPath, ['follow.mjs']);
    } finally {
      front.clock.now = before;
    }
  });

  it.each(of('python').filter((sample) => !isProgram(sample)))(
    'the Python in $place requests what its text says',
    ({ code }) => expectPython(filledIn(code)),
  );

  it.each(of('kotlin', 'swift'))('the $language in $place makes a valid request', ({ code }) =>
    expectAsks(filledIn(code)),
  );

  it.each(['Board.swift', 'Board.kt', 'board-stream.js', 'board.dart'])(
    'the app example %s makes a valid request',
    async (name) => expectAsks(filledIn(await readFile(join('examples/mobile', name), 'utf8'))),
  );

  it('every sample request to the sandbox has a response', async () => {
    const [, text = ''] = /^## Things to try\n(.*?)^## /ms.exec(await readFile('docs/guide/sandbox.md', 'utf8')) ?? [];
    const paths = [...text.matchAll(/`(\/v1\/[^`]*\?[^`]*)`/g)].map(([, path = '']) => path.replace('…', nextMonday()));
    expect(paths.length).toBeGreaterThan(5);
    for (const url of paths) {
      const response = await front.app.inject({ url, headers: { authorization: `Bearer ${front.testKey}` } });
      expect([response.statusCode, url]).toEqual([url.endsWith('to=G99006002') ? 404 : 200, url]);
    }
  });
});

/** Noon in Sydney, because some samples need the vehicles of a day. It is in the future, because some use their own clock. */
function nextNoon(): string {
  const day = new Date();
  if (day.getUTCHours() >= 2) day.setUTCDate(day.getUTCDate() + 1);
  return `${day.toISOString().slice(0, 10)}T02:00:00Z`;
}

function nextMonday(): string {
  const day = new Date();
  do day.setUTCDate(day.getUTCDate() + 1);
  while (day.getUTCDay() !== 1);
  return day.toISOString().slice(0, 10).replaceAll('-', '');
}

/** These are for phones, without a key. They are not run: the test reads their request from the text and sends it. */
async function expectAsks(code: string): Promise<void> {
  const [, url = ''] = /(?:URI|URL\(string: |\.url\(|Uri\.parse|URL_OF_BOARD = )\(?["']([^"']+)["']/.exec(code) ?? [];
  expect(code).toMatch(
    /["']Authorization["'], "Bearer \$token"|"Bearer \\\(token\)", forHTTPHeaderField: "Authorization"|Authorization: `Bearer \$\{token\}`|\['Authorization'\] = 'Bearer \$token'/,
  );
  expect(code).toContain('from your own backend');
  expect(code).not.toMatch(/tis_|TIS_KEY|getenv|environment/);
  const { status, body } = await fetch(url, { headers: { authorization: `Bearer ${front.testKey}` } });
  await body?.cancel();
  expect(status).toBe(200);
}

const PYTHON_LINES = [
  /^import [a-z]+(\.[a-z]+)*(, [a-z]+(\.[a-z]+)*)*$/,
  /^$/,
  /^request = urllib\.request\.Request\("([^"\\]+)"\)$/,
  /^request\.add_header\("Authorization", "Bearer " \+ os\.environ\["TIS_KEY"\]\)$/,
  /^print\(json\.load\(urllib\.request\.urlopen\(request\)\)\)$/,
];

/** Whether the sample uses the Python client. */
const isProgram = ({ code }: { code: string }) => code.includes('from transit import');

const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Checks each line against the known ones, then runs the sample, or without Python sends its request. */
async function expectPython(code: string): Promise<void> {
  expect(
    code
      .trim()
      .split('\n')
      .filter((line, index) => !PYTHON_LINES[index]?.test(line)),
  ).toEqual([]);
  if (hasPython) {
    expect(await runner.run('python3', ['-'], code)).toMatch(/^\{'/);
    return;
  }
  const [, url = ''] = /Request\("(.*)"\)/.exec(code) ?? [];
  const { status, body } = await fetch(url, { headers: { authorization: `Bearer ${front.testKey}` } });
  await body?.cancel();
  expect(status).toBe(200);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { DAY_MS } from '#src/core/clock.ts';
import { startServerProcess } from '../support/process.ts';
import { smallSchedule, startScheduleServer, zipAnswer } from '../support/schedule-server.ts';

/*
 * The commands as processes with default settings, so at five calls a second: a process that waits for nothing but timers that do
 * not keep it alive exits with 13, which no test inside this process can see.
 */
type Answer = ReturnType<typeof zipAnswer>;

const root = mkdtempSync(join(tmpdir(), 'commands-'));
afterAll(() => rmSync(root, { recursive: true }));

const statusAnswer =
  (status: number): Answer =>
  (_request, response) =>
    response.writeHead(status).end('{}');
const lostAnswer: Answer = (_request, response) => response.socket?.destroy();
const dayIn = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
const wholeAnswer = zipAnswer(smallSchedule({ from: dayIn(-1), to: dayIn(30) }));

/** Whole files, but no more than five in a second, as upstream allows. */
function limitedAnswer(): Answer {
  const lastFive: number[] = [];
  return (request, response) => {
    const now = performance.now();
    if (lastFive.length === 5 && now - (lastFive[0] as number) < 1000) {
      response.writeHead(403, { 'X-Error-Detail': 'Account Over Rate Limit' }).end('{"code":403}');
      return;
    }
    lastFive.push(now);
    if (lastFive.length > 5) lastFive.shift();
    wholeAnswer(request, response);
  };
}

async function startUpstream(answer: Answer, delayMs: number) {
  const upstream = await startScheduleServer();
  upstream.others.answer = async (request, response) => {
    await sleep(delayMs);
    answer(request, response);
  };
  return upstream;
}

/** Runs the command against an upstream that answers after `delayMs`. */
async function run(command: string, answer: Answer, delayMs: number, env: Record<string, string> = {}) {
  const upstream = await startUpstream(answer, delayMs);
  const [program = '', ...words] = command.split(' ');
  const child = spawn(process.execPath, [`src/cli/${program}.ts`, ...words], {
    env: {
      PATH: process.env.PATH,
      DATA_DIR: mkdtempSync(join(root, 'data-')),
      UPSTREAM_URL: upstream.url,
      UPSTREAM_API_KEY: 'a-long-made-up-key-of-upstream',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  await upstream.close();
  return { code, said, calls: upstream.requests.length };
}

describe.concurrent('a command with default settings', () => {
  it.concurrent.each([
    ['whole files after 0 ms', 0, wholeAnswer, 0],
    ['whole files after 100 ms', 0, wholeAnswer, 100],
    ['whole files after 400 ms', 0, wholeAnswer, 400],
    ['404 after 0 ms', 1, statusAnswer(404), 0],
    ['500 after 100 ms', 1, statusAnswer(500), 100],
    ['401 after 0 ms', 3, statusAnswer(401), 0],
    ['nothing', 5, lostAnswer, 0],
  ])('an update of the timetable from an upstream that answers %s exits with %i', async (_, expected, answer, ms) => {
    const { code, said } = await run('timetable update', answer, ms);
    expect([code, said]).toEqual([expected, expect.stringMatching(/files are up to date\.\n$/)]);
  });

  it('an update of the timetable repeats a download that upstream refused because of the rate', async () => {
    let refusals = 0;
    const { code, said } = await run(
      'timetable update',
      (request, response) => (++refusals === 3 ? statusAnswer(429) : wholeAnswer)(request, response),
      0,
    );
    expect([code, said]).toEqual([0, expect.stringContaining('23 of 23 files are up to date.')]);
  });

  it('an update of the timetable takes all files and the bundle from an upstream that allows five calls a second', async () => {
    const { code, said } = await run('timetable update', limitedAnswer(), 100, { TIMETABLE: 'auto,complete' });
    expect([code, said]).toEqual([0, expect.stringContaining('24 of 24 files are up to date.')]);
  });

  it.concurrent.each([
    ['404 after 0 ms', 1, statusAnswer(404), 0, /34 calls: 0 hold/],
    ['500 after 100 ms', 1, statusAnswer(500), 100, /34 calls: 0 hold/],
    ['401 after 400 ms', 3, statusAnswer(401), 400, /The key was refused/],
    ['nothing', 5, lostAnswer, 0, /Upstream cannot be reached/],
  ])('a check of an upstream that answers %s exits with %i', async (_, expected, answer, ms, text) => {
    const { code, said } = await run('upstream check', answer, ms);
    expect([code, said]).toEqual([expected, expect.stringMatching(text)]);
  });

  it.concurrent.each([
    ['keys list', 0],
    ['keys usage', 0],
    ['keys backup --json', 0],
    ['keys issue --email someone@example.org', 0],
    ['keys revoke nobody@example.org', 2],
    ['timetable status', 0],
    ['timetable unknown', 2],
    ['upstream config', 0],
    ['upstream unknown', 2],
  ])('%s, which calls nothing upstream, exits with %i', async (command, expected) => {
    const { code, calls } = await run(command, statusAnswer(500), 0);
    expect([code, calls]).toEqual([expected, 0]);
  });
});

it('a service and an update of its timetable at the same time import each file once', async () => {
  const upstream = await startUpstream(limitedAnswer(), 100);
  const isTried = Promise.withResolvers<void>();
  upstream.answer('metro', (request, response) => isTried.promise.then(() => wholeAnswer(request, response)));
  const env = {
    UPSTREAM_URL: upstream.url,
    UPSTREAM_API_KEY: 'a-long-made-up-key-of-upstream',
    DATA_DIR: mkdtempSync(join(root, 'data-')),
  };
  const service = await startServerProcess({ ...env, TIMETABLE: 'auto' });
  const lease = join(env.DATA_DIR, 'timetable/update.lease');
  await expect.poll(() => existsSync(lease), { timeout: 30_000 }).toBe(true);
  const during = await run('timetable update', wholeAnswer, 0, env);
  expect([during.code, during.said]).toEqual([2, expect.stringContaining('Another update is under way')]);
  isTried.resolve();
  await expect.poll(() => service.log.map(({ msg }) => msg), { timeout: 120_000 }).toContain('timetable in use');
  expect(service.log).toContainEqual(expect.objectContaining({ msg: 'schedule imported', files: 23 }));
  const after = await run('timetable update', wholeAnswer, 0, env);
  expect([after.code, after.said]).toEqual([0, expect.stringContaining('23 of 23 files are up to date.')]);
  await service.stop();
  await upstream.close();
});

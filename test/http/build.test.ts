import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { parseBuild } from '#src/http/build.ts';
import { buildTestApp } from '../support/app.ts';
import { ensureProgram } from '../support/debian.ts';
import { BUILD, scrape } from '../support/metrics.ts';
import { noUpstream } from '../support/no-upstream.ts';
import { startServerProcess } from '../support/process.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

beforeAll(() => ensureProgram('git', 'git'));

it('/healthz and the metrics name the build', async () => {
  const app = await buildTestApp({ upstream: noUpstream, now: '2026-11-21T01:00:00Z', build: BUILD });
  onTestFinished(() => app.close());
  expect((await app.inject('/healthz')).json()).toEqual({ status: 'ok', ...BUILD });
  const { values } = await scrape();
  expect(values.get('transit_info{source="real",version="1.2.3",commit="0123456789ab"}')).toBe(1);
});

it('the commit of the build comes from the environment, else from .git, else it is "unknown"', () => {
  const commit = '0123456789abcdef0123456789abcdef01234567';
  const folder = mkdtempSync(join(tmpdir(), 'transit-build-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(parseBuild({ GIT_COMMIT: '' }, folder)).toEqual({ version, commit: 'unknown' });
  mkdirSync(join(folder, '.git', 'refs'), { recursive: true });
  mkdirSync(join(folder, '.git', 'objects'));
  writeFileSync(join(folder, '.git', 'HEAD'), `${commit}\n`);
  expect(parseBuild({}, folder).commit).toBe('0123456789ab');
  expect(parseBuild({ GIT_COMMIT: commit.replace('0', 'f') }, folder).commit).toBe('f123456789ab');
});

it('the log begins with the build', async () => {
  const server = await startServerProcess({ GIT_COMMIT: '0123456789abcdef' });
  onTestFinished(() => void server.stop('SIGKILL'));
  expect(server.log[0]).toMatchObject({ msg: 'the service starts', version, commit: '0123456789ab' });
});

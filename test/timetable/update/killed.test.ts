import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sleep, systemClock } from '#src/core/clock.ts';
import { SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import { loadStates, openNewest, zipPath } from '#src/timetable/update/folder.ts';
import { smallSchedule } from '../../support/schedule-server.ts';
import { updateFrom } from './updating-process.ts';

const root = mkdtempSync(join(tmpdir(), 'killed-'));
const from = join(root, 'from');
const before = join(root, 'before');

function publish(trips: number): void {
  const file = join(from, `${SCHEDULE_FILES.metro.path}.zip`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, smallSchedule({ trips, from: '20200101', to: '20391231' }));
  utimesSync(file, trips, trips);
}

const tripsIn = async (folder: string) => (await openNewest(folder))?.files.map(({ trips }) => trips);
const inode = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino;
const count = (folder: string, end: string) => readdirSync(folder).filter((name) => name.endsWith(end)).length;

/** States of the folder at which the process is killed. */
const MOMENTS: Record<string, (folder: string, zip: number | undefined) => boolean> = {
  'it has the lease': (folder) => existsSync(join(folder, 'update.lease')),
  'the timetable is written aside': (folder) => count(folder, '.draft') > 0 || count(folder, '.bin') > 1,
  'a zip is in its place': (folder, zip) => inode(zipPath(folder, 'metro')) !== zip,
};

beforeAll(async () => {
  publish(10);
  await updateFrom(before, from);
  publish(11);
});
afterAll(() => rmSync(root, { recursive: true }));

it('an update killed at any moment loses nothing, and the next one completes it', async () => {
  await Promise.all(
    Object.entries(MOMENTS).map(async ([moment, isThere], index) => {
      const folder = join(root, String(index));
      cpSync(before, folder, { recursive: true });
      const zip = inode(zipPath(folder, 'metro'));
      const args = [join(import.meta.dirname, 'updating-process.ts'), folder, from];
      const child = spawn(process.execPath, args, { env: {}, stdio: 'ignore' });
      const ended = once(child, 'exit');
      while (child.exitCode === null && !isThere(folder, zip)) await sleep(systemClock, 1);
      child.kill('SIGKILL');
      await ended;
      expect([[10], [11]], moment).toContainEqual(await tripsIn(folder));
      expect((await loadStates(folder)).get('metro'), moment).toMatchObject({ good: { report: { file: 'metro' } } });
      await updateFrom(folder, from);
      expect(await tripsIn(folder), moment).toEqual([11]);
      expect(
        readdirSync(folder).filter((name) => /draft|lease/.test(name)),
        moment,
      ).toEqual([]);
    }),
  );
});

import { type ChildProcess, spawn } from 'node:child_process';
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
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runTimetable } from '#src/cli/timetable.ts';
import { type FileId, SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import { openNewest, readStates, zipPath } from '#src/timetable/update/folder.ts';
import { smallSchedule } from '../../support/schedule-server.ts';

const root = mkdtempSync(join(tmpdir(), 'killed-'));
const from = join(root, 'from');
/** The only files that are there: an update then takes the least time. */
const IDS = ['metro', 'buses'] as const;
const FIRST = { trips: 10, from: '20200101', to: '20391231' };
const children: ChildProcess[] = [];

function publish(trips: number): void {
  for (const id of IDS) {
    const file = join(from, `${SCHEDULE_FILES[id].path}.zip`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, smallSchedule({ ...FIRST, trips }));
    utimesSync(file, trips, trips);
  }
}

const update = (dataDir: string) =>
  runTimetable(['update', '--from', from], { env: { DATA_DIR: dataDir }, print: () => {} });
const tripsIn = async (folder: string) =>
  (await openNewest(folder))?.files
    .filter(({ file }) => (IDS as readonly FileId[]).includes(file))
    .map(({ trips }) => trips);

beforeAll(async () => {
  publish(10);
  expect(await update(join(root, 'before'))).toBe(1);
  publish(11);
});
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true });
});

const inode = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino;
const count = (folder: string, end: string) => readdirSync(folder).filter((name) => name.endsWith(end)).length;

/** What is there when the process is killed. */
const MOMENTS: Record<string, (folder: string, before: { zip: number | undefined }) => boolean> = {
  'it has the lease': (folder) => existsSync(join(folder, 'update.lease')),
  'the timetable is written aside': (folder) => count(folder, '.draft') > 0 || count(folder, '.bin') > 1,
  'a zip is in its place': (folder, { zip }) => inode(zipPath(folder, 'buses')) !== zip,
};

it('loses nothing when it is killed at any moment, and the next update goes on', async () => {
  await Promise.all(
    Object.entries(MOMENTS).map(async ([moment, isThere], index) => {
      const dataDir = join(root, String(index));
      cpSync(join(root, 'before'), dataDir, { recursive: true });
      const folder = join(dataDir, 'timetable-of-the-sandbox');
      const before = { zip: inode(zipPath(folder, 'buses')) };
      const args = ['src/cli/timetable.ts', 'update', '--from', from];
      const child = spawn(process.execPath, args, { env: { DATA_DIR: dataDir }, stdio: 'ignore' });
      children.push(child);
      const ended = once(child, 'exit');
      while (child.exitCode === null && !isThere(folder, before)) await sleep(2);
      child.kill('SIGKILL');
      await ended;
      const trips = await tripsIn(folder);
      expect(
        [
          [10, 10],
          [11, 11],
        ],
        moment,
      ).toContainEqual(trips);
      for (const id of IDS)
        expect((await readStates(folder)).get(id), moment).toMatchObject({ good: expect.anything() });
      expect(await update(dataDir), moment).toBe(1);
      expect(await tripsIn(folder), moment).toEqual([11, 11]);
      expect(
        readdirSync(folder).filter((name) => /draft|lease/.test(name)),
        moment,
      ).toEqual([]);
    }),
  );
});

import type { Config } from '../config.ts';
import { systemClock as clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { filesFor, SCHEDULE_FILES } from '../timetable/schedule-files.ts';
import { timetableFolder } from '../timetable/update/folder.ts';
import { type CurrentTimetable, followUpdates, noTimetable } from '../timetable/update/keep-current.ts';
import { type CallForFile, openScheduleSource } from './schedule-source.ts';

/** Opens the local timetable and keeps its files current. Returns an empty one if TIMETABLE is off. */
export async function openTimetable(
  { timetable: { mode, hasBundle }, dataDir, upstream, upstreamProxy: proxyUrl }: Config,
  options: {
    url: string;
    callForFeed: CallForFile;
    apiKeys: readonly string[];
    /** Whether upstream has a file at this path; the sandbox lacks some. */
    servesFile: (path: string) => boolean;
    log: Log<'info' | 'warn' | 'error'>;
  },
): Promise<CurrentTimetable> {
  if (mode === 'off') return noTimetable;
  const { url, servesFile, ...more } = options;
  const source = openScheduleSource({ ...more, url, proxyUrl, now: clock.now });
  const isSandbox = upstream.kind === 'sandbox';
  const folder = timetableFolder(dataDir, { isSandbox });
  const fileIds = filesFor({ hasBundle }).filter((id) => servesFile(SCHEDULE_FILES[id].path));
  const current = await followUpdates({
    ...more,
    folder,
    mode,
    source,
    wanted: fileIds,
    isBundleLast: !isSandbox,
    clock,
  });
  return {
    ...current,
    async close() {
      // The source first, to abort downloads instead of waiting for them.
      await source.close();
      await current.close();
    },
  };
}

import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { timetableFolder } from '../timetable/update/folder.ts';
import { type CurrentTimetable, keepCurrent, noTimetable } from '../timetable/update/keep-current.ts';
import type { FileOutcome } from '../timetable/update/update.ts';
import { openScheduleSource } from './schedule-source.ts';

/** The timetable that the service keeps, with its files from upstream; none where TIMETABLE is off. */
export async function openTimetable(
  { timetable: { mode, hasBundle }, liveFeeds, dataDir, upstream, upstreamProxy: proxyUrl }: Config,
  options: {
    url: string;
    callForFeed: Parameters<typeof openScheduleSource>[0]['callForFeed'];
    apiKeys: readonly string[];
    clock?: Clock;
    log: Log<'info' | 'warn' | 'error'>;
    record: (outcome: FileOutcome) => void;
  },
): Promise<CurrentTimetable> {
  if (mode === 'off') return noTimetable;
  const { clock = systemClock, url, ...more } = options;
  const now = () => new Date(clock.now());
  const source = openScheduleSource({ ...more, url: liveFeeds.feedsUrl ?? url, proxyUrl, now });
  const folder = timetableFolder(dataDir, { isSandbox: upstream.kind === 'sandbox' });
  const current = await keepCurrent({ ...more, folder, mode, source, hasBundle, clock });
  return {
    ...current,
    async close() {
      // First, so that no download is waited for.
      await source.close();
      await current.close();
    },
  };
}

import type { ExplainedBoard } from '../realtime/explain-board.ts';
import { type LiveReport, listLeftOut } from '../realtime/live-report.ts';
import { queryService } from '../server/operator-socket.ts';

/** The state of the feeds in a running service. `at` is in milliseconds since 1970. */
export type RunningReport = LiveReport & { pid: number; at: number };

interface Explanation {
  report: RunningReport;
  /** Null if the timetable lacks the stop. */
  board: ExplainedBoard | null;
}

/** Null if no service runs. Throws `NoResponse`. */
export async function queryFeeds(folder: string): Promise<RunningReport | null> {
  return (await queryService(folder, '/feeds')) as RunningReport | null;
}

/** Null if no service runs. Throws `NoResponse`. */
export async function queryExplanation(
  folder: string,
  { stopId, route, isArrival }: { stopId: string; route: string | undefined; isArrival: boolean },
): Promise<Explanation | null> {
  const query = new URLSearchParams({ stop: stopId, ...(route && { route }), ...(isArrival && { arrivals: '' }) });
  return (await queryService(folder, `/explain?${query}`)) as Explanation | null;
}

const NAME_WIDTH = 26;

/** One line for each feed, and one for each reason why parts of it are left out. */
export function describeFeeds({ feeds, at }: RunningReport, { hasExamples = true } = {}): string[] {
  return feeds.flatMap(({ source, problem, headerAt, tripCount, foundShare, leftOut }) => {
    const parts = [
      problem === null ? 'in use' : `NOT USED: ${problem}`,
      headerAt !== null && `header ${Math.round((at - headerAt) / 1000)} s old`,
      tripCount !== null && `${tripCount.toLocaleString('en')} ${source.endsWith('-positions') ? 'vehicles' : 'trips'}`,
      foundShare !== null && `${Math.floor(foundShare * 1000) / 10} % of them in the timetable`,
    ];
    const reasons = listLeftOut(leftOut).map(({ reason, count, examples }) => {
      const shown = hasExamples && examples.length > 0 ? `: ${examples.join(', ')}` : '';
      return `    left out: ${count.toLocaleString('en')} ${reason}${shown}`;
    });
    return [`${source.padEnd(NAME_WIDTH)} ${parts.filter(Boolean).join(', ')}`, ...reasons];
  });
}

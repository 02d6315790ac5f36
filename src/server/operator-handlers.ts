import { explainBoard } from '../realtime/explain-board.ts';
import type { LiveFeeds } from '../realtime/live-feeds.ts';
import type { LiveReport } from '../realtime/live-report.ts';
import type { OperatorHandlers } from './operator-socket.ts';

/** Answers the queries of `npm run timetable` to a running service. */
export function createOperatorHandlers(live: { feeds: LiveFeeds | null; report(): LiveReport }): OperatorHandlers {
  const report = () => ({ pid: process.pid, at: Date.now(), ...live.report() });
  return {
    '/feeds': async () => report(),
    async '/explain'(query) {
      const stopId = query.get('stop') ?? '';
      const [route, isArrival] = [query.get('route'), query.has('arrivals')];
      const board = live.feeds && (await explainBoard(live.feeds, { stopId, route, isArrival, now: Date.now }));
      return { report: report(), board };
    },
  };
}

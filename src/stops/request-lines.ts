import { fetchDeparturePage } from '../efa/departure-page.ts';
import type { QueryUpstream } from '../efa/query-upstream.ts';
import { ApiError } from '../errors/api-error.ts';
import { MODES } from '../transit/mode.ts';
import { nextWeekdayMorning } from '../transit/time.ts';
import { mergeLines } from './register.ts';

/**
 * Fetches the lines that depart now or, if there are none, on the next weekday morning, because it may be night. For a platform,
 * upstream lists the lines of its station. Throws errors below 500, such as `STOP_NOT_FOUND`; returns others as `error`.
 */
export async function requestLines(
  stopId: string,
  { queryUpstream, now }: { queryUpstream: QueryUpstream; now: () => number },
) {
  let name = stopId;
  try {
    for (const at of [null, nextWeekdayMorning(now())]) {
      const page = await fetchDeparturePage(queryUpstream, { kind: 'departureMonitor', stopId, modes: MODES, at });
      name = page.stopName;
      if (page.departures.length === 0) continue;
      const lines = page.departures.map((departure) => ({
        ...departure,
        lineId: null,
        headsigns: [departure.destination],
      }));
      return { name, lines: mergeLines(lines), error: null };
    }
    return { name, lines: [], error: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.statusCode < 500) throw error;
    return { name, lines: null, error };
  }
}

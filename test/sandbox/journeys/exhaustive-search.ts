import { footpathsFrom } from '#src/sandbox/journeys/footpath.ts';
import type { Entrance, Search } from '#src/sandbox/journeys/journey-search.ts';
import { plannedSeconds, runAt } from '#src/sandbox/timetable/run.ts';

/*
 * A connection scan, to check the search by rounds against: every hop of every run in order of departure is taken if
 * the traveller is aboard already or reaches it in time.
 */

export function exhaustiveArrival(
  search: Search,
  startSeconds: number,
  starts: readonly Entrance[],
  goals: readonly Entrance[],
  limitSeconds: number,
): number | undefined {
  const ready = new Map<number, number>();
  const readyBy = (point: number, seconds: number) => {
    if (seconds < (ready.get(point) ?? Infinity)) ready.set(point, seconds);
  };
  for (const { point, walkSeconds } of starts) readyBy(point.index, startSeconds + walkSeconds);

  const aboard = new Set<string>();
  let best = limitSeconds;
  for (const hop of hopsOf(search, startSeconds, limitSeconds)) {
    if (!aboard.has(hop.run) && (ready.get(hop.from) ?? Infinity) > hop.departure) continue;
    aboard.add(hop.run);
    const node = search.index.points[hop.to];
    if (node === undefined) continue;
    for (const { to, seconds } of footpathsFrom(search.index, node)) readyBy(to.index, hop.arrival + seconds);
    for (const { point, walkSeconds } of goals) {
      if (point === node) best = Math.min(best, hop.arrival + walkSeconds);
    }
  }
  return best < limitSeconds ? best : undefined;
}

function hopsOf(search: Search, fromSeconds: number, untilSeconds: number) {
  const hops: { run: string; from: number; to: number; departure: number; arrival: number }[] = [];
  for (const pattern of search.index.patterns.filter(search.isWanted)) {
    const list = search.timetable(pattern);
    for (let position = 0; position < list.starts.length; position++) {
      const run = runAt(pattern, list, position);
      if (search.isCut(run)) continue;
      for (let call = 1; call < pattern.points.length; call++) {
        const departure = plannedSeconds(run, call - 1);
        const arrival = plannedSeconds(run, call);
        if (departure < fromSeconds || arrival > untilSeconds) continue;
        const [from, to] = [pattern.points[call - 1]?.index ?? 0, pattern.points[call]?.index ?? 0];
        hops.push({ run: `${pattern.index}/${position}`, from, to, departure, arrival });
      }
    }
  }
  return hops.sort((a, b) => a.departure - b.departure || a.arrival - b.arrival);
}

import { footpathsFrom } from '#sandbox/journeys/footpath.ts';
import type { Entrance, Search } from '#sandbox/journeys/journey-search.ts';
import type { PointNode } from '#sandbox/network/network-index.ts';
import { plannedSeconds, type Run } from '#sandbox/timetable/run.ts';

/**
 * A connection scan to verify the search by rounds: takes every hop of every run, in order of departure, that the traveller is
 * already on or reaches in time.
 */

export function exhaustiveArrival(
  search: Search,
  startSeconds: number,
  starts: readonly Entrance[],
  goals: readonly Entrance[],
  limitSeconds: number,
): number | undefined {
  const ready = new Map<PointNode, number>();
  const readyBy = (point: PointNode, seconds: number) => {
    if (seconds < (ready.get(point) ?? Infinity)) ready.set(point, seconds);
  };
  for (const { point, walkSeconds } of starts) readyBy(point, startSeconds + walkSeconds);

  const aboard = new Set<Run>();
  let best = limitSeconds;
  for (const hop of hopsOf(search, startSeconds, limitSeconds)) {
    if (!aboard.has(hop.run) && (ready.get(hop.from) ?? Infinity) > hop.departure) continue;
    aboard.add(hop.run);
    for (const { to, seconds } of footpathsFrom(search.index, hop.to)) readyBy(to, hop.arrival + seconds);
    for (const { point, walkSeconds } of goals) {
      if (point === hop.to) best = Math.min(best, hop.arrival + walkSeconds);
    }
  }
  return best < limitSeconds ? best : undefined;
}

function hopsOf(search: Search, fromSeconds: number, untilSeconds: number) {
  const hops: { run: Run; from: PointNode; to: PointNode; departure: number; arrival: number }[] = [];
  for (const pattern of search.index.patterns.filter(search.isWanted)) {
    for (const run of search.timetable(pattern)) {
      if (search.isCancelled(run)) continue;
      for (let call = 1; call < pattern.points.length; call++) {
        const departure = plannedSeconds(run, call - 1);
        const arrival = plannedSeconds(run, call);
        if (departure < fromSeconds || arrival > untilSeconds) continue;
        const [from, to] = [pattern.points[call - 1], pattern.points[call]];
        if (from && to) hops.push({ run, from, to, departure, arrival });
      }
    }
  }
  return hops.sort((a, b) => a.departure - b.departure || a.arrival - b.arrival);
}

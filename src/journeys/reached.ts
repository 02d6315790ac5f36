import { Int32Column, int32At, Uint32Column } from '../core/columns.ts';
import type { LiveTimetable } from '../realtime/live-timetable.ts';
import type { Timetable } from '../timetable/timetable.ts';
import type { Mode } from '../transit/mode.ts';
import type { LinesWithRefs, LiveRunRef } from './live-lines.ts';
import { type Labels, rideAt } from './raptor/labels.ts';
import { callAt, type Footpaths, type Lines, NEVER, tripOf } from './raptor/lines.ts';
import type { Walk } from './raptor/query.ts';

/** Times are seconds since the base of the lines. */
export interface Reached {
  stop: number;
  arrivesAt: number;
  /** The stop where the last ride ends; -1 on foot. */
  alightedAt: number;
}

/** The last ride to a stop, as riders see it. */
export interface LastRide {
  mode: Mode;
  route: string;
  headsign: string | null;
  /** In milliseconds since 1970. */
  departsAt: number;
  arrivesAt: number;
  /** The timestamp of the feed that has its times, in milliseconds since 1970; null if it has none. */
  asOf: number | null;
}

/** Planned times are cut to the minute, as on boards. Live ones are exact. */
function shownTime(at: number, isLive: boolean): number {
  return isLive ? at : Math.floor(at / 60) * 60;
}

/**
 * Lists the stops that are reached, by ride or with a walk from where a ride ends. `labels` come from a search with up to
 * `rides` rides; `walks` are the walks from the origin, which begin at `at`. `isLive` says whether a run has a live time at a position.
 */
export function listReached(
  lines: Lines,
  footpaths: Footpaths,
  labels: Labels,
  search: {
    at: number;
    latest: number;
    rides: number;
    walks: readonly Walk[];
    isLive(run: number, position: number): boolean;
  },
): Reached[] {
  const { at, latest, rides, walks, isLive } = search;
  const { stopCount } = lines;
  const { first, targets, seconds: walkSeconds } = footpaths;
  const row = rides * stopCount;
  const arrivesAt = new Int32Column(stopCount).fill(NEVER);
  const alightedAt = new Int32Column(stopCount).fill(-1);
  const record = (stop: number, moment: number, from: number) => {
    if (moment >= arrivesAt.valueAt(stop) || moment > latest) return;
    arrivesAt[stop] = moment;
    alightedAt[stop] = from;
  };
  for (const { stop, seconds } of walks) record(stop, at + seconds, -1);
  for (let stop = 0; stop < stopCount; stop++) {
    const moment = int32At(labels.arrived, row + stop);
    if (moment === NEVER) continue;
    const arrival = moment % 60 === 0 ? moment : shownTime(moment, isLiveAt(stop));
    record(stop, arrival, stop);
    for (let walk = int32At(first, stop), end = int32At(first, stop + 1); walk < end; walk++) {
      record(int32At(targets, walk), arrival + int32At(walkSeconds, walk), stop);
    }
  }
  const reached: Reached[] = [];
  for (let stop = 0; stop < stopCount; stop++) {
    if (arrivesAt[stop] === NEVER) continue;
    reached.push({ stop, arrivesAt: arrivesAt.valueAt(stop), alightedAt: alightedAt.valueAt(stop) });
  }
  return reached;

  function isLiveAt(stop: number): boolean {
    const label = countRides(labels, stop, { stopCount, rides }) * stopCount + stop;
    const { alightRun, alight } = rideAt(labels, label);
    return isLive(alightRun, alight);
  }
}

/** The number of rides to a stop where a ride ends, after a search with up to `rides`; 0 on foot. */
export function countRides(
  { arrived }: Labels,
  alightedAt: number,
  { stopCount, rides }: { stopCount: number; rides: number },
): number {
  if (alightedAt < 0) return 0;
  const first = arrived[rides * stopCount + alightedAt];
  let round = rides;
  while (arrived[(round - 1) * stopCount + alightedAt] === first) round--;
  return round;
}

/**
 * The first arrivals at each station, earliest first, up to `limit`; of two at the same time, the one with fewer rides. A stop without a
 * station counts as one. Stations of `without` are left out.
 */
export function listStations(
  reached: readonly Reached[],
  listed: { timetable: Timetable; limit: number; without: readonly number[]; ridesOf(reached: Reached): number },
): { stations: Reached[]; total: number } {
  const { timetable, limit, without, ridesOf } = listed;
  const { stopCount } = timetable;
  /** For each station, the index of its first arrival in `reached`, plus 1; 0 if there is none. */
  const firstAt = new Uint32Column(stopCount);
  const own = new Set(without);
  const found: number[] = [];
  for (let number = 1; number <= reached.length; number++) {
    const arrival = reached[number - 1] as Reached;
    const station = timetable.stationOf(arrival.stop);
    const known = firstAt.valueAt(station);
    if (known === 0) {
      firstAt[station] = number;
      if (!own.has(station)) found.push(station);
      continue;
    }
    const other = reached[known - 1] as Reached;
    const later = arrival.arrivesAt - other.arrivesAt;
    if (later < 0 || (later === 0 && ridesOf(arrival) < ridesOf(other))) firstAt[station] = number;
  }
  const firstOf = (station: number) => reached[firstAt.valueAt(station) - 1] as Reached;
  // Numbers are sorted several times faster than objects.
  const keys = new Float64Array(limit > 0 ? found.length : 0);
  let count = 0;
  if (limit > 0) for (const station of found) keys[count++] = firstOf(station).arrivesAt * stopCount + station;
  const stations = Array.from(keys.sort().slice(0, limit), (key) => {
    // Times before the day are negative.
    const stop = ((key % stopCount) + stopCount) % stopCount;
    return { ...firstOf(stop), stop };
  });
  return { stations, total: found.length };
}

/** Null if the stop is reached on foot. `base` is the beginning of the lines in milliseconds since 1970. */
export function toLastRide(
  { alightedAt }: Reached,
  rides: number,
  { live, lines, refOf, isLive, labels, base }: { live: LiveTimetable; labels: Labels; base: number } & LinesWithRefs,
): LastRide | null {
  if (rides === 0) return null;
  const { run: boarded, board, alightRun, alight } = rideAt(labels, rides * lines.stopCount + alightedAt);
  const ref = refOf(boarded);
  const [leavesLive, arrivesLive] = [isLive(boarded, board), isLive(alightRun, alight)];
  const asOf = (arrivesLive ? refOf(alightRun) : leavesLive ? ref : null)?.snapshot.headerAt ?? null;
  return {
    ...(ref ? signsOfRun(live, ref, board) : signsOfTrip(live, tripOf(lines, boarded).trip, board)),
    departsAt: base + shownTime(callAt(lines, boarded, board).departsAt, leavesLive) * 1000,
    arrivesAt: base + shownTime(callAt(lines, alightRun, alight).arrivesAt, arrivesLive) * 1000,
    asOf,
  };
}

/** What riders see on the vehicle at a call. Building the whole run instead would take most of the time of a long list. */
function signsOfRun(live: LiveTimetable, { snapshot, run }: LiveRunRef, position: number) {
  const { mode, route } = live.routeOf(snapshot, run);
  return { mode, route, headsign: live.headsignAt(snapshot, run, snapshot.callsOf(run)[0] + position) };
}

function signsOfTrip({ timetable }: LiveTimetable, trip: number, position: number) {
  const { mode, route } = timetable.routeOf(timetable.patternOf(trip));
  return { mode, route, headsign: timetable.headsignAt({ trip, position }) };
}

import type { LiveTimetable } from '../realtime/live-timetable.ts';
import type { Timetable } from '../timetable/timetable.ts';
import type { Mode } from '../transit/mode.ts';
import type { LinesWithRefs, LiveRunRef } from './live-lines.ts';
import { type Labels, NEVER } from './raptor/labels.ts';
import { callAt, type Footpaths, type Lines } from './raptor/lines.ts';
import type { Walk } from './raptor/query.ts';

/** Times are seconds since the base of the lines. */
export interface Reached {
  stop: number;
  arrivesAt: number;
  /** The number of rides; 0 on foot. */
  rides: number;
  /** The stop where the last ride ends; -1 on foot. */
  alightedAt: number;
}

/** The last ride to a stop. */
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
  {
    at,
    latest,
    rides,
    walks,
    isLive,
  }: {
    at: number;
    latest: number;
    rides: number;
    walks: readonly Walk[];
    isLive(run: number, position: number): boolean;
  },
): Reached[] {
  const { stopCount } = lines;
  const row = rides * stopCount;
  const arrivesAt = new Int32Array(stopCount).fill(NEVER);
  const alightedAt = new Int32Array(stopCount).fill(-1);
  const note = (stop: number, moment: number, from: number) => {
    if (moment >= (arrivesAt[stop] as number) || moment > latest) return;
    arrivesAt[stop] = moment;
    alightedAt[stop] = from;
  };
  const roundOf = (stop: number) => {
    let round = rides;
    while (labels.arrived[(round - 1) * stopCount + stop] === labels.arrived[row + stop]) round--;
    return round;
  };
  for (const { stop, seconds } of walks) note(stop, at + seconds, -1);
  for (let stop = 0; stop < stopCount; stop++) {
    const moment = labels.arrived[row + stop] as number;
    if (moment === NEVER) continue;
    const label = roundOf(stop) * stopCount + stop;
    const arrival = shownTime(moment, isLive(labels.alightRun[label] as number, labels.alightAt[label] as number));
    note(stop, arrival, stop);
    for (let walk = footpaths.first[stop] as number; walk < (footpaths.first[stop + 1] as number); walk++) {
      note(footpaths.targets[walk] as number, arrival + (footpaths.seconds[walk] as number), stop);
    }
  }
  const reached: Reached[] = [];
  for (let stop = 0; stop < stopCount; stop++) {
    if (arrivesAt[stop] === NEVER) continue;
    const from = alightedAt[stop] as number;
    reached.push({ stop, arrivesAt: arrivesAt[stop] as number, rides: from < 0 ? 0 : roundOf(from), alightedAt: from });
  }
  return reached;
}

/** The first arrival at each station, earliest first. A stop without a station counts as one. */
export function byStation(reached: readonly Reached[], timetable: Pick<Timetable, 'stationOf'>): Reached[] {
  const first = new Map<number, Reached>();
  for (const arrival of reached) {
    const station = timetable.stationOf(arrival.stop);
    const earlier = first.get(station);
    if (
      !earlier ||
      arrival.arrivesAt < earlier.arrivesAt ||
      (arrival.arrivesAt === earlier.arrivesAt && arrival.rides < earlier.rides)
    ) {
      first.set(station, arrival);
    }
  }
  const stations = Array.from(first, ([stop, { arrivesAt, rides, alightedAt }]) => ({
    stop,
    arrivesAt,
    rides,
    alightedAt,
  }));
  return stations.sort((a, b) => a.arrivesAt - b.arrivesAt || a.stop - b.stop);
}

/** Null on foot. `base` is the beginning of the lines in milliseconds. */
export function toLastRide(
  { rides, alightedAt }: Reached,
  { live, lines, refOf, isLive, labels, base }: { live: LiveTimetable; labels: Labels; base: number } & LinesWithRefs,
): LastRide | null {
  if (rides === 0) return null;
  const label = rides * lines.stopCount + alightedAt;
  const [boarded, board] = [labels.boardRun[label] as number, labels.boardAt[label] as number];
  const [alightRun, alight] = [labels.alightRun[label] as number, labels.alightAt[label] as number];
  const ref = refOf(boarded);
  const [leavesLive, arrivesLive] = [isLive(boarded, board), isLive(alightRun, alight)];
  const asOf = (arrivesLive ? refOf(alightRun) : leavesLive ? ref : null)?.snapshot.headerAt ?? null;
  return {
    ...(ref ? signsOfRun(live, ref, board) : signsOfTrip(live, lines.trips[boarded] as number, board)),
    departsAt: base + shownTime(callAt(lines, boarded, board).departsAt, leavesLive) * 1000,
    arrivesAt: base + shownTime(callAt(lines, alightRun, alight).arrivesAt, arrivesLive) * 1000,
    asOf,
  };
}

/** What riders see on the vehicle at a call. The whole run is not built, which would take most of the time of a long list. */
function signsOfRun(live: LiveTimetable, { snapshot, run }: LiveRunRef, position: number) {
  const { mode, route } = live.routeOf(snapshot, run);
  return { mode, route, headsign: live.headsignAt(snapshot, run, snapshot.callsOf(run)[0] + position) };
}

function signsOfTrip({ timetable }: LiveTimetable, trip: number, position: number) {
  const { mode, route } = timetable.routeOf(timetable.patternOf(trip));
  return { mode, route, headsign: timetable.headsignAt({ trip, position }) };
}

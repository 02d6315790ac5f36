/**
 * How the tables of this folder are written: one row for a stop, a place to stand, a call or a street,
 * expanded here into the words of `network.ts`.
 *
 * What is fact and what is made up, everywhere in this folder:
 *
 * - Names, suburbs, coordinates and global identifiers of stops and platforms are facts, as are the numbers, names,
 *   descriptions and operators of nearly all lines.
 * - Where no true identifier was to be had, the identifier lies in a range that is plainly the sandbox's own:
 *   stops `9900xxxx` and `G9900xxxx`, points `9901xxxx` to `9999xxxx`, internal numbers `98xxxxxx`. Such stops stand
 *   at their real places, to some hundred metres; such points stand beside their stop.
 * - Timetables are made up throughout, only their habits are real: which platform, how often, how long a ride takes.
 */
import type { SandboxPattern, SandboxPoint, SandboxService, SandboxStop } from '../network.ts';

/** A place to stand. */
export function at(id: string, code: string, platformName: string, lat: number, lng: number): SandboxPoint {
  return { id, code, platformName, lat, lng };
}

/** Platforms whose true identifiers are unknown: numbered on from `firstId`, a few metres apart. */
export function platforms(
  firstId: number,
  prefix: string,
  numbers: readonly number[],
  lat: number,
  lng: number,
): SandboxPoint[] {
  return numbers.map((number, index) =>
    at(
      `${firstId + index}`,
      `${prefix}${number}`,
      `Platform ${number}`,
      shift(lat, index, 6e-5),
      shift(lng, index, 5e-5),
    ),
  );
}

/** The two tracks of a light rail stop, LR1 away from the city and LR2 towards it, named like the stop. */
export function lightRailPlatforms(
  firstId: number,
  name: string,
  lat: number,
  lng: number,
  prefix = 'LR',
): SandboxPoint[] {
  return [1, 2].map((number, index) =>
    at(`${firstId + index}`, `${prefix}${number}`, name, shift(lat, index, 4e-5), shift(lng, index, 6e-5)),
  );
}

/**
 * A station, interchange or wharf.
 * @param stopId the authority's internal number, null where unknown: one of the sandbox's own is made of the identifier
 */
export function stop(
  id: string,
  stopId: string | null,
  name: string,
  locality: string,
  lat: number,
  lng: number,
  points: readonly SandboxPoint[],
  wheelchairAccess = true,
): SandboxStop {
  return { id, stopId: stopId ?? ownStopId(id), name, locality, lat, lng, wheelchairAccess, points };
}

/** A pole of a street stop: identifier, latitude, longitude, and its name and code where they are not the usual ones. */
export type Pole = readonly [id: string, lat: number, lng: number, name?: string, code?: string];

/** A street stop group. It stands where its first pole stands; poles are coded X1, X2, … and named like the group. */
export function street(
  id: string,
  stopId: string | null,
  name: string,
  locality: string,
  poles: readonly Pole[],
  wheelchairAccess = true,
): SandboxStop {
  const first = poles[0];
  if (!first) throw new Error(`street stop ${id} has no pole`);
  const points = poles.map(([poleId, lat, lng, poleName, code], index) =>
    at(poleId, code ?? `X${index + 1}`, poleName ?? name, lat, lng),
  );
  return stop(id, stopId, name, locality, first[1], first[2], points, wheelchairAccess);
}

/** One way, every call with its minutes since the first. */
export function oneWay(
  headsign: string,
  services: readonly SandboxService[],
  calls: readonly (readonly [point: string, minutes: number])[],
): SandboxPattern {
  return { headsign, services, calls: calls.map(([point, minutes]) => ({ point, minutes })) };
}

/** A call of both directions: where the vehicle stands on the way out, where on the way back, and minutes on the way out. */
export type Call = readonly [out: string, back: string, minutes: number];

/** Out and back over the same stops, the way back taking as long as the way out. */
export function bothWays(
  headsigns: readonly [out: string, back: string],
  services: readonly [out: readonly SandboxService[], back: readonly SandboxService[]],
  calls: readonly Call[],
): SandboxPattern[] {
  const whole = calls.at(-1)?.[2] ?? 0;
  const there = calls.map(([out, , minutes]) => [out, minutes] as const);
  const back = calls.map(([, point, minutes]) => [point, round(whole - minutes)] as const).reverse();
  return [oneWay(headsigns[0], services[0], there), oneWay(headsigns[1], services[1], back)];
}

/** Minutes between two departures, by time of day. */
export interface Gaps {
  /** Weekdays 06:30 to 09:30 and 15:30 to 18:30. */
  peak: number;
  /** Weekdays between the peaks. */
  day: number;
  /** Weekdays before the first peak and after the second. */
  late: number;
  weekend: number;
}

/** A service from the first departure to the last, on weekdays and weekends alike, in waves. */
export function waves(from: string, until: string, gaps: Gaps): SandboxService[] {
  const bands = [
    ['06:30', gaps.late],
    ['09:30', gaps.peak],
    ['15:30', gaps.day],
    ['18:30', gaps.peak],
    [until, gaps.late],
  ] as const;
  const services: SandboxService[] = [];
  let next = toMinutes(from);
  for (const [end, gap] of bands) {
    // The last band runs through its end, the others stop before it.
    const limit = toMinutes(end) - (end === until ? 0 : 1);
    if (next > limit) continue;
    const last = next + Math.floor((limit - next) / gap) * gap;
    services.push({ days: 'weekdays', from: toClock(next), until: toClock(last), everyMinutes: gap });
    next = last + gap;
  }
  services.push({ days: 'weekends', from, until, everyMinutes: gaps.weekend });
  return services;
}

/** A service with one gap all the time. */
export function every(
  everyMinutes: number,
  from: string,
  until: string,
  days: SandboxService['days'] = 'daily',
): SandboxService {
  return { days, from, until, everyMinutes };
}

/** A single departure. */
export function once(time: string, days: SandboxService['days'] = 'daily'): SandboxService {
  return { days, from: time, until: time, everyMinutes: 60 };
}

function ownStopId(id: string): string {
  return `98${id.replace(/\D/g, '').slice(-6).padStart(6, '0')}`;
}

function shift(degrees: number, steps: number, by: number): number {
  return Number((degrees + steps * by).toFixed(6));
}

function round(minutes: number): number {
  return Number(minutes.toFixed(2));
}

function toMinutes(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
}

function toClock(minutes: number): string {
  const hours = Math.floor(minutes / 60);
  return `${hours}`.padStart(2, '0') + `:${minutes % 60}`.replace(/:(\d)$/, ':0$1');
}

import { int32At } from '../core/columns.ts';
import type { Sections } from '../timetable/packed-timetable.ts';
import type { Choices } from '../transit/choices.ts';
import { distanceMetres, type Position } from '../transit/position.ts';
import { PACES, walkSeconds } from '../transit/walking.ts';
import type { Footpaths } from './raptor/lines.ts';

/**
 * Returns a function that adapts the walks to a rider's choices. It caches the last result, because adapting all walks of New South
 * Wales takes some milliseconds.
 */
export function createChosenFootpaths({ stopLat, stopLng }: Sections, usual: Footpaths) {
  const usualPace: number = PACES.normal;
  let chosen = { pace: usualPace, longest: Number.POSITIVE_INFINITY, footpaths: usual };

  return ({ pace: name = 'normal', maxWalk: longest = Number.POSITIVE_INFINITY }: Choices = {}): Footpaths => {
    const pace = PACES[name];
    if (pace === usualPace && longest === Number.POSITIVE_INFINITY) return usual;
    if (pace !== chosen.pace || longest !== chosen.longest) chosen = { pace, longest, footpaths: adapt(pace, longest) };
    return chosen.footpaths;
  };

  function adapt(pace: number, longest: number): Footpaths {
    const first = new Int32Array(usual.first.length);
    const targets = new Int32Array(usual.targets.length);
    const seconds = new Int32Array(usual.targets.length);
    const longestSeconds = walkSeconds(longest);
    let count = 0;
    for (let stop = 0; stop + 1 < first.length; stop++) {
      for (let at = int32At(usual.first, stop); at < int32At(usual.first, stop + 1); at++) {
        const target = int32At(usual.targets, at);
        const usualSeconds = int32At(usual.seconds, at);
        // Seconds are rounded, so a walk of exactly `longestSeconds` may still be too long.
        if (usualSeconds > longestSeconds) continue;
        if (usualSeconds === longestSeconds && metresBetween(stop, target) > longest) continue;
        targets[count] = target;
        seconds[count++] = Math.round((usualSeconds * usualPace) / pace);
      }
      first[stop + 1] = count;
    }
    const used = { targets: targets.subarray(0, count), seconds: seconds.subarray(0, count) };
    return { first, ...used, isFast: pace > usualPace };
  }

  function metresBetween(stop: number, other: number): number {
    const at = (index: number): Position => [stopLat.valueAt(index), stopLng.valueAt(index)];
    return distanceMetres(at(stop), at(other));
  }
}

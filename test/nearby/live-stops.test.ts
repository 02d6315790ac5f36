import { describe, expect, it } from 'vitest';
import { findLiveStops } from '#src/nearby/live-stops.ts';
import type { NearbyStop } from '#src/nearby/map.ts';
import type { Verdict } from '#src/nearby/verdict.ts';
import { MODES, type Mode } from '#src/transit/mode.ts';

const stop = (id: number, ...modes: Mode[]): NearbyStop => ({
  stop_id: String(id),
  name: `Stop ${id}`,
  distance_metres: id,
  lat: null,
  lng: null,
  modes,
  routes: [],
});
const stops = (count: number, ...modes: Mode[]) =>
  Array.from({ length: count }, (_, index) => stop(index + 1, ...modes));
const ids = ({ stops }: { stops: NearbyStop[] }) => stops.map(({ stop_id }) => stop_id);

const knownUntil = 0;
const alive = (...modes: Mode[]): Verdict => ({ isAlive: true, modes, knownUntil });
const dead: Verdict = { isAlive: false, modes: [], knownUntil };
const buses = { modes: ['bus'] as Mode[], limit: 10 };

/** Settles checks from a table; stops that are not in it are alive with buses. Records the checks. */
function stopCheckOf(
  table: Record<string, Verdict | null>,
  known: Record<string, Verdict> = {},
  mostChecks = Number.POSITIVE_INFINITY,
) {
  const checked: string[] = [];
  let running = 0;
  const stopCheck: Parameters<typeof findLiveStops>[2] & { checked: string[]; mostAtOnce: number } = {
    checked,
    mostAtOnce: 0,
    find: (stopId) => known[stopId] ?? null,
    mayCheck: () => checked.length < mostChecks,
    async check(stopId) {
      if (known[stopId]) return known[stopId];
      checked.push(stopId);
      stopCheck.mostAtOnce = Math.max(stopCheck.mostAtOnce, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      const verdict = table[stopId];
      return verdict === undefined ? alive('bus') : verdict;
    },
  };
  return stopCheck;
}

describe('live stops', () => {
  it('are the candidates without the dead ones, nearest first', async () => {
    const stopCheck = stopCheckOf({ '2': dead, '4': dead });
    expect(ids(await findLiveStops(stops(5, 'bus'), buses, stopCheck))).toEqual(['1', '3', '5']);
  });

  it('fill the limit from further away when near ones are dead', async () => {
    const stopCheck = stopCheckOf({ '1': dead, '2': dead });
    expect(ids(await findLiveStops(stops(9, 'bus'), { ...buses, limit: 3 }, stopCheck))).toEqual(['3', '4', '5']);
  });

  it('cost no more checks than the limit needs', async () => {
    const stopCheck = stopCheckOf({ '2': dead });
    await findLiveStops(stops(50, 'bus'), { ...buses, limit: 3 }, stopCheck);
    expect(stopCheck.checked).toEqual(['1', '2', '3', '4']);
  });

  it('cost no check where the verdict is known', async () => {
    const stopCheck = stopCheckOf({}, { '1': alive('bus'), '2': dead });
    expect(ids(await findLiveStops(stops(3, 'bus'), buses, stopCheck))).toEqual(['1', '3']);
    expect(stopCheck.checked).toEqual(['3']);
  });

  it('are checked four at once and no more', async () => {
    const stopCheck = stopCheckOf({});
    expect(ids(await findLiveStops(stops(40, 'bus'), { ...buses, limit: 30 }, stopCheck))).toHaveLength(30);
    expect(stopCheck.mostAtOnce).toBe(4);
  });

  it('of other modes only are left out without a check', async () => {
    const stopCheck = stopCheckOf({});
    expect(ids(await findLiveStops([stop(1, 'train'), stop(2, 'train', 'bus')], buses, stopCheck))).toEqual(['2']);
    expect(stopCheck.checked).toEqual(['2']);
  });

  it('have their modes completed by what was seen leaving, in the order of the specification', async () => {
    const stopCheck = stopCheckOf({ '1': alive('schoolbus', 'train') }, { '2': alive('ferry', 'bus') });
    const found = await findLiveStops([stop(1, 'bus'), stop(2, 'bus')], buses, stopCheck);
    expect(found.stops.map(({ modes }) => modes)).toEqual([
      ['train', 'bus', 'schoolbus'],
      ['bus', 'ferry'],
    ]);
  });

  it('a stop listed with other modes stays when the wanted one was seen leaving there', async () => {
    const stopCheck = stopCheckOf({}, { '1': alive('bus') });
    expect(ids(await findLiveStops([stop(1, 'train')], buses, stopCheck))).toEqual(['1']);
  });

  it('a stop without listed modes is checked, and left out when only other modes leave there', async () => {
    const stopCheck = stopCheckOf({ '1': alive('ferry'), '2': alive('bus') });
    expect(ids(await findLiveStops([stop(1), stop(2)], buses, stopCheck))).toEqual(['2']);
  });

  it('a failed check keeps the stop and ends the checking; what is known still counts', async () => {
    const stopCheck = stopCheckOf({ '2': null, '3': dead }, { '6': dead, '7': alive('bus') });
    const found = await findLiveStops(stops(8, 'bus'), buses, stopCheck);
    expect(ids(found)).toEqual(['1', '2', '4', '5', '7', '8']);
    expect(stopCheck.checked).toEqual(['1', '2', '3', '4']);
    expect(found.unchecked).toEqual(['2', '5', '8']);
  });

  it('are kept unchecked when no check is left; what is known still counts', async () => {
    const stopCheck = stopCheckOf({ '2': dead }, { '6': dead, '7': alive('bus') }, 3);
    const found = await findLiveStops(stops(8, 'bus'), buses, stopCheck);
    expect(ids(found)).toEqual(['1', '3', '4', '5', '7', '8']);
    expect(found.unchecked).toEqual(['4', '5', '8']);
  });

  it('without candidates there are none, and no check', async () => {
    const stopCheck = stopCheckOf({});
    expect(ids(await findLiveStops([], { modes: MODES, limit: 10 }, stopCheck))).toEqual([]);
    expect(stopCheck.checked).toEqual([]);
  });
});

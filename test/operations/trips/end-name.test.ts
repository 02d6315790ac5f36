import { describe, expect, it } from 'vitest';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { nameEnd } from '#src/journeys/planner/ends.ts';
import { StopRegister } from '#src/stops/register.ts';
import { type StopRecord, tableOf } from '#src/stops/table.ts';
import type { Journey } from '#src/transit/journey.ts';

const STATION = '200070';

/** A one-leg journey that begins at the given point of the station. */
function journeyBy(mode: string, parentName: string, stopId = '2000252'): Journey {
  const origin = { stopId, name: 'Park St', parent: { ids: [STATION], name: parentName } };
  return { legs: [{ mode, origin }] } as unknown as Journey;
}

const bus = journeyBy('bus', 'Town Hall');
const train = journeyBy('train', 'Town Hall Station');
const lightRail = journeyBy('lightrail', 'Town Hall Light Rail');

/** A stand-in for upstream that records the requests made to it. */
function createUpstream(outcome: object | ApiError) {
  const sent: object[] = [];
  const queryUpstream = (async (request: object) => {
    sent.push(request);
    if (outcome instanceof ApiError) throw outcome;
    return { payload: outcome, retrievedAt: 0 };
  }) as unknown as QueryUpstream;
  return { queryUpstream, sent, stops: { get: () => null } };
}

const place = { type: 'stop', id: STATION, disassembledName: 'Town Hall Station' };
const finds = (...locations: object[]) => createUpstream({ systemMessages: [], locations });

describe('the name of the origin or destination', () => {
  it('an end of a journey has its name in the register, whatever name journeys and other responses give it', async () => {
    const stop = { stop_id: STATION, name: 'Town Hall Station', suburb: '', lat: -33.8736, lng: 151.2069 };
    const listed: StopRecord = { ...stop, modes: ['train'], parent_id: null, is_platform: false };
    const stand: StopRecord = { ...listed, stop_id: '200043', name: 'QVB, York St, Stand C' };
    const stops = new StopRegister(() => tableOf([listed, stand], { dataDate: '2026-11-24', source: 'test' }));
    const { queryUpstream, sent } = finds();
    const named = journeyBy('ferry', 'Town Hall');
    expect(await nameEnd({ queryUpstream, stops }, [named, bus], STATION, 'origin')).toBe('Town Hall Station');
    expect(await nameEnd({ queryUpstream, stops }, [named], '200043', 'origin')).toBe('QVB, York St');
    expect(sent).toEqual([]);
  });

  it('an end of a journey outside the register has the name that trains use, even if most journeys are by bus', async () => {
    const { sent, ...sources } = finds();
    expect(await nameEnd(sources, [bus, bus, lightRail, train], STATION, 'origin')).toBe('Town Hall Station');
    expect(sent).toEqual([]);
  });

  it('the name of a station is requested when all journeys there are by bus or light rail', async () => {
    const { sent, ...sources } = finds({ ...place, id: '1', disassembledName: 'Elsewhere' }, place);
    expect(await nameEnd(sources, [bus, lightRail], STATION, 'origin')).toBe('Town Hall Station');
    expect(sent).toEqual([{ kind: 'stopFinder', text: STATION }]);
  });

  it('an end of a journey has the name of the stand when upstream fails or finds another stop', async () => {
    const outcomes = [createUpstream(new ApiError('UPSTREAM_ERROR', 'no')), finds(), finds({ ...place, id: '200071' })];
    for (const sources of outcomes)
      expect(await nameEnd(sources, [bus, lightRail], STATION, 'origin')).toBe('Town Hall');
  });

  it('no name is requested when journeys begin at that exact point or at a street stop', async () => {
    const { sent, ...sources } = finds(place);
    expect(await nameEnd(sources, [journeyBy('bus', 'Town Hall', STATION)], STATION, 'origin')).toBe('Park St');
    const street = {
      stopId: '201023',
      name: 'Crown St',
      parent: { ids: ['G201023'], name: 'Crown St before Foveaux St' },
    };
    const journey = { legs: [{ mode: 'bus', origin: street }] } as unknown as Journey;
    expect(await nameEnd(sources, [journey], 'G201023', 'origin')).toBe('Crown St before Foveaux St');
    expect(sent).toEqual([]);
  });
});

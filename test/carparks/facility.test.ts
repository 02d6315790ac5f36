import { describe, expect, it } from 'vitest';
import { parseFacilityList, parseReport } from '#src/carparks/facility.ts';
import { facilityJson } from '#test/support/car-parks.ts';

const AT = Date.UTC(2026, 1, 8, 7, 39, 35);
const takenOf = (overrides: Parameters<typeof facilityJson>[0]) =>
  parseReport('486', facilityJson(overrides))?.reading?.taken;

describe('the list of car parks', () => {
  it('the list of car parks is read as names by ID, and as rows', () => {
    const expected = new Map([['486', 'Ashfield']]);
    expect(parseFacilityList({ 486: 'Park&Ride - Ashfield' })).toEqual(expected);
    expect(parseFacilityList([{ facility_id: '486', facility_name: 'Park&Ride - Ashfield' }])).toEqual(expected);
    expect(parseFacilityList([{ facility_id: 486, facility_name: 'Park&amp;Ride - Ashfield' }])?.has('486')).toBe(true);
  });

  it('car parks that only have a history are left out of the list', () => {
    const names = { 1: 'Tallawong Station Car Park(historical only)', 26: 'Park&Ride - Tallawong P1' };
    expect(parseFacilityList(names)).toEqual(new Map([['26', 'Tallawong P1']]));
  });

  it.each([[null], [[]], [{}], ['text'], [{ ErrorDetails: { Message: 'no' } }], [{ 'x y': 'Ashfield' }]])(
    'something else than a list of car parks is none: %j',
    (json) => expect(parseFacilityList(json)).toBeNull(),
  );
});

describe('the record of a car park', () => {
  it('the record of a car park is read with numbers in texts', () => {
    expect(parseReport('486', facilityJson({ at: AT }))).toEqual({
      facility: {
        name: 'Ashfield',
        suburb: 'Ashfield',
        address: 'Brown Street',
        lat: -33.888104,
        lng: 151.126577,
        stopId: '213110',
        capacity: 216,
      },
      reading: { at: AT, taken: 36 },
    });
  });

  it('the time of a reading is Sydney local time', () => {
    expect(new Date(parseReport('486', { ...facilityJson({ at: AT }), time: null })?.reading?.at ?? 0)).toEqual(
      new Date(AT),
    );
  });

  it('the seconds since 2000 say which pass of the hour is meant when clocks go back', () => {
    const twice = { ...facilityJson({}), MessageDate: '2026-04-05T02:30:00' };
    for (const moment of [Date.UTC(2026, 3, 4, 15, 30), Date.UTC(2026, 3, 4, 16, 30)]) {
      const time = String((moment - Date.UTC(2000, 0, 1)) / 1000);
      expect(parseReport('486', { ...twice, time })?.reading?.at).toBe(moment);
    }
  });

  it('taken spaces are those of the whole car park, or else the sum of its zones', () => {
    const zone = (zone_id: string, total: string | null, loop: string | null, parent_zone_id = '0') => ({
      zone_id,
      parent_zone_id,
      occupancy: { total, loop },
    });
    expect(takenOf({ total: '36', zones: [zone('1', '99', null)] })).toBe(36);
    expect(takenOf({ total: null, loop: '7' })).toBe(7);
    expect(takenOf({ total: null, zones: [zone('1', null, '30'), zone('2', '5', '9')] })).toBe(35);
    expect(takenOf({ total: null, zones: [zone('1', '30', null), zone('2', '5', null, '1')] })).toBe(30);
    expect(takenOf({ total: null, zones: [zone('1', '30', null), zone('2', null, null)] })).toBeUndefined();
    expect(takenOf({ total: null })).toBeUndefined();
  });

  it('what is missing or broken in a record is null, and the rest stays', () => {
    const broken = { ...facilityJson({ spots: '-1', tsn: null, lat: 'x' }), MessageDate: 'soon' };
    expect(parseReport('486', broken)).toMatchObject({
      facility: { name: 'Ashfield', lat: null, lng: null, stopId: null, capacity: null },
      reading: null,
    });
  });

  it.each([[null], [[]], [{ ErrorDetails: {} }], [facilityJson({ id: '6' })]])(
    'a record that is not about a car park is left out: %j',
    (json) => expect(parseReport('486', json)).toBeNull(),
  );
});

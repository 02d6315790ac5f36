import { describe, expect, it } from 'vitest';
import { formatPlace, placeParameter } from '#src/transit/place.ts';

describe('a place', () => {
  it.each([
    ['200060', '200060', '200060'],
    [' g201023 ', 'G201023', 'G201023'],
    ['v22180', 'V22180', 'V22180'],
    ['20295p1', '20295P1', '20295P1'],
    ['-33.8731,151.2069', [-33.8731, 151.2069], '-33.8731,151.2069'],
    [' -33.87310 , 151. ', [-33.8731, 151], '-33.8731,151'],
    ['-0.00000001,.00000049', [0, 0], '0,0'],
    ['0.000001,-90', [0.000001, -90], '0.000001,-90'],
    ['90,-180', [90, -180], '90,-180'],
  ])('the place %j is read as %j', (text, place, formatted) => {
    const read = placeParameter.parse(text);
    expect(read).toEqual(place);
    expect(formatPlace(read)).toBe(formatted);
    expect(placeParameter.parse(formatted)).toEqual(place);
  });

  it.each(['', 'Central', ',', '1,', ',1', '1,2,3', '90.1,0', '0,-180.1', '1e1,2', '+1,2', 'NaN,NaN', '1;2', 'G1,G2'])(
    'the place %j is refused',
    (text) => {
      expect(placeParameter.safeParse(text).success).toBe(false);
    },
  );

  it('a place with latitude and longitude swapped is refused with a hint', () => {
    expect(placeParameter.safeParse('151.2,-33.9').error?.message).toContain('seem to be swapped');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodePolyline } from '#src/operations/trips/response.ts';
import type { Position } from '#src/transit/place.ts';

/** A decoder written from the format's description, for comparison. */
function decode(text: string): Position[] {
  const numbers: number[] = [];
  let shift = 0;
  let value = 0;
  for (const character of text) {
    const chunk = character.charCodeAt(0) - 63;
    value += (chunk & 0x1f) * 2 ** shift;
    shift += 5;
    if (chunk >= 0x20) continue;
    numbers.push(value % 2 === 1 ? -(value + 1) / 2 : value / 2);
    [shift, value] = [0, 0];
  }
  const path: Position[] = [];
  for (let lat = 0, lng = 0, index = 0; index < numbers.length; index += 2) {
    lat += numbers[index] ?? 0;
    lng += numbers[index + 1] ?? 0;
    path.push([lat / 1e5, lng / 1e5]);
  }
  return path;
}

describe('an encoded polyline', () => {
  it('an encoded polyline matches the example in the description of the format', () => {
    const path: Position[] = [
      [38.5, -120.2],
      [40.7, -120.95],
      [43.252, -126.453],
    ];
    expect(encodePolyline(path)).toBe('_p~iF~ps|U_ulLnnqC_mqNvxq`@');
  });

  it('an encoded polyline has every point to five decimals, without accumulating errors', () => {
    const position = fc.tuple(
      fc.double({ min: -90, max: 90, noNaN: true }),
      fc.double({ min: -180, max: 180, noNaN: true }),
    );
    fc.assert(
      fc.property(fc.array(position, { maxLength: 60 }), (path) => {
        const decoded = decode(encodePolyline(path));
        expect(decoded).toHaveLength(path.length);
        for (const [index, [lat, lng]] of path.entries()) {
          expect(Math.abs((decoded[index]?.[0] ?? Number.NaN) - lat)).toBeLessThanOrEqual(0.500001e-5);
          expect(Math.abs((decoded[index]?.[1] ?? Number.NaN) - lng)).toBeLessThanOrEqual(0.500001e-5);
        }
      }),
      { seed: 5 },
    );
  });
});

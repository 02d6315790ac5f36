import { describe, expect, it } from 'vitest';
import { distanceMetres, pathLengthMetres, stopIdParameter } from '#src/transit/place.ts';

describe('the stop ID', () => {
  it.each([
    ['200060', '200060'],
    ['g201023', 'G201023'],
    [' G201023 ', 'G201023'],
    ['V22180', 'V22180'],
    ['22180p1', '22180P1'],
    ['0', '0'],
    ['123456789012', '123456789012'],
  ])('the stop ID %j is read as %j', (text, id) => {
    expect(stopIdParameter.parse(text)).toBe(id);
  });

  it.each([
    '1234567890123',
    'GG1',
    'G',
    'P1',
    '22180P',
    '22180Q1',
    'coord:1:2',
    '200060,200070',
    'Central',
    '-1',
    '1.5',
    ' ',
  ])('the stop ID %j is refused', (text) => {
    expect(stopIdParameter.safeParse(text).success).toBe(false);
  });
});

describe('distances', () => {
  it('a thousandth of a degree of latitude is 111.2 metres', () => {
    expect(distanceMetres([-33.884, 151.2], [-33.883, 151.2])).toBeCloseTo(111.2, 1);
  });

  it('a degree of longitude gets shorter towards the pole', () => {
    expect(distanceMetres([0, 151.2], [0, 151.201])).toBeCloseTo(111.2, 1);
    expect(distanceMetres([-60, 151.2], [-60, 151.201])).toBeCloseTo(55.6, 1);
  });

  it('the distance to the same point is zero, and to the antipode half the circumference', () => {
    expect(distanceMetres([-33.884, 151.2], [-33.884, 151.2])).toBe(0);
    expect(distanceMetres([0, 0], [0, 180]) / 1000).toBeCloseTo(20_015, 0);
  });

  it('the length of a path is the sum of its parts', () => {
    const path: [number, number][] = [
      [-33.884, 151.2],
      [-33.883, 151.2],
      [-33.884, 151.2],
    ];
    expect(pathLengthMetres(path)).toBeCloseTo(222.4, 1);
    expect(pathLengthMetres(path.slice(0, 1))).toBe(0);
    expect(pathLengthMetres([])).toBe(0);
  });
});

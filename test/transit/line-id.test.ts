import { describe, expect, it } from 'vitest';
import { isNamed } from '#src/transit/line-id.ts';

describe('a line', () => {
  const t4 = { mode: 'train', route: 'T4' } as const;
  const bus = { mode: 'bus', route: '333' } as const;

  it.each([
    ['T4', { ...t4, lineId: 'train_T4' }],
    ['TRAIN_T4', { ...t4, lineId: 'train_T4' }],
    ['TRAIN_T4', { ...t4, lineId: null }],
    ['333', { ...bus, lineId: '2507_333' }],
    ['2507_333', { ...bus, lineId: '2507_333' }],
    ['2507_333', { ...bus, lineId: null }],
  ])('is named by %s: %j', (name, line) => {
    expect(isNamed(['X', name], line)).toBe(true);
  });

  it.each([
    ['METRO_T4', { ...t4, lineId: 'train_T4' }],
    ['METRO_T4', { ...t4, lineId: null }],
    ['T', { ...t4, lineId: 'train_T4' }],
    ['2508_333', { ...bus, lineId: '2507_333' }],
    ['2507_33', { ...bus, lineId: null }],
  ])('is not named by %s: %j', (name, line) => {
    expect(isNamed([name], line)).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { findFeedSource, listFeedSources } from '#src/realtime/polling/feed-source.ts';

describe('the feed of a departure', () => {
  it.each([
    ['train', 1, 'T8', 'sydneytrains'],
    ['train', 2, 'CCN', 'sydneytrains'],
    ['train', 3, '621', 'nswtrains'],
    ['coach', 7, '165', 'nswtrains'],
    ['metro', 24, 'M1', 'metro'],
    ['lightrail', 13, 'L1', 'innerwest'],
    ['lightrail', 13, 'L3', 'cbdandsoutheast'],
    ['lightrail', 13, 'L4', 'parramatta'],
    ['lightrail', 21, 'NLR', 'newcastle'],
    ['bus', 5, '333', 'buses'],
    ['schoolbus', 8, '6300', 'buses'],
    ['ferry', 10, 'F1', 'sydneyferries'],
    ['ferry', 12, 'MFF', 'MFF'],
    ['ferry', 12, 'CCTZ', null],
    ['ferry', 11, 'Stockton', null],
    ['bus', 33, '700', null],
    ['coach', 22, '2301', null],
    ['lightrail', 13, 'LX', null],
    ['bus', 17, '151', null],
  ] as const)('the feed of %s network %i, route %s is %s', (mode, network, route, source) => {
    expect(findFeedSource({ mode, network, route })).toBe(source);
  });

  it('a departure of unknown network belongs to the first feed of its mode', () => {
    expect(findFeedSource({ mode: 'train', network: null, route: 'T1' })).toBe('sydneytrains');
    expect(findFeedSource({ mode: 'lightrail', network: null, route: 'L2' })).toBe('cbdandsoutheast');
    expect(findFeedSource({ mode: 'lightrail', network: null, route: 'LX' })).toBeNull();
  });

  it('the feed of a departure is always one listed for its mode', () => {
    expect(listFeedSources(['train'])).toEqual(['sydneytrains', 'nswtrains']);
    expect(listFeedSources(['bus', 'ferry'])).toEqual(['buses', 'sydneyferries', 'MFF']);
  });
});

import { describe, expect, it } from 'vitest';
import { chooseStatus } from '#src/operations/lines/status-operation.ts';

const NONE: never[] = [];
const TRACKWORK = [{ category: 'trackwork' as const }];
const counts = (runs: number, tracked: number, late: number, cancelled: number) => ({
  runs,
  live: { tracked, late, cancelled },
});

describe('the status of a line', () => {
  it.each([
    ['all tracked runs are on time', counts(10, 10, 0, 0), NONE, 'good_service'],
    ['19 % are late', counts(100, 100, 19, 0), NONE, 'good_service'],
    ['20 % are late', counts(10, 10, 2, 0), NONE, 'minor_delays'],
    ['10 % are cancelled', counts(10, 9, 0, 1), NONE, 'minor_delays'],
    ['half are late', counts(4, 4, 2, 0), NONE, 'severe_delays'],
    ['30 % are cancelled', counts(10, 7, 0, 3), NONE, 'severe_delays'],
    ['the only vehicle is late', counts(1, 1, 1, 0), NONE, 'minor_delays'],
    ['the only run is cancelled', counts(1, 0, 0, 1), NONE, 'minor_delays'],
    ['one of two is cancelled', counts(2, 1, 0, 1), NONE, 'minor_delays'],
    ['all runs are cancelled', counts(2, 0, 0, 2), NONE, 'suspended'],
    ['all runs are cancelled for trackwork', counts(2, 0, 0, 2), TRACKWORK, 'suspended'],
    ['there is trackwork, and half are late', counts(4, 4, 2, 0), TRACKWORK, 'part_closed'],
    ['there is trackwork, and no feed is read', { runs: 4, live: null }, TRACKWORK, 'part_closed'],
    ['there is an alert of another kind', counts(4, 4, 0, 0), [{ category: null }], 'good_service'],
    ['no feed is read', { runs: 4, live: null }, NONE, null],
    ['nothing is tracked', counts(4, 0, 0, 0), NONE, null],
    ['nothing runs', counts(0, 0, 0, 0), NONE, null],
  ])('is as documented when %s', (_, ofRuns, alerts, status) => {
    expect(chooseStatus(ofRuns, alerts)).toBe(status);
  });
});
